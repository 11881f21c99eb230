# SPDX-License-Identifier: Apache-2.0
"""Gives tests what they compare with: torch's functions for ours, and how near two tensors are."""

import math
from typing import Any, Dict

from . import _arrays as arrays, _convert
from ._arrays import np
from ._launch import OPERATIONS
from ._operations.core import from_torch, to_torch
from ._tensor import Tensor

_ATTACHED: Dict[str, Any] = {}
_TORCH_NAMES = {
    "subtract": "sub", "multiply": "mul", "divide": "div", "logical_left_shift": "bitwise_left_shift",
    "eqz": lambda t, x: t.eq(x, 0), "nez": lambda t, x: t.ne(x, 0), "gtz": lambda t, x: t.gt(x, 0),
    "ltz": lambda t, x: t.lt(x, 0), "gez": lambda t, x: t.ge(x, 0), "lez": lambda t, x: t.le(x, 0),
    "silu": lambda t, x: t.nn.functional.silu(x), "gelu": lambda t, x: t.nn.functional.gelu(x),
    "mish": lambda t, x: t.nn.functional.mish(x), "relu6": lambda t, x: t.nn.functional.relu6(x),
    "elu": lambda t, x, alpha=1.0: t.nn.functional.elu(x, alpha),
    "leaky_relu": lambda t, x, negative_slope=0.01: t.nn.functional.leaky_relu(x, negative_slope),
    "softsign": lambda t, x: t.nn.functional.softsign(x),
    "softplus": lambda t, x, beta=1.0, threshold=20.0: t.nn.functional.softplus(x, beta, threshold),
    "log_sigmoid": lambda t, x: t.nn.functional.logsigmoid(x),
    "hardsigmoid": lambda t, x: t.nn.functional.hardsigmoid(x),
    "hardswish": lambda t, x: t.nn.functional.hardswish(x),
    "hardtanh": lambda t, x, lo=-1.0, hi=1.0: t.nn.functional.hardtanh(x, lo, hi),
    "tanhshrink": lambda t, x: t.nn.functional.tanhshrink(x),
    "cbrt": lambda t, x: t.sgn(x) * t.pow(t.abs(x), 1 / 3),
    "rsub": lambda t, x, y: t.sub(y, x), "squared_difference": lambda t, x, y: (x - y) ** 2,
    "bias_gelu": lambda t, x, y: t.nn.functional.gelu(x + y),
    "squeeze": lambda t, x, dim=None: x.squeeze(dim) if dim is not None else x.squeeze(),
    "concat": lambda t, x, dim=0, **_: t.concat(x, dim=dim),
    "mean": lambda t, x, dim=None, keepdim=False: t.mean(x, dim, keepdim) if dim is not None
    else t.mean(x),
    "sum": lambda t, x, dim=None, keepdim=False: t.sum(x, dim, keepdim) if dim is not None
    else t.sum(x),
    "softmax": lambda t, x, dim=-1, **_: t.softmax(x, dim),
    "embedding": lambda t, i, w, **_: t.nn.functional.embedding(i, w),
    "repeat": lambda t, x, dims: x.repeat(*dims), "expand": lambda t, x, s: x.expand(*s),
    "where": lambda t, c, a, b: t.where(c != 0, a, b),
    "linear": lambda t, a, b, bias=None, **_: t.matmul(a, b) + (0 if bias is None else bias),
    "rad2deg": "rad2deg", "deg2rad": "deg2rad", "clip": "clamp", "prelu": "prelu",
}


def get_golden_function(operation):
    """Returns torch's function of the same meaning. Raises an error when there is none, or no
    torch."""
    name = getattr(operation, "name", None)
    attached = _ATTACHED.get(name)
    if attached is not None:
        return attached
    try:
        import torch  # A script may do without torch.
    except ImportError:
        raise RuntimeError("golden functions are torch's: install python3-torch") from None
    found = _TORCH_NAMES.get(name, getattr(operation, "golden_function", None) or name)
    if callable(found):
        return lambda *args, **kwargs: found(torch, *args, **_without_device(kwargs))
    found = _TORCH_NAMES.get(found, found)
    if callable(found):
        return lambda *args, **kwargs: found(torch, *args, **_without_device(kwargs))
    function = getattr(torch, str(found), None)
    if function is None:
        raise RuntimeError(f"{operation} does not have a golden function")
    return lambda *args, **kwargs: function(*args, **_without_device(kwargs))


def _without_device(kwargs):
    return {k: v for k, v in kwargs.items() if k not in ("device", "memory_config", "dtype")}


def get_fallback_function(operation):
    """Returns the golden function, on tensors that are brought to the host and back."""
    golden = get_golden_function(operation)

    def call(*args, **kwargs):
        like = next((a for a in args if isinstance(a, Tensor)), None)
        plain = [to_torch(a) if isinstance(a, Tensor) else a for a in args]
        made = golden(*plain, **kwargs)
        if like is None:
            return made
        return from_torch(made, like._dtype, layout=like._layout, device=like._device)

    return call


def attach_golden_function(operation, golden_function=None, **_):
    _ATTACHED[operation.name] = golden_function


def query_registered_operations(include_experimental=False):
    return [one for name, one in OPERATIONS.items()
            if include_experimental or not name.startswith("experimental.")]


def dump_operations(csv_file, include_experimental=False):
    with open(csv_file, "w") as file:
        file.write("python_fully_qualified_name\n")
        for one in query_registered_operations(include_experimental):
            file.write(one.python_fully_qualified_name + "\n")


def pearson_correlation_coefficient(expected, actual):
    """Returns how the numbers of two tensors go together; 1 for equal ones."""
    a, b = _numbers(expected), _numbers(actual)
    if a.size != b.size:
        raise ValueError(f"{a.size} numbers are compared with {b.size}")
    if (np.isnan(a) != np.isnan(b)).any():
        return 0.0
    kept = np.isfinite(a) & np.isfinite(b)
    a, b = a[kept], b[kept]
    if (a == b).all():
        return 1.0
    a, b = a - a.mean(), b - b.mean()
    left, right = float((a * a).sum()), float((b * b).sum())
    if left == 0 or right == 0:
        return 1.0 if left == right else 0.0
    return float((a * b).sum()) / math.sqrt(left * right)


def _numbers(value):
    if isinstance(value, Tensor):
        value.blocking_read()
        array = value.array()
    else:
        array, _ = _convert.array_of(value)
    return array.astype(np.float64).ravel()


def comp_pcc(golden, calculated, pcc=0.99):
    """Says whether two tensors go together as closely as `pcc`, and how closely they do."""
    found = pearson_correlation_coefficient(golden, calculated)
    return found >= pcc, found


def assert_with_pcc(expected, actual, pcc=0.9999):
    """Raises AssertionError unless two tensors have one shape and go together."""
    if list(expected.shape) != list(actual.shape):
        raise AssertionError(f"shapes differ: {list(expected.shape)} and {list(actual.shape)}")
    passed, found = comp_pcc(expected, actual, pcc)
    assert passed, f"PCC {found} is below {pcc}"
    return passed, f"PCC {found}"


def comp_allclose(golden, calculated, rtol=1e-05, atol=1e-08):
    a, b = _numbers(golden), _numbers(calculated)
    with arrays.quiet():
        gap = np.abs(a - b)
        passed = bool((gap <= atol + rtol * np.abs(a)).all())
    return passed, f"Max ATOL Delta: {gap.max(initial=0.0)}"


def comp_equal(golden, calculated):
    return np.array_equal(_numbers(golden), _numbers(calculated)), "equal"
