# SPDX-License-Identifier: Apache-2.0
"""Implements pools of images, in the chip's order: [1, 1, n h w, c], and what enlarges them."""

import math

from .. import _arrays as arrays
from .._arrays import np
from .._launch import computed, engine, fail, make_output, operation, program, require_device, values
from .._cores import num_cores_to_corerangeset
from .._memory import MemoryConfig, ShardSpec
from .._tensor import device_tensor
from .._types import BufferType, DataType, Layout, TensorMemoryLayout
from .._windows import L1_OF_A_CORE, Parallel, Window, pair, require_images, shards_for, with_halo
from .conv import padded_images, seen_at
from .data_movement import permute
from .layout import to_layout, to_memory_config
from .padding import pad


def _pooled(name, tensor, out, window, channels, attributes):
    """Returns a function that computes a pool of the first channels of a tensor's images."""
    compute = engine(name, [tensor], [out], [[1, 1, window.places_in, channels]],
                     **window.attributes(), **attributes)
    return lambda x: compute(x.reshape([window.places_in, -1])[:, :channels])


def _places_of_largest(x, window, channels):
    """Returns where in its image the largest number of each window is: the first of equal ones."""
    x = padded_images(x, window, channels, -np.inf)
    best = index = None
    for i in range(window.kernel[0]):
        for j in range(window.kernel[1]):
            seen = seen_at(x, i, j, window)
            rows = np.arange(window.rows) * window.stride[0] + i * window.dilation[0]
            columns = np.arange(window.columns) * window.stride[1] + j * window.dilation[1]
            place = (rows - window.padding[0])[:, None] * window.width + (
                columns - window.padding[2])[None, :]
            place = np.broadcast_to(place[None, :, :, None], seen.shape)
            if best is None:
                best, index = seen, place
            else:
                index = np.where(seen > best, place, index)
                best = np.maximum(best, seen)
    return index.astype(np.float32)


def _fits(parallel, window, channels):
    """Says whether a core has room for its images and their halo."""
    return 4 * math.prod(parallel.shard(window.places_in, channels, Layout.ROW_MAJOR)) <= L1_OF_A_CORE


def _launch(name, tensor, window, channels, dtype, layout, shard_scheme, attributes):
    """Launches the halo and the pool, and returns the result's tensor."""
    grid = tensor._device.core_grid
    config = tensor._config
    if config.is_sharded() and config.shard_spec is not None and shard_scheme in (
            None, config.memory_layout):
        parallel = Parallel.of(config, grid)
    else:
        parallel = Parallel.choose(shard_scheme or TensorMemoryLayout.HEIGHT_SHARDED,
                                   window.places_out, channels, channels, grid)
        if shard_scheme is None and not _fits(parallel, window, channels):
            # Images and their halo do not fit the few cores that have a result.
            found = [Parallel.choose(layout, places, channels, channels, grid) for layout, places in (
                (TensorMemoryLayout.WIDTH_SHARDED, window.places_out),
                (TensorMemoryLayout.HEIGHT_SHARDED, window.places_in))]
            parallel = next((one for one in found if _fits(one, window, channels)), found[-1])
    width = tensor._shape[-1]
    tensor = shards_for(tensor, parallel, window.places_in, width)
    halo = with_halo(tensor, window, parallel, width)
    out = device_tensor([1, 1, window.places_out, channels], dtype, layout,
                        parallel.config(window.places_out, channels, layout), tensor._device,
                        topology=tensor._topology)
    program(name, name, [halo], [out], out_shapes=[[1, 1, window.places_out, width]],
            **window.attributes(), **parallel.attributes(), **attributes)
    return out


def _call(name, tensor, window, channels, *, counts_padding=True, divisor=None, memory_config=None,
          shard_scheme=None, dtype=None, layout=None, deallocates=False, indices=False):
    require_device(name, tensor)
    require_images(name, tensor, window, channels)
    largest = name == "max_pool2d"
    dtype, layout = dtype or DataType.BFLOAT16, layout or Layout.ROW_MAJOR
    if dtype.block and layout is Layout.ROW_MAJOR:
        fail(name, f"{dtype!r} needs output_layout=ttnn.TILE_LAYOUT")
    attributes = {}
    if not largest:
        attributes = {"counts_padding": bool(counts_padding), "divisor": int(divisor or 0)}
    out = _launch(name, tensor, window, channels, dtype, layout, shard_scheme, attributes)
    shape = [1, 1, window.places_out, channels]
    values(_pooled(name, tensor, out, window, channels, attributes), [tensor], [out])
    made = [out]
    if indices:
        where = make_output(shape, out, DataType.UINT16, Layout.ROW_MAJOR)
        values(lambda x: _places_of_largest(x, window, channels).reshape(shape), [tensor], [where])
        made.append(where)
    if deallocates and tensor._config.buffer_type is BufferType.L1:
        tensor._storage.release()
    if memory_config is not None:
        made = [to_memory_config.function(one, memory_config) for one in made]
    return made if indices else made[0]


@operation(unread="in_place_halo reallocate_halo_output dram_slice_config "
           "config_tensor_in_dram")
def max_pool2d(input_tensor, batch_size, input_h, input_w, channels, kernel_size, stride=None,
               padding=(0, 0), dilation=(1, 1), ceil_mode=False, *, memory_config=None,
               applied_shard_scheme=None, deallocate_input=False, return_indices=False, dtype=None,
               output_layout=None):
    """Returns the largest number of each window, and where it is if `return_indices`."""
    window = Window("max_pool2d", batch_size, input_h, input_w, kernel_size, stride or kernel_size,
                    padding, dilation, ceil_mode)
    return _call("max_pool2d", input_tensor, window, channels, memory_config=memory_config,
                 shard_scheme=applied_shard_scheme, dtype=dtype, layout=output_layout,
                 deallocates=deallocate_input, indices=return_indices)


@operation(unread="in_place_halo reallocate_halo_output compute_kernel_config dram_slice_config "
           "config_tensor_in_dram")
def avg_pool2d(input_tensor, batch_size, input_h, input_w, channels, kernel_size, stride=None,
               padding=(0, 0), ceil_mode=False, count_include_pad=True, divisor_override=None, *,
               memory_config=None, applied_shard_scheme=None, deallocate_input=False, dtype=None,
               output_layout=None):
    """Returns the mean of each window."""
    window = Window("avg_pool2d", batch_size, input_h, input_w, kernel_size, stride or kernel_size,
                    padding, 1, ceil_mode)
    if divisor_override is not None and divisor_override < 1:
        fail("avg_pool2d", f"divisor_override={divisor_override} must be positive")
    return _call("avg_pool2d", input_tensor, window, channels, counts_padding=count_include_pad,
                 divisor=divisor_override, memory_config=memory_config,
                 shard_scheme=applied_shard_scheme, dtype=dtype, layout=output_layout,
                 deallocates=deallocate_input)


@operation()
def global_avg_pool2d(input_tensor, *, memory_config=None, dtype=None):
    """Averages [n, h, w, c] to [n, 1, 1, c]."""
    n, h, w, c = list(input_tensor._shape)
    require_device("global_avg_pool2d", input_tensor)
    out = make_output([n, 1, 1, c], input_tensor, dtype, None, memory_config)
    computed("global_avg_pool2d", "avg_pool2d", [input_tensor], [out],
             shapes=[[1, 1, n * h * w, c]], out_shapes=[[1, 1, n, c]],
             **Window("global_avg_pool2d", n, h, w, (h, w), 1, 0).attributes())
    return out


def _in_height_shards(tensor, rows):
    """Returns the tensor over the most cores that divide so many rows of places."""
    grid = tensor._device.core_grid
    cores = max(c for c in range(1, min(rows, grid.x * grid.y) + 1) if rows % c == 0)
    n, h, w, c = list(tensor._shape)
    config = MemoryConfig(TensorMemoryLayout.HEIGHT_SHARDED, BufferType.L1,
                          ShardSpec(num_cores_to_corerangeset(cores, grid, True),
                                    [n * h * w // cores, c]))
    return to_memory_config.function(tensor, config)


@operation(unread="compute_kernel_config")
def upsample(input_tensor, scale_factor, *, mode="nearest", memory_config=None):
    """Returns [n, h, w, c] with each place repeated, or with places between."""
    n, h, w, c = list(input_tensor._shape)
    factors = pair(scale_factor)
    if mode not in ("nearest", "bilinear"):
        fail("upsample", f"mode={mode!r}: Only 'nearest' and 'bilinear' modes are supported")
    if min(factors) < 1:
        fail("upsample", f"scale_factor={scale_factor} must be whole numbers from 1 on")
    require_device("upsample", input_tensor)
    bilinear = mode == "bilinear"
    source = input_tensor
    if bilinear and not source._config.is_sharded():
        source = _in_height_shards(source, n * h)
    shape = [n, h * factors[0], w * factors[1], c]
    config = source._config
    if config.is_sharded() and config.shard_spec is not None:
        spec = config.shard_spec
        config = config.with_shard_spec(
            ShardSpec(spec.grid, [spec.shape[0] * factors[0] * factors[1], spec.shape[1]],
                      spec.orientation))
    out = make_output(shape, source, None, None, config)
    inputs = [source]
    if bilinear:
        window = Window("upsample", n, h, w, (2, 2), 1, 1)
        inputs = [with_halo(source, window, Parallel.of(source._config, source._device.core_grid),
                            c)]
    told = {"factor": list(factors), "bilinear": bilinear}
    program("upsample", "upsample", inputs, [out], shapes=[[n, h, w, c]], **told)
    values(engine("upsample", [input_tensor], [out], **told), [input_tensor], [out])
    return out if memory_config is None else to_memory_config.function(out, memory_config)


def _adaptive(name, pool):
    @operation(name, unread="reallocate_output")
    def call(input_tensor, batch_size, input_h, input_w, channels, output_size, **options):
        """Computes a pool whose windows give a result of that size."""
        kernel, stride, padding = zip(*[
            _adaptive_side(name, side, out)
            for side, out in zip((input_h, input_w), pair(output_size))])
        if pool is avg_pool2d:
            options["count_include_pad"] = False
        return pool.function(input_tensor, batch_size, input_h, input_w, channels, kernel, stride,
                             (padding[0], padding[0], padding[1], padding[1]), **options)

    return call


def _adaptive_side(name, side, out):
    """Returns window, stride and padding of windows like PyTorch's, whose sizes can differ."""
    starts = [i * side // out for i in range(out)]
    ends = [-(-(i + 1) * side // out) for i in range(out)]
    sizes = [end - start for start, end in zip(starts, ends)]
    size = max(sizes)
    if min(sizes) == size and len(set(b - a for a, b in zip(starts, starts[1:]))) <= 1:
        return size, starts[1] - starts[0] if out > 1 else size, 0
    # Windows at the borders are smaller: with padding all have one size.
    padding = size - sizes[0]
    begins = [-padding] + starts[1:]
    strides = {b - a for a, b in zip(begins, begins[1:])}
    if len(strides) != 1 or size - sizes[-1] != padding or any(s != size for s in sizes[1:-1]):
        fail(name, f"{side} places cannot be divided into {out} windows of nearly one size")
    return size, strides.pop(), padding


adaptive_avg_pool2d = _adaptive("adaptive_avg_pool2d", avg_pool2d)
adaptive_max_pool2d = _adaptive("adaptive_max_pool2d", max_pool2d)


# Folds: the places of each window lie side by side.


def _fold_edges(name, padding):
    """Returns (top, bottom, left, right, channels before, channels after)."""
    given = [int(one) for one in padding or (0, 0)]
    if len(given) == 2:
        given = [given[0], given[0], given[1], given[1]]
    if len(given) == 4:
        given += [0, 0]
    if len(given) != 6 or min(given) < 0:
        fail(name, f"padding={list(padding)} must be 2, 4 or 6 numbers from 0 on")
    return given


def _fold_on_cores(tensor, out, rows, columns):
    """Launches what ttnn does with images [n, c, h, w] whose rows are in shards: they are padded where
    they lie, turned so that columns are rows, and turned back with a window in each row. By analogy
    each of these writes its shards again."""
    spec = tensor._config.shard_spec
    shards = ShardSpec(spec.grid, [-(-rows // spec.grid.num_cores()), columns])
    wide = device_tensor([1, 1, rows, columns], tensor._dtype, Layout.ROW_MAJOR,
                         tensor._config.with_shard_spec(shards), tensor._device)
    for name in ("pad", "transpose", "transpose"):
        program(name, "copy", [wide], [wide], True)
    windows = [[1, 1, math.prod(out._shape[:-1]), out._shape[-1]]]
    program("fold", "copy", [out], [out], True, shapes=windows, out_shapes=windows)


@operation(unread={"grid_size": 6})
def fold(input, stride_h, stride_w, use_transpose_as_fold=False, output_shape=None, padding=None,
         override_memory_config=None, *, pad_c=0, pad_h=0, pad_w=0,
         memory_config=None):
    """Folds [n, h, w, c] to [n, h/s, w/t, s t c], or to one dimension of places for a tensor in L1.
    With `use_transpose_as_fold` it takes [n, c, h, w]."""
    require_device("fold", input)
    edges = _fold_edges("fold", padding or (pad_h, pad_h, pad_w, pad_w, 0, pad_c))
    top, bottom, left, right, front, back = edges
    n, h, w, c = [input._shape[i] for i in ((0, 2, 3, 1) if use_transpose_as_fold else range(4))]
    if use_transpose_as_fold and not input._config.is_sharded():
        top, bottom, left, right = 0, top, 0, left  # An interleaved one is padded at its end only.
    high, wide, deep = h + top + bottom, w + left + right, c + front + back
    if high % stride_h or wide % stride_w:
        fail("fold", f"height {high} and width {wide} must be multiples of {stride_h} and "
             f"{stride_w}")
    rows, columns = high // stride_h, wide // stride_w
    full = [n, rows, columns, stride_h * stride_w * deep]
    shape = full
    in_l1 = input._config.buffer_type is BufferType.L1
    if use_transpose_as_fold:
        shape = list(output_shape) if output_shape is not None else full
    elif in_l1:
        if input._config.is_sharded() and \
                input._config.memory_layout is not TensorMemoryLayout.HEIGHT_SHARDED:
            fail("fold", "non height-sharding is not supported: "
                 f"{input._config.memory_layout.name}")
        shape = [1, 1, n * rows * columns, full[3]]
    source = input
    moves = use_transpose_as_fold and input._config.shard_spec is not None and \
        input._config.memory_layout is TensorMemoryLayout.HEIGHT_SHARDED
    if use_transpose_as_fold and not moves:
        source = permute.function(source, (0, 2, 3, 1))
    if source._layout is Layout.TILE:
        source = to_layout.function(source, Layout.ROW_MAJOR)
    if any(edges) and not moves:
        source = pad.function(source, [(0, 0), (top, bottom), (left, right), (front, back)], 0.0)
    dtype = input._dtype if input._dtype in (DataType.FLOAT32, DataType.UINT16) else \
        DataType.BFLOAT16
    config = memory_config or override_memory_config or source._config
    spec = config.shard_spec
    if spec is not None and config == source._config:
        places = -(-n * rows * columns // spec.grid.num_cores()) if moves else \
            spec.shape[0] // (stride_h * stride_w)
        config = config.with_shard_spec(ShardSpec(spec.grid, [places, full[3]], spec.orientation))
    out = make_output(shape, source, dtype, Layout.ROW_MAJOR, config)
    if moves:
        _fold_on_cores(source, out, n * deep * high, wide)
    else:
        program("fold", "fold", [source], [out], shapes=[[n, high, wide, deep]],
                out_shapes=[[1, 1, n * rows * columns, full[3]]], stride=[stride_h, stride_w])

    def compute(x):
        if use_transpose_as_fold:
            x = x.transpose([0, 2, 3, 1])
        x = arrays.padded(x.reshape([n, h, w, c]), [0, top, left, front], [0, bottom, right, back],
                          0.0)
        windows = x.reshape([n, rows, stride_h, columns, stride_w, deep])
        made = windows.transpose([0, 1, 3, 2, 4, 5]).reshape(full)
        if shape != full and len(shape) == 4 and use_transpose_as_fold:
            return made[tuple(slice(0, d) for d in shape)]
        return made.reshape(shape)

    values(compute, [input], [out])
    return out
