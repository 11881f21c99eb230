# SPDX-License-Identifier: Apache-2.0
"""Implements shapes, orders and parts of tensors: what is a view, and what is a program."""

import math


from .. import _arrays as arrays
from .._arrays import np
from .._launch import (
    axis_on_chip,
    fail,
    make_output,
    on_chip,
    operation,
    program,
    require_device,
    values,
)
from .._tensor import device_tensor, host_tensor, view_of
from .._memory import DRAM_MEMORY_CONFIG
from .._types import Layout, Shape, TensorMemoryLayout


def _moved(name, inputs, shape, compute, memory_config=None, output=None, layout=None, dtype=None,
           analogy=True, kernel="move", **attributes):
    """Launches one program that brings data to other places."""
    require_device(name, *inputs)
    out = make_output(shape, inputs[0], dtype, layout, memory_config, output)
    program(name, kernel, inputs, [out], analogy, **attributes)
    values(compute, inputs, [out])
    return out


def _cores(use_multicore):
    """Returns what a program is told of its cores: nothing where it has all."""
    return {} if use_multicore else {"use_multicore": False}


def _on_host(tensor, compute, shape=None, layout=None):
    return host_tensor([compute(a) for a in tensor.shards()], tensor._dtype,
                       layout or tensor._layout, shape, tensor._topology)


def _axis(name, tensor, dim):
    rank = len(tensor._shape)
    if not -rank <= dim < rank:
        fail(name, f"dimension {dim} is not one of a tensor of rank {rank}: {-rank} to {rank - 1}")
    return dim % rank


# Views.


def _resolve(name, tensor, shape):
    shape = [int(d) for d in shape]
    if shape.count(-1) > 1:
        fail(name, "only one dimension can be -1")
    volume = tensor._shape.volume()
    if -1 in shape:
        known = math.prod(d for d in shape if d != -1)
        if known == 0 or volume % known:
            fail(name, f"{tensor._shape} cannot be reshaped to {shape}")
        shape[shape.index(-1)] = volume // known
    if math.prod(shape) != volume:
        fail(name, f"Invalid arguments to reshape: {tensor._shape} has {volume} elements, {shape} "
             f"has {math.prod(shape)}")
    return Shape(shape)


def _keeps_places(tensor, shape):
    old = tensor._shape
    if tensor._layout is Layout.ROW_MAJOR:
        return not len(old) or not len(shape) or old[-1] == shape[-1] or not tensor.is_sharded()
    if not len(old) or not len(shape):
        return old.volume() == 1
    if old[-1] != shape[-1]:
        return False
    above, below = old[-2] if len(old) > 1 else 1, shape[-2] if len(shape) > 1 else 1
    return above == below or (above % 32 == 0 and below % 32 == 0)


@operation(unread={"padded_shape": 2, "pad_value": None, "recreate_mapping_tensor": None,
                   "reshape_tile_mode": None})
def reshape(input_tensor, shape, *, memory_config=None):
    """Returns a view where the elements stay in place; else it launches one program."""
    if input_tensor._device is None:
        target = _resolve("reshape", input_tensor, shape)
        return view_of(input_tensor, target)
    require_device("reshape", input_tensor)
    target = _resolve("reshape", input_tensor, shape)
    if target == input_tensor._shape or _keeps_places(input_tensor, target):
        return view_of(input_tensor, target)
    dims = list(target)
    kernel = "reshape" if input_tensor._layout is Layout.TILE else "move"
    return _moved("reshape", [input_tensor], target, lambda a: a.reshape(dims), memory_config,
                  analogy=False, kernel=kernel)


@operation()
def view(input_tensor, *shape):
    """Returns the same memory under another shape. Raises an error where elements would have to
    move."""
    dims = shape[0] if len(shape) == 1 and not isinstance(shape[0], int) else shape
    target = _resolve("view", input_tensor, dims)
    if input_tensor._device is not None:
        require_device("view", input_tensor)
        if not _keeps_places(input_tensor, target):
            fail("view", f"{input_tensor._shape} as {target} would move elements: ttnn.reshape")
    return view_of(input_tensor, target)


@operation()
def squeeze(input_tensor, dim=None):
    dims = list(input_tensor._shape)
    if dim is None:
        return reshape.function(input_tensor, [d for d in dims if d != 1])
    given = [dim] if isinstance(dim, int) else list(dim)
    if not dims:
        for one in given:
            if one not in (0, -1):
                fail("squeeze", f"Dimension out of range (expected to be of [-1, 0], but got {one})")
        return input_tensor
    rank, places = len(dims), set()
    for one in given:
        if not -rank <= one < rank:
            fail("squeeze", f"Dimension out of range (expected to be in range of [{-rank},{rank - 1}], "
                 f"but got {one})")
        if one % rank in places:
            fail("squeeze", f"dim {one % rank} appears multiple times in the list of dims")
        places.add(one % rank)
    return reshape.function(input_tensor, [
        d for i, d in enumerate(dims) if d != 1 or i not in places])


@operation()
def unsqueeze(input_tensor, dim):
    dims = list(input_tensor._shape)
    if not -len(dims) - 1 <= dim <= len(dims):
        fail("unsqueeze", f"dimension {dim} of a tensor of rank {len(dims)}")
    dims.insert(dim % (len(dims) + 1), 1)
    return reshape.function(input_tensor, dims)


@operation()
def unsqueeze_to_4D(tensor):
    if len(tensor._shape) > 4:
        fail("unsqueeze_to_4D", f"the tensor has rank {len(tensor._shape)}: 4 at most")
    return reshape.function(tensor, [1] * (4 - len(tensor._shape)) + list(tensor._shape))


# Orders.


@operation(unread="pad_value")
def transpose(input_tensor, dim1, dim2, *, memory_config=None):
    a, b = _axis("transpose", input_tensor, dim1), _axis("transpose", input_tensor, dim2)
    order = list(range(len(input_tensor._shape)))
    order[a], order[b] = order[b], order[a]
    return _permuted("transpose", input_tensor, order, memory_config)


@operation(unread="pad_value")
def permute(input_tensor, dims, *, memory_config=None):
    order = [_axis("permute", input_tensor, d) for d in dims]
    if sorted(order) != list(range(len(input_tensor._shape))):
        fail("permute", f"the order {list(dims)} must name each dimension of "
             f"{input_tensor._shape} once")
    return _permuted("permute", input_tensor, order, memory_config)


def _permuted(name, tensor, order, memory_config):
    shape = [tensor._shape[d] for d in order]
    if tensor._device is None:
        return _on_host(tensor, lambda a: a.transpose(order))
    require_device(name, tensor)
    rank = len(order)
    if order == list(range(rank)):
        return tensor
    out = make_output(shape, tensor, None, None, memory_config)
    launch_permute(name, tensor, out, order)
    values(lambda a: a.transpose(order), [tensor], [out])
    return out


def launch_permute(name, tensor, out, order, dims=None):
    """Launches the program that gives `out` the dimensions of `tensor` in another order. `dims` is
    what the chip sees of the tensor, where it is not its own shape."""
    dims = list(dims if dims is not None else tensor._shape)
    joined = _four(order, dims)
    if joined is None:
        program(name, "move", [tensor], [out], True, shapes=[dims],
                out_shapes=[[dims[d] for d in order]])
        return
    order, dims = joined
    ends = {"shapes": [dims], "out_shapes": [[dims[d] for d in order]]}
    if tensor._layout is Layout.TILE and order in ([0, 1, 3, 2], [0, 2, 1, 3]):
        swap = "rows_columns" if order[3] == 2 else "heads_rows"
        program(name, "transpose", [tensor], [out], swap=swap, **ends)
    else:
        program(name, "permute", [tensor], [out], order=order, **ends)


def _four(order, dims):
    """Returns the same change of order of four dimensions: those that stay side by side are joined,
    but for the two that tiles hold. Returns None where more than four remain."""
    groups = [[d] for d in order]
    rank = len(dims)
    while len(groups) > 4:
        for i in range(len(groups) - 1):
            a, b = groups[i], groups[i + 1]
            inner = b[-1] >= rank - 2 or i + 1 >= len(groups) - 2
            if a[-1] + 1 == b[0] and not inner:
                groups[i:i + 2] = [a + b]
                break
        else:
            return None
    sources = sorted(groups)
    sizes = [math.prod(dims[d] for d in group) for group in sources]
    made = [sources.index(group) for group in groups]
    missing = 4 - len(made)
    return (list(range(missing)) + [d + missing for d in made],
            [1] * missing + [max(1, size) for size in sizes])


# Parts.


def _whole(given):
    """Returns whole numbers of a list or a tensor."""
    return list(given) if not hasattr(given, "array") else [int(one) for one in given.array().ravel()]


@operation("slice", unread="pad_value slice_dim num_devices")
def slice_(input_tensor, slice_start=None, slice_end=None, slice_step=None, *, memory_config=None,
           output_tensor=None, starts=None, ends=None, steps=None):
    starts = _whole(slice_start if slice_start is not None else starts)
    ends = _whole(slice_end if slice_end is not None else ends)
    steps = list(slice_step if slice_step is not None else steps or [1] * len(starts))
    dims = list(input_tensor._shape)
    if not len(starts) == len(ends) == len(steps) == len(dims):
        fail("slice", f"starts, ends and steps must have {len(dims)} numbers each")
    starts = [s + d if s < 0 else s for s, d in zip(starts, dims)]
    whole = list(input_tensor.padded_shape)[-len(dims):] if dims else dims
    if any(e > d for e, d in zip(ends, whole)):
        fail("slice", f"Ends {ends} must be less than or equal to the shape of the tensor {whole}")
    ends = [e + d if e < 0 else min(e, d) for e, d in zip(ends, dims)]
    if any(s < 0 or s > e for s, e in zip(starts, ends)):
        fail("slice", f"starts {starts} must not be after ends {ends}")
    shape = [max(0, -(-(e - s) // k)) for s, e, k in zip(starts, ends, steps)]

    def compute(a):
        return arrays.sliced(a, starts, ends, steps)

    if input_tensor._device is None:
        if any(k != 1 for k in steps):
            raise RuntimeError("slice: host tensors have no steps")
        return _on_host(input_tensor, compute)
    if shape == dims:
        require_device("slice", input_tensor)
        return input_tensor
    begins, every = on_chip(starts, 0), on_chip(steps, 1)
    if begins is None or every is None or not all(shape):
        return _moved("slice", [input_tensor], shape, compute, memory_config, output_tensor)
    return _moved("slice", [input_tensor], shape, compute, memory_config, output_tensor,
                  analogy=False, kernel="slice", begins=begins, steps=every)


def take(tensor, index):
    """Implements tensor[...]: one slice, and a view without the dimensions that are numbers."""
    index = index if isinstance(index, tuple) else (index,)
    rank = len(tensor._shape)
    if sum(one is Ellipsis for one in index) > 1:
        raise ValueError("an index can only have a single ellipsis ('...')")
    if Ellipsis in [one for one in index if one is Ellipsis]:
        at = [i for i, one in enumerate(index) if one is Ellipsis][0]
        fill = rank - (len(index) - 1)
        index = index[:at] + (slice(None),) * max(0, fill) + index[at + 1:]
    if len(index) > rank:
        raise IndexError(f"too many indices for a tensor of rank {rank}")
    index = index + (slice(None),) * (rank - len(index))
    starts, ends, steps, kept = [], [], [], []
    for i, one in enumerate(index):
        size = tensor._shape[i]
        if isinstance(one, slice):
            start, end, step = one.indices(size)
            starts.append(start)
            ends.append(max(start, end))
            steps.append(step)
            kept.append(True)
        elif isinstance(one, int):
            if not -size <= one < size:
                raise IndexError(f"index {one} is out of range for dimension {i} of size {size}")
            starts.append(one % size)
            ends.append(one % size + 1)
            steps.append(1)
            kept.append(False)
        else:
            raise TypeError(f"a tensor is indexed by numbers and slices, not {type(one).__name__}")
    made = slice_(tensor, starts, ends, steps)
    if all(kept):
        return made
    shape = [d for d, keep in zip(made._shape, kept) if keep]
    return reshape.function(made, shape)


@operation()
def split(input_tensor, split_size, dim=0, *, memory_config=None):
    axis = _axis("split", input_tensor, dim)
    size = input_tensor._shape[axis]
    sizes = list(split_size) if isinstance(split_size, (list, tuple)) else None
    if sizes is None:
        sizes = [split_size] * (size // split_size) + ([size % split_size] if size % split_size
                                                       else [])
    if sum(sizes) != size:
        fail("split", f"the sizes {sizes} do not add up to {size}")
    made, at = [], 0
    for one in sizes:
        starts, ends = [0] * len(input_tensor._shape), list(input_tensor._shape)
        starts[axis], ends[axis] = at, at + one
        made.append(slice_.function(input_tensor, starts, ends, memory_config=memory_config))
        at += one
    return made


@operation()
def chunk(input_tensor, num_chunks, dim=0):
    size = input_tensor._shape[_axis("chunk", input_tensor, dim)]
    return split.function(input_tensor, -(-size // num_chunks), dim)


@operation()
def concat(tensors, dim=0, *, memory_config=None, output_tensor=None, groups=1):
    tensors = list(tensors)
    if not tensors:
        fail("concat", "no tensors are given")
    if tensors[0]._device is None:
        parts = [t.array() for t in tensors]
        return host_tensor([np.concatenate(parts, dim)], tensors[0]._dtype,
                           tensors[0]._layout)
    require_device("concat", *tensors)
    if len(tensors) == 1:
        return tensors[0]
    axis = _axis("concat", tensors[0], dim)
    shape = list(tensors[0]._shape)
    for one in tensors[1:]:
        own = list(one._shape)
        if len(own) != len(shape) or any(
                a != b for i, (a, b) in enumerate(zip(own, shape)) if i != axis):
            fail("concat", f"the shapes {tensors[0]._shape} and {one._shape} must differ in "
                 f"dimension {dim} only")
        shape[axis] += own[axis]
    out = make_output(shape, tensors[0], None, None, memory_config or DRAM_MEMORY_CONFIG,
                      output_tensor)
    if groups != 1:
        return _joined_by_groups(tensors, axis, groups, out)
    at = axis_on_chip(axis, len(shape))
    padded = tensors[0]._layout is Layout.TILE and axis >= len(shape) - 2 and any(
        t._shape[axis] % 32 for t in tensors)
    if padded:
        # Tiles with padding within: in rows, and back.
        rows = [_rows_of(t) for t in tensors]
        joined = device_tensor(shape, out._dtype, Layout.ROW_MAJOR, None, out._device)
        program("concat", "concat", rows, [joined], dimension=at)
        program("tilize_with_val_padding", "tilize", [joined], [out])
    else:
        program("concat", "concat", tensors, [out], dimension=at)
    values(lambda *parts: np.concatenate(list(parts), axis), tensors, [out])
    return out


def _joined_by_groups(tensors, axis, groups, out):
    """Puts the columns of two tensors side by side, a group of each after the other, by one
    program."""
    if any(t._config.memory_layout is not TensorMemoryLayout.HEIGHT_SHARDED for t in tensors):
        fail("concat", "Groups > 1 is only supported on height-sharded tensors")
    if len(tensors) != 2 or axis != len(out._shape) - 1 or any(
            t._shape[axis] % groups for t in tensors):
        fail("concat", f"groups={groups} are of the columns of two tensors, which it divides; not of "
             f"dimension {axis} of {', '.join(str(t._shape) for t in tensors)}")
    program("concat", "concat", tensors, [out], dimension=axis_on_chip(axis, len(out._shape)))

    shape = out._shape

    def compute(*parts):
        wide = [one.reshape([*one.shape[:-1], groups, -1]) for one in parts]
        return np.concatenate(wide, -1).reshape(shape)

    values(compute, tensors, [out])
    return out


def _rows_of(tensor):
    """Returns another tensor with the same elements in rows: a program, without values."""
    rows = device_tensor(tensor._shape, tensor._dtype, Layout.ROW_MAJOR, None, tensor._device)
    program("untilize_with_unpadding", "untilize", [tensor], [rows])
    return rows


@operation()
def stack(tensors, dim=0, *, memory_config=None):
    rank = len(tensors[0]._shape) + 1
    return concat.function([unsqueeze.function(t, dim % rank) for t in tensors], dim % rank,
                           memory_config=memory_config)


@operation()
def repeat(input_tensor, repeat_dims, *, memory_config=None):
    times = [int(t) for t in repeat_dims]
    rank = max(len(times), len(input_tensor._shape))
    times = [1] * (rank - len(times)) + times
    dims = [1] * (rank - len(input_tensor._shape)) + list(input_tensor._shape)
    if any(t < 1 for t in times):
        fail("repeat", "each dimension is repeated once at least")
    shape = [d * t for d, t in zip(dims, times)]
    return _repeated("repeat", input_tensor, shape, lambda a: np.tile(a, times),
                     memory_config, None)


def _repeated(name, tensor, shape, compute, memory_config, output):
    """Launches one program that writes what it reads several times."""
    require_device(name, tensor)
    out = make_output(shape, tensor, None, None, memory_config, output)
    _launch_repeat(name, tensor, out)
    values(compute, [tensor], [out])
    return out


def _launch_repeat(name, tensor, out):
    """Launches the repetition of rows of the operand, each written as often as the result has more
    of them."""
    dims = list(tensor._shape) or [1]
    rows = max(1, math.prod(dims[:-1]))
    times = max(1, out._shape.volume() // max(1, tensor._shape.volume()))
    if times == 1:
        program(name, "copy", [tensor], [out], out_shapes=[dims])
    else:
        program(name, "repeat", [tensor], [out], shapes=[[1, 1, rows, dims[-1]]],
                out_shapes=[[1, times, rows, dims[-1]]])


@operation()
def repeat_interleave(input_tensor, repeats, dim=0, *, memory_config=None):
    axis = _axis("repeat_interleave", input_tensor, dim)
    dims = list(input_tensor._shape)
    shape = dims[:axis] + [dims[axis] * repeats] + dims[axis + 1:]
    return _repeated("repeat_interleave", input_tensor, shape,
                     lambda a: np.repeat(a, repeats, axis), memory_config, None)


@operation()
def expand(input_tensor, output_shape, *, memory_config=None):
    dims = [1] * (len(output_shape) - len(input_tensor._shape)) + list(input_tensor._shape)
    shape = [d if s == -1 else s for s, d in zip(output_shape, dims)]
    return _repeated("expand", input_tensor, shape, lambda a: np.broadcast_to(a, shape),
                     memory_config, None)


@operation()
def roll(input_tensor, shifts, dim=None):
    if dim is None:
        flat = reshape.function(input_tensor, [input_tensor._shape.volume()])
        return reshape.function(roll.function(flat, shifts, 0), list(input_tensor._shape))
    shifts = [shifts] if isinstance(shifts, int) else list(shifts)
    dims = [dim] if isinstance(dim, int) else list(dim)
    for shift, one in zip(shifts, dims):
        axis = _axis("roll", input_tensor, one)
        size = input_tensor._shape[axis]
        if shift % size == 0:
            continue
        parts = split.function(input_tensor, [size - shift % size, shift % size], axis)
        input_tensor = concat.function(parts[::-1], axis)
    return input_tensor


@operation("experimental.padded_slice", unread="pad_value")
def padded_slice(input_tensor, starts, ends, steps=None, *, memory_config=None):
    return slice_.function(input_tensor, starts, ends, steps, memory_config=memory_config)


@operation("experimental.slice_write")
def slice_write(input_tensor, output_tensor, starts, ends, steps=None):
    """Writes the input to a part of the output, and returns the output."""
    require_device("slice_write", input_tensor, output_tensor)
    program("slice_write", "copy", [input_tensor], [output_tensor],
            out_shapes=[list(input_tensor._shape)])

    def compute(whole, part):
        made = whole.copy()
        arrays.sliced(made, starts, ends, steps)[...] = part
        return made

    values(compute, [output_tensor, input_tensor], [output_tensor])
    return output_tensor
