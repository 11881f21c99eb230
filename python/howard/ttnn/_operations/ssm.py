# SPDX-License-Identifier: Apache-2.0
"""Implements the ops of state space models (Mamba)."""

from howard import _native

from .._expressions import V
from .._launch import make_output, operation, program, require_device, values
from .data_movement import _moved

arrays = _native._ttnn.arrays


@operation("experimental.hc_sum_reduce")
def hc_sum_reduce(input, *, memory_config=None, dtype=None, math_fidelity=None):
    """Returns the sum of each 32 columns."""
    *outer, columns = list(input._shape)
    shape = outer + [columns // 32]

    def compute(x):
        return arrays.reduce("sum", x.reshaped(shape + [32]), [-1], False)

    return _moved("hc_sum_reduce", [input], shape, compute, memory_config, dtype=dtype)


@operation("experimental.repeat_and_interleave_eltwise_mul")
def repeat_and_interleave_eltwise_mul(a, b, *, memory_config=None, dtype=None, math_fidelity=None):
    """Multiplies each 32 columns of a, or all of a, by each column of b."""
    columns = max(a._shape[-1], 32) if b._shape[-1] == 32 else b._shape[-1] * 32
    shape = list(a._shape)[:-1] + [columns]
    require_device("repeat_and_interleave_eltwise_mul", a, b)
    out = make_output(shape, a, dtype, None, memory_config)
    program("repeat_and_interleave_eltwise_mul", "multiply", [out, out], [out], True)

    def compute(x, y):
        rows = x.size // x.shape[-1]
        if x.shape[-1] == 32:
            x = arrays.repeated(x, [1] * (len(shape) - 1) + [columns // 32])
        if y.shape[-1] != columns:
            y = arrays.broadcast_to(y.reshaped([rows, y.shape[-1], 1]),
                                    [rows, y.shape[-1], columns // y.shape[-1]]).reshaped(shape)
        return arrays.binary("multiply", x, y)

    values(compute, [a, b], [out])
    return out


@operation("experimental.prefix_scan")
def prefix_scan(a, bx, h_prev, *, memory_config=None, dtype=None, math_fidelity=None):
    """Computes h = a h + bx, row after row, and returns h at each."""
    rows, columns = a._shape[-2], a._shape[-1]
    require_device("prefix_scan", a, bx, h_prev)
    out = make_output(a._shape, a, dtype, None, memory_config)
    program("prefix_scan", "multiply", [a, bx], [out], True)

    def compute(x, y, h):
        h = V(h.reshaped([h.size])) if h.size == columns else V(0.0)
        x, y, made = x.reshaped([rows, columns]), y.reshaped([rows, columns]), []
        for i in range(rows):
            one, other = (V(arrays.sliced(t, [i, 0], [i + 1, columns], [1, 1]).reshaped([columns]))
                          for t in (x, y))
            h = one * h + other
            made.append(h.a.reshaped([1, columns]))
        return arrays.concatenated(made, 0).reshaped(list(a._shape))

    values(compute, [a, bx, h_prev], [out])
    return out
