# SPDX-License-Identifier: Apache-2.0
"""Implements the ops of state space models (Mamba)."""


from .. import _arrays as arrays
from .._arrays import np
from .._launch import make_output, operation, program, require_device, values
from .data_movement import _moved


@operation("experimental.hc_sum_reduce", unread="math_fidelity")
def hc_sum_reduce(input, *, memory_config=None, dtype=None):
    """Returns the sum of each 32 columns."""
    *outer, columns = list(input._shape)
    shape = outer + [columns // 32]

    def compute(x):
        return arrays.reduce("sum", x.reshape(shape + [32]), [-1], False)

    return _moved("hc_sum_reduce", [input], shape, compute, memory_config, dtype=dtype)


@operation("experimental.repeat_and_interleave_eltwise_mul", unread="math_fidelity")
def repeat_and_interleave_eltwise_mul(a, b, *, memory_config=None, dtype=None):
    """Multiplies each 32 columns of a, or all of a, by each column of b."""
    columns = max(a._shape[-1], 32) if b._shape[-1] == 32 else b._shape[-1] * 32
    shape = list(a._shape)[:-1] + [columns]
    require_device("repeat_and_interleave_eltwise_mul", a, b)
    out = make_output(shape, a, dtype, None, memory_config)
    program("repeat_and_interleave_eltwise_mul", "multiply", [out, out], [out], True)

    def compute(x, y):
        if x.shape[-1] == 32:
            x = np.tile(x, [1] * (len(shape) - 1) + [columns // 32])
        if y.shape[-1] != columns:
            y = np.repeat(y, columns // y.shape[-1], -1)
        return x * y

    values(compute, [a, b], [out])
    return out


@operation("experimental.prefix_scan", unread="math_fidelity")
def prefix_scan(a, bx, h_prev, *, memory_config=None, dtype=None):
    """Computes h = a h + bx, row after row, and returns h at each."""
    rows, columns = a._shape[-2], a._shape[-1]
    require_device("prefix_scan", a, bx, h_prev)
    out = make_output(a._shape, a, dtype, None, memory_config)
    program("prefix_scan", "multiply", [a, bx], [out], True)

    def compute(x, y, h):
        h = h.reshape([h.size]) if h.size == columns else 0.0
        made = []
        for one, other in zip(x.reshape([rows, columns]), y.reshape([rows, columns])):
            h = one * h + other
            made.append(h)
        return np.stack(made).reshape(x.shape)

    values(compute, [a, bx, h_prev], [out])
    return out
