# SPDX-License-Identifier: Apache-2.0
"""Implements the ops that spread one operand over another, and those of choices between operands."""

import enum

from .._arrays import np
from .._launch import fail, make_output, operation, program, require_device, values
from .._tensor import Tensor
from .._types import Layout
from .data_movement import _repeated, reshape
from .eltwise import FUNCTIONS, _binary

BcastOpMath = enum.Enum("BcastOpMath", "ADD SUB MUL", start=0)
BcastOpDim = enum.Enum("BcastOpDim", "H W HW", start=0)
_KERNELS = {"ADD": "add", "SUB": "subtract", "MUL": "multiply"}
_TYPED = {**{word: _KERNELS[word] for word in ("SUB", "MUL")}, "DIV": "divide", "LTE": "le", "GTE": "ge",
          "POWER": "pow"}  # All others are functions of their name.


@operation()
def bcast(input_a, input_b, math_op, dim, *, output_tensor=None, memory_config=None):
    """Adds, subtracts or multiplies one row, one column or one number of b: one program."""
    require_device("bcast", input_a, input_b)
    batch, whole = input_b._shape[0], list(input_a._shape)
    if len(whole) == len(input_b._shape) == 4 and whole[:2] == [1, 1] and batch > 1 and \
            whole[2] % batch == 0:  # The rows of a are those of as many matrices.
        out = bcast.function(reshape.function(input_a, [batch, 1, whole[2] // batch, whole[3]]),
                             input_b, math_op, dim, output_tensor=output_tensor,
                             memory_config=memory_config)
        return reshape.function(out, whole)
    rows = 1 if dim in (BcastOpDim.H, BcastOpDim.HW) else input_a._shape[-2]
    columns = 1 if dim in (BcastOpDim.W, BcastOpDim.HW) else input_a._shape[-1]
    outer, given = list(input_a._shape)[:-2], list(input_b._shape)
    fits = len(given) == len(input_a._shape) and all(
        b in (1, a) for a, b in zip(outer, given[:-2]))
    tall = given[-2] == rows or rows == 1 and input_b.padded_shape[-2] == 32
    wide = given[-1] == columns or columns == 1 and input_b.padded_shape[-1] == 32
    if not (fits and tall and wide):
        fail("bcast", f"b {input_b._shape} is spread over a {input_a._shape} in {dim.name}: it must "
             f"have {rows} rows and {columns} columns, and a's other dimensions or 1")
    used = given[:-2] + [rows, columns]
    out = make_output(input_a._shape, input_a, None, None, memory_config, output_tensor)
    program("bcast", _KERNELS[math_op.name], [input_a, input_b], [out], shapes=[None, used])

    def compute(a, b):
        b = b[..., :rows, :columns]
        return a + b if math_op is BcastOpMath.ADD else a - b if math_op is BcastOpMath.SUB else a * b

    values(compute, [input_a, input_b], [out])
    return out


@operation("prim.binary")
def binary(input_tensor_a, input_tensor_b, binary_op_type, *, dtype=None, memory_config=None,
           output_tensor=None, activations=None, input_tensor_a_activation=None):
    """Computes the function that a type says: one program."""
    word = binary_op_type.name
    return _binary("prim.binary", _TYPED.get(word, word.lower()), input_tensor_a, input_tensor_b,
                   dtype, memory_config, output_tensor, activations, input_tensor_a_activation, None)


@operation("experimental.broadcast_to")
def broadcast_to(input, output_shape, *, memory_config=None, output=None):
    """Repeats the dimensions of size 1, as often as the shape says: one program."""
    require_device("broadcast_to", input, tile=True)
    if any(one is not None and one.is_sharded() for one in (input._config, memory_config)):
        fail("broadcast_to", "sharded tensors are not supported: use ttnn.DRAM_MEMORY_CONFIG or "
             "ttnn.L1_MEMORY_CONFIG")
    shape, own = [int(size) for size in output_shape], list(input._shape)
    own = [1] * (len(shape) - len(own)) + own
    if len(own) != len(shape) or any(a not in (1, b) for a, b in zip(own, shape)):
        fail("broadcast_to", f"{input._shape} cannot be broadcast to {shape}: each dimension must "
             "be 1 or what it is there")
    return _repeated("broadcast_to", input, shape,
                     lambda a: np.broadcast_to(a.reshape(own), shape), memory_config, output)


@operation("experimental.where")
def experimental_where(condition, true_value, false_value, *, memory_config=None, dtype=None,
                       output_tensor=None):
    """Chooses between two values by a condition of the same shape: one program."""
    given = [one for one in (condition, true_value, false_value) if isinstance(one, Tensor)]
    require_device("where", *given, tile=True)
    if any(one._shape != condition._shape for one in given):
        fail("where", f"the shapes {[list(one._shape) for one in given]} must be equal")
    if dtype is not None and output_tensor is None:
        like = next((one for one in (true_value, false_value) if isinstance(one, Tensor)), condition)
        output_tensor = make_output(condition._shape, like, dtype, Layout.TILE, memory_config)
    return FUNCTIONS["where"].function(condition, true_value, false_value,
                                       memory_config=memory_config, output_tensor=output_tensor)


@operation(unread="fast_and_approximate_mode")
def sigmoid_accurate(input_tensor, *, memory_config=None, output_tensor=None):
    """Computes sigmoid with the exact exponential, which is what sigmoid has here anyway."""
    return FUNCTIONS["sigmoid"].function(input_tensor, memory_config=memory_config,
                                         output_tensor=output_tensor)


@operation()
def rpow(input_tensor, exponent, *, memory_config=None, output_tensor=None):
    """Computes exponent ** x: the number is the base."""
    return FUNCTIONS["pow"].function(exponent, input_tensor, memory_config=memory_config,
                                     output_tensor=output_tensor)


# TOSA's gather and scatter: rows of the middle dimension.


def _require_tosa(name, ranks, *tensors):
    require_device(name, *tensors)
    for tensor, rank in zip(tensors, ranks):
        if len(tensor._shape) != rank:
            fail(name, f"TOSA takes a tensor of rank {rank} here, not {tensor._shape}")


def _move(name, inputs, shape, compute, memory_config):
    out = make_output(shape, inputs[0], None, None, memory_config)
    program(name, "move", inputs[:1], [out], True)
    values(compute, inputs, [out])
    return out


@operation()
def tosa_gather(input, index, *, memory_config=None):
    """Returns the rows [n, w, c] of [n, k, c] whose numbers [n, w] says."""
    _require_tosa("tosa_gather", (3, 2), input, index)
    shape = [input._shape[0], index._shape[1], input._shape[2]]

    def compute(x, places):
        return np.take_along_axis(x, places.astype(np.int64)[:, :, None], 1)

    return _move("tosa_gather", [input, index], shape, compute, memory_config)


@operation()
def tosa_scatter(input, index, source, *, memory_config=None):
    """Returns [n, k, c] with the rows of the source [n, w, c] at the numbers that [n, w] says."""
    _require_tosa("tosa_scatter", (3, 2, 3), input, index, source)

    def compute(x, places, rows):
        made = x.copy()
        np.put_along_axis(made, places.astype(np.int64)[:, :, None], rows, 1)
        return made

    return _move("tosa_scatter", [input, index, source], list(input._shape), compute, memory_config)
