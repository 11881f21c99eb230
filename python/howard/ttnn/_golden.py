# SPDX-License-Identifier: Apache-2.0
"""Gives tests what they compare with: golden functions, and how near two tensors are."""

import math
import sys
import types

from . import _arrays as arrays, _convert, _launch
from ._arrays import np
from ._launch import OPERATIONS, Operation
from ._operations.core import from_torch, to_torch
from ._tensor import Tensor


def _goldens():
    """Returns the table of golden functions. Raises RuntimeError without PyTorch."""
    try:
        from . import _goldens as made  # It imports PyTorch, which a script may do without.
    except ImportError as failure:
        if failure.name != "torch":
            raise
        raise RuntimeError("golden functions are torch's: install python3-torch") from None
    return made


def _known(name):
    return _goldens().GOLDENS.get(name)


_launch.GOLDEN_OF[0] = _known


def get_golden_function(operation):
    """Returns PyTorch's function of the same meaning. Raises RuntimeError when there is none, or no
    PyTorch."""
    found = getattr(operation, "golden_function", None)
    if found is None and not isinstance(operation, Operation):
        # Functions of complex numbers are plain ones, and t[...] is a method.
        name = "Tensor.__getitem__" if operation is Tensor.__getitem__ else getattr(
            operation, "__name__", "")
        found = _known(name)
    if found is None:
        raise RuntimeError(f"{operation} does not have a golden function")
    return found


def get_golden_function_for_activation(activation):
    return _goldens().get_golden_function_for_activation(activation)


def each(convert, given):
    """Returns the same lists, tuples and dictionaries, with all else in them converted."""
    if isinstance(given, (list, tuple)):
        return type(given)(each(convert, one) for one in given)
    if isinstance(given, dict):
        return {key: each(convert, one) for key, one in given.items()}
    return convert(given)


def _first_tensor(given):
    """Returns the first tensor of ttnn among arguments; None if there is none."""
    if isinstance(given, Tensor):
        return given
    if isinstance(given, dict):
        given = list(given.values())
    found = map(_first_tensor, given if isinstance(given, (list, tuple)) else ())
    return next((one for one in found if one is not None), None)


def to_golden(args, kwargs):
    """Returns arguments with torch's tensors in the place of ours."""
    def convert(one):
        return to_torch(one) if isinstance(one, Tensor) else one

    return each(convert, list(args)), each(convert, kwargs)


def _from_golden(output, args, kwargs):
    like = _first_tensor([list(args), kwargs])
    if not _convert.is_torch(output) and not isinstance(output, (list, tuple)):
        raise RuntimeError(f"a {type(output).__name__} of a golden function cannot become a tensor")
    return each(lambda one: from_torch(one, like._dtype, layout=like._layout,
                                        device=like._device), output)


def get_fallback_function(operation):
    """Returns the golden function, on tensors that are brought to the host and back."""
    golden = get_golden_function(operation)
    before = operation.preprocess_golden_function_inputs or to_golden
    after = operation.postprocess_golden_function_outputs or _from_golden

    def call(*args, **kwargs):
        plain, words = before(args, kwargs)
        return after(golden(*plain, **words), args, kwargs)

    return call


def attach_golden_function(operation, golden_function, *, preprocess_golden_function_inputs=None,
                           postprocess_golden_function_outputs=None):
    operation.golden_function = golden_function
    operation.preprocess_golden_function_inputs = preprocess_golden_function_inputs
    operation.postprocess_golden_function_outputs = postprocess_golden_function_outputs


def _holder(parts):
    """Returns the module below ttnn of these names, which is made where it is missing."""
    at = sys.modules["howard.ttnn"]
    for part in parts:
        inner = vars(at).get(part)
        if inner is None:
            inner = types.ModuleType(f"ttnn.{part}")
            setattr(at, part, inner)
        at = inner
    return at


def register_python_operation(*, name, is_experimental=False, is_method=False, golden_function=None,
                              preprocess_golden_function_inputs=None,
                              postprocess_golden_function_outputs=None, doc=None):
    """Makes a function of the script an operation of ttnn, at the place that its name says."""
    parts = name.split(".")
    if parts[0] != "ttnn" or len(parts) < 2:
        raise RuntimeError(f"the name of an operation must start with ttnn., not be {name}")

    def register(function):
        short = ".".join(parts[1:])
        if short in OPERATIONS:
            raise RuntimeError(f"{name} is already registered")
        made = Operation(short, function, everywhere=("queue_id", "cq_id"))
        made.is_cpp_operation, made.is_experimental = False, is_experimental
        made.__doc__ = doc or function.__doc__
        attach_golden_function(
            made, golden_function,
            preprocess_golden_function_inputs=preprocess_golden_function_inputs,
            postprocess_golden_function_outputs=postprocess_golden_function_outputs)
        OPERATIONS[short] = made
        if not is_method:
            setattr(_holder(parts[1:-1]), parts[-1], made)
        return made

    return register


def query_registered_operations(include_experimental=False):
    return [one for name, one in OPERATIONS.items()
            if include_experimental or not name.startswith("experimental.")]


def dump_operations(csv_file, include_experimental=False):
    with open(csv_file, "w") as file:
        file.write("python_fully_qualified_name\n")
        for one in query_registered_operations(include_experimental):
            file.write(one.python_fully_qualified_name + "\n")


def pearson_correlation_coefficient(expected, actual):
    """Returns how the numbers of two tensors go together; 1 for equal ones. What is not finite counts
    as 0, and zeros alone go together with nothing else."""
    a, b = _numbers(expected), _numbers(actual)
    if a.size != b.size:
        raise ValueError(f"{a.size} numbers are compared with {b.size}")
    if a.size:
        nothing = [bool(np.isnan(one[0]) and np.isnan(one).all()) for one in (a, b)]
        if any(nothing):
            return float(all(nothing))
    a, b = (one if np.isfinite(one).all() else np.where(np.isfinite(one), one, 0) for one in (a, b))
    if np.array_equal(a, b):
        return 1.0
    if not (a.any() and b.any()):
        return 0.0
    a, b = (one - one.mean() for one in (a.astype(np.float64), b.astype(np.float64)))
    left, right = float(a @ a), float(b @ b)
    if left == 0 or right == 0:
        return 1.0 if left == right else 0.0
    return float(a @ b) / math.sqrt(left * right)


def _numbers(value):
    """Returns the numbers of a tensor of ours or of another library, in a row."""
    if isinstance(value, Tensor):
        value.blocking_read()
        array = value.array()
    else:
        array, _ = _convert.array_of(value)
    return array.ravel()


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
    a, b = (one.astype(np.float64) for one in (_numbers(golden), _numbers(calculated)))
    with arrays.quiet():
        gap = np.abs(a - b)
        passed = bool((gap <= atol + rtol * np.abs(a)).all())
    return passed, f"Max ATOL Delta: {gap.max(initial=0.0)}"


def comp_equal(golden, calculated):
    passed = np.array_equal(_numbers(golden), _numbers(calculated))
    return passed, "equal" if passed else "there are other numbers"


def comp_ulp(golden, calculated, ulp_threshold, allow_nonfinite=False):
    """Says whether numbers are as near as so many units in the last place of the golden ones' type."""
    a, b = (one.astype(np.float64) for one in (_numbers(golden), _numbers(calculated)))
    finite = np.isfinite(a) & np.isfinite(b)
    if not np.array_equal(a[~finite], b[~finite], equal_nan=True) or not (allow_nonfinite or finite.all()):
        return False, "there are numbers that are not finite"
    digits = 8 if "bfloat16" in str(golden.dtype).lower() else 24
    _, exponents = np.frexp(np.where(a[finite] == 0, 2.0**-126, a[finite]))
    found = float((np.abs(a - b)[finite] / np.ldexp(1.0, exponents - digits)).max(initial=0.0))
    return found <= ulp_threshold, f"Max ULP Delta: {found}"


def _asserting(compare):
    """Makes the form of a comparison that raises AssertionError, also for shapes that differ."""
    def call(expected, actual, *args, **kwargs):
        if list(expected.shape) != list(actual.shape):
            raise AssertionError(f"shapes differ: {list(expected.shape)} and {list(actual.shape)}")
        passed, found = compare(expected, actual, *args, **kwargs)
        assert passed, found
        return passed, found

    return call


assert_allclose = _asserting(comp_allclose)
assert_equal = _asserting(comp_equal)
assert_with_ulp = _asserting(lambda a, b, ulp_threshold=10, allow_nonfinite=False: comp_ulp(
    a, b, ulp_threshold, allow_nonfinite))
