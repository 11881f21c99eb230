# SPDX-License-Identifier: Apache-2.0
"""Implements what writes constants around or into a tensor: padding, triangles, filling."""

import warnings

from .. import _arrays as arrays
from .._arrays import np
from .._launch import fail, on_chip, operation, require_device
from .._types import Layout, Shape
from .data_movement import _cores, _moved, _on_host


def _padded(tensor, before, after, value, memory_config, use_multicore):
    shape = [d + a + b for d, a, b in zip(tensor._shape, before, after)]

    def compute(a):
        return arrays.padded(a, before, after, float(value))

    if tensor._device is None:
        return _on_host(tensor, compute)
    first = on_chip(before, 0)
    if first is None or on_chip(after, 0) is None:
        return _moved("pad", [tensor], shape, compute, memory_config)
    return _moved("pad", [tensor], shape, compute, memory_config, analogy=False, kernel="pad",
                  before=first, **_cores(use_multicore))


@operation()
def pad(input_tensor, padding=None, *args, value=0.0, use_multicore=None, memory_config=None,
        output_padded_shape=None, input_tensor_start=None):
    """Pads by the numbers of places before and behind each dimension, or up to a shape. use_multicore
    decides whether all cores do it: by default they do in the first case, and one does in the second."""
    rank = len(input_tensor._shape)
    pairs = padding is not None and len(padding) and not isinstance(padding[0], int)
    if pairs:
        value = args[0] if args else value
        given = [tuple(p) for p in padding]
        given = [(0, 0)] * (rank - len(given)) + given
        if len(given) > rank:
            fail("pad", f"{len(given)} paddings for a tensor of rank {rank}")
        return _padded(input_tensor, [p[0] for p in given], [p[1] for p in given], value,
                       memory_config, use_multicore is not False)
    target = list(padding if padding is not None else output_padded_shape)
    start = list(args[0] if args else input_tensor_start or [0] * rank)
    value = args[1] if len(args) > 1 else value
    after = [t - s - d for t, s, d in zip(target, start, input_tensor._shape)]
    return _padded(input_tensor, start, after, value, memory_config, bool(use_multicore))


def host_pad(tensor, output_shape, input_start, value):
    """Returns rows on the host with padding, which is no part of the shape; tiles as they are."""
    if tensor._layout is not Layout.ROW_MAJOR:
        warnings.warn("pad() is for ROW_MAJOR tensors: the tensor is returned as it is")
        return tensor
    if any(input_start or ()):
        fail("pad", f"the padding starts behind the numbers here, not at {list(input_start)}")
    if len(output_shape) != len(tensor._shape) or any(
            a < b for a, b in zip(output_shape, tensor._shape)):
        fail("pad", f"{list(output_shape)} must have a size of {tensor._shape} at least in each "
             "dimension")
    made = _on_host(tensor, lambda a: a)
    made._whole, made._storage.cell.padding = Shape(output_shape), float(value)
    return made


def host_unpad(tensor, start, end):
    """Returns what lies from `start` to before `end`, padding included, as a tensor without any."""
    whole = list(tensor.padded_shape)
    if any(not 0 <= a <= b <= w for a, b, w in zip(start, end, whole)) or len(start) != len(whole):
        fail("unpad", f"from {list(start)} to {list(end)} is no part of {whole}")
    return _on_host(tensor, lambda a: arrays.sliced(whole_array(tensor, a), start, end))


def whole_array(tensor, array):
    """Returns a tensor's numbers with its padding."""
    whole = list(tensor.padded_shape)
    shape = [1] * (len(whole) - len(tensor._shape)) + list(tensor._shape)
    ends = [w - d for w, d in zip(whole, shape)]
    return arrays.padded(array.reshape(shape), [0] * len(shape), ends, tensor._storage.cell.padding)


@operation()
def fill_implicit_tile_padding(input_tensor, fill_value, *, memory_config=None):
    """Returns the tensor with the value behind its last row and column."""
    if input_tensor.padded_shape == input_tensor._shape:
        return input_tensor
    made = _moved("fill_implicit_tile_padding", [input_tensor], list(input_tensor._shape),
                  lambda a: a, memory_config)
    made._storage.cell.padding = float(fill_value)
    return made


def _triangle(name):
    @operation(name)
    def call(input_tensor, diagonal=0, *, memory_config=None):
        """Returns the part of each matrix on one side of a diagonal, by a mask and a product."""
        shape = list(input_tensor._shape)

        def compute(a):
            return getattr(np, name)(a, diagonal)

        require_device(name, input_tensor)
        return _moved(name, [input_tensor], shape, compute, memory_config, kernel="relu")

    return call


triu = _triangle("triu")
tril = _triangle("tril")


@operation("fill_rm")
def fill_rm(n, c, h, w, h_fill, w_fill, input, value_high, value_low, *, memory_config=None):
    def compute(_x):
        high = arrays.full([n, c, h_fill, w_fill], float(value_high))
        return arrays.padded(high, [0] * 4, [0, 0, h - h_fill, w - w_fill], float(value_low))

    return _moved("fill_rm", [input], [n, c, h, w], compute, memory_config)


@operation()
def fill_ones_rm(n, c, h, w, h_fill, w_fill, any, *, memory_config=None):
    def compute(_x):
        ones = arrays.full([n, c, h_fill, w_fill], 1.0)
        return arrays.padded(ones, [0] * 4, [0, 0, h - h_fill, w - w_fill], 0.0)

    return _moved("fill_ones_rm", [any], [n, c, h, w], compute, memory_config)
