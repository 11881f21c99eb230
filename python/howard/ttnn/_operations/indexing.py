# SPDX-License-Identifier: Apache-2.0
"""Implements what takes elements from places that a tensor names, or puts them there."""

from .. import _arrays as arrays
from .._arrays import np
from .._launch import fail, make_output, operation, program, require_device, values
from .._session import session
from .._tensor import device_tensor
from .._types import DataType, Layout
from .data_movement import _axis, _moved, launch_permute, reshape, slice_


@operation(unread="sparse_grad")
def gather(input, dim, index, *, memory_config=None, out=None):
    if not len(input._shape) or not len(index._shape):
        return input
    return _moved("gather", [input, index], list(index._shape),
                  lambda a, i: arrays.gathered(a, dim, i), memory_config, out)


@operation()
def scatter(input, dim, index, src, *, memory_config=None, reduce=None, opt_reduction=None):
    """Puts the numbers of src at the places of an index, or combines them with what is there."""
    return _scatter("scatter", input, dim, index, src, memory_config,
                    reduce if reduce is not None else opt_reduction)


@operation()
def scatter_add(input, dim, index, src, *, memory_config=None):
    return _scatter("scatter_add", input, dim, index, src, memory_config, "add")


def _require_scatter(name, tensor, index, src, axis, reduce):
    if reduce is not None and reduce not in arrays.REDUCTIONS:
        fail(name, f"reduce must be either of {', '.join(arrays.REDUCTIONS)}, not {reduce!r}")
    if not len(tensor._shape) == len(index._shape) == len(src._shape):
        fail(name, f"input {tensor._shape}, index {index._shape} and src {src._shape} must have one "
             "rank")
    if tensor._dtype is not src._dtype:
        fail(name, f"input is {tensor._dtype.value} and src {src._dtype.value}: they must be the same")
    if index._dtype not in (DataType.INT32, DataType.UINT32, DataType.UINT16):
        fail(name, f"the index must be int32, uint32 or uint16, not {index._dtype.value}")
    for one in (tensor, src):
        if one._layout is Layout.TILE and one._dtype is DataType.FLOAT32:
            fail(name, "Scatter doesn't work for fp32 tiled tensors: ttnn.to_layout(tensor, "
                 "ttnn.ROW_MAJOR_LAYOUT)")
    if tensor._layout is Layout.TILE and tensor._dtype is DataType.INT32 and \
            tensor._shape[axis] > 256:
        fail(name, f"int32 tiles have rows of 256 at most, not {tensor._shape[axis]}")


def _scatter(name, tensor, dim, index, src, memory_config, reduce):
    """Launches what ttnn launches: it cuts src to the index, brings all to rows and the dimension to
    the last place, scatters, and brings the result back."""
    require_device(name, tensor, index, src)
    if not len(tensor._shape) or not len(index._shape):
        return tensor
    axis = _axis(name, tensor, dim)
    _require_scatter(name, tensor, index, src, axis, reduce)
    out = make_output(tensor._shape, tensor, None, None, memory_config)
    parts = [_in_rows(one, shape, axis) for one, shape in (
        (tensor, tensor._shape), (index, index._shape), (src, index._shape))]
    made = _step(out, parts[0]._shape, Layout.ROW_MAJOR) if parts[0] is not tensor else out
    # The kernel of the emulator replaces numbers in each row.
    fits = reduce is None and list(parts[1]._shape)[:-1] == list(parts[0]._shape)[:-1]
    program(name, "scatter" if fits else "move", parts, [made], not fits)
    if made is not out:
        _back_from_rows(made, out, axis)
    values(lambda a, i, s: arrays.scattered(a, dim, i, s, reduce), [tensor, index, src], [out])
    return out


def _step(like, shape, layout):
    return device_tensor(shape, like._dtype, layout, None, like._device)


def _order(shape, axis):
    order = list(range(len(shape)))
    order[axis], order[-1] = order[-1], order[axis]
    return order


def _in_rows(tensor, shape, axis):
    """Launches what brings a part of a tensor to rows with one dimension at the last place."""
    if shape != tensor._shape:
        cut = _step(tensor, shape, tensor._layout)
        program("slice", "move", [tensor], [cut], True)
        tensor = cut
    if axis != len(shape) - 1:
        order = _order(shape, axis)
        turned = _step(tensor, [shape[d] for d in order], tensor._layout)
        launch_permute("transpose", tensor, turned, order)
        tensor = turned
    if tensor._layout is Layout.TILE:
        rows = _step(tensor, tensor._shape, Layout.ROW_MAJOR)
        program("untilize", "untilize", [tensor], [rows])
        tensor = rows
    return tensor


def _back_from_rows(made, out, axis):
    if out._layout is Layout.TILE:
        tiles = out if axis == len(out._shape) - 1 else _step(made, made._shape, Layout.TILE)
        program("tilize", "tilize", [made], [tiles])
        made = tiles
    if made is not out:
        launch_permute("transpose", made, out, _order(out._shape, axis))


@operation()
def nonzero(input_tensor, *, memory_config=None):
    """Returns how many elements are not zero, and where these are: among all, or from 2026 on a row
    of four places for each."""
    require_device("nonzero", input_tensor)
    shape = list(input_tensor._shape)
    count = make_output([1] * len(shape), input_tensor, DataType.UINT32, Layout.ROW_MAJOR,
                        memory_config)
    volume = input_tensor._shape.volume()
    wide = [volume, 4] if session.is_2026 else shape
    places = make_output(wide, input_tensor, DataType.UINT32, Layout.ROW_MAJOR, memory_config)
    program("nonzero", "move", [input_tensor], [count, places], True,
            **({"out_shapes": [None, shape]} if session.is_2026 else {}))

    def compute(x):
        found = np.flatnonzero(x)
        filled = np.zeros([volume, wide[-1]] if session.is_2026 else [volume], np.int32)
        filled[:found.size] = np.stack(np.unravel_index(found, [1] * (4 - len(shape)) + shape), 1) \
            if session.is_2026 else found
        return [arrays.full([1] * len(shape), found.size, True), filled.reshape(wide)]

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


@operation()
def indexed_fill(batch_id, input_tensor_a, input_tensor_b, *, memory_config=None, dim=0):
    """Returns the first tensor with the parts of the second at the places of `dim` that batch_id has."""
    axis = _axis("indexed_fill", input_tensor_a, dim)

    def compute(a, b, places):
        arrays.require_places(places, a.shape[axis])
        made = a.copy()
        np.moveaxis(made, axis, 0)[places.ravel().astype(np.int64)] = np.moveaxis(b, axis, 0)
        return made

    return _moved("indexed_fill", [input_tensor_a, input_tensor_b, batch_id], list(input_tensor_a._shape),
                  compute, memory_config)


@operation()
def narrow(input_tensor, dim, start, length):
    """Returns `length` places of a dimension, from the place `start` on."""
    axis = _axis("narrow", input_tensor, dim)
    starts, ends = [0] * len(input_tensor._shape), list(input_tensor._shape)
    starts[axis] = start + ends[axis] if start < 0 else start
    if not 0 <= starts[axis] <= starts[axis] + length <= ends[axis]:
        fail("narrow", f"start ({start}) + length ({length}) exceeds dimension size ({ends[axis]})")
    ends[axis] = starts[axis] + length
    return slice_.function(input_tensor, starts, ends)


@operation()
def reshape_on_device(input_tensor, W, Z, Y, X, *, memory_config=None):
    return reshape.function(input_tensor, [W, Z, Y, X], memory_config=memory_config)
