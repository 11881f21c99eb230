# SPDX-License-Identifier: Apache-2.0
"""Implements what takes elements from places that a tensor names, or puts them there."""

from .. import _arrays as arrays
from .._arrays import np
from .._launch import make_output, operation, program, require_device, values
from .._types import DataType, Layout
from .data_movement import _axis, _moved


@operation()
def gather(input_tensor, dim, index, *, sparse_grad=False, memory_config=None, out=None):
    return _moved("gather", [input_tensor, index], list(index._shape),
                  lambda a, i: arrays.gathered(a, dim, i), memory_config, out)


@operation(refuses=("reduce", "opt_reduction"))
def scatter(input_tensor, dim, index, src, *, memory_config=None, reduce=None, opt_reduction=None):
    return _moved("scatter", [input_tensor, index, src], list(input_tensor._shape),
                  lambda a, i, s: arrays.scattered(a, dim, i, s, False), memory_config)


@operation()
def scatter_add(input_tensor, dim, index, src, *, memory_config=None):
    return _moved("scatter_add", [input_tensor, index, src], list(input_tensor._shape),
                  lambda a, i, s: arrays.scattered(a, dim, i, s, True), memory_config)


@operation()
def nonzero(input_tensor, *, memory_config=None):
    """Returns how many elements are not zero, and where these are among all."""
    require_device("nonzero", input_tensor)
    shape = list(input_tensor._shape)
    count = make_output([1] * len(shape), input_tensor, DataType.UINT32, Layout.ROW_MAJOR,
                        memory_config)
    places = make_output(shape, input_tensor, DataType.UINT32, Layout.ROW_MAJOR, memory_config)
    program("nonzero", "move", [input_tensor], [count, places], True)

    def compute(x):
        found = np.flatnonzero(x)
        filled = np.zeros(x.size, np.int32)
        filled[:found.size] = found
        return [arrays.full([1] * len(shape), found.size, True), filled.reshape(shape)]

    values(compute, [input_tensor], [count, places])
    return [count, places]


@operation()
def index_fill(input_tensor, dim, index, value, *, memory_config=None):
    axis = _axis("index_fill", input_tensor, dim)
    shape = list(input_tensor._shape)

    def compute(a, places):
        arrays.require_places(places, a.shape[axis])
        made = a.copy()
        np.moveaxis(made, axis, 0)[places.ravel().astype(np.int64)] = value
        return made

    return _moved("index_fill", [input_tensor, index], shape, compute, memory_config)
