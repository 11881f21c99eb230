# SPDX-License-Identifier: Apache-2.0
"""Implements layouts and memory configurations: tiles and rows, interleaved and sharded, copies."""

import math


from .._arrays import np
from .._cores import CoreGrid, _grid_set
from .._launch import fail, operation, require_device, values
from .._tensor import host_tensor, shard_fault
from .._memory import DRAM_MEMORY_CONFIG, MemoryConfig, ShardSpec, shard_shape_for
from .._types import BufferType, Layout, Shape, TensorMemoryLayout, padded_shape
from .data_movement import _cores, _moved, reshape, slice_


def _brought(tensor, layout, dtype=None, memory_config=None, use_multicore=True):
    """Makes tiles of rows or rows of tiles: on the host, or by one program."""
    if tensor._layout is layout:
        return tensor
    if tensor._device is None:
        made = host_tensor(tensor.kept_shards(), dtype or tensor._dtype, layout, tensor._shape,
                           tensor._topology)
        made._storage.cell.padding = tensor._storage.cell.padding
        return made
    require_device("to_layout", tensor)
    padded = padded_shape(tensor._shape) != tensor._shape
    if layout is Layout.TILE:
        name, kernel = "tilize_with_val_padding" if padded else "tilize", "tilize"
    else:
        name, kernel = "untilize_with_unpadding" if padded else "untilize", "untilize"
    return _moved(name, [tensor], tensor._shape, lambda a: a, memory_config, layout=layout,
                  dtype=dtype, analogy=False, kernel=kernel, **_cores(use_multicore))


@operation(unread={"sub_core_grids": 4, "device": None})
def to_layout(tensor, layout, dtype=None, memory_config=None):
    """Makes tiles of rows or rows of tiles: on the host, or by one program."""
    return _brought(tensor, layout, dtype, memory_config)


def _layout_op(name, layout):
    @operation(name, unread="use_pack_untilize use_low_perf")
    def call(input_tensor, *, memory_config=None, dtype=None, output_dtype=None,
             use_multicore=True):
        return _brought(input_tensor, layout, dtype or output_dtype, memory_config, use_multicore)

    return call


tilize = _layout_op("tilize", Layout.TILE)
untilize = _layout_op("untilize", Layout.ROW_MAJOR)
tilize_with_zero_padding = _layout_op("tilize_with_zero_padding", Layout.TILE)


@operation()
def tilize_with_val_padding(input_tensor, output_padded_shape=None, pad_value=0, *,
                            memory_config=None, dtype=None, use_multicore=True):
    """Makes tiles, whose padding holds the value: that of whole tiles, or of the shape that is
    given."""
    whole = list(padded_shape(input_tensor._shape)) if output_padded_shape is None else \
        [int(size) for size in output_padded_shape]
    own = list(input_tensor._shape)
    own = [1] * (len(whole) - len(own)) + own
    if whole[-1] % 32 or whole[-2] % 32 or any(a < b for a, b in zip(whole, own)):
        fail("tilize_with_val_padding", f"the padded shape {whole} must be of whole tiles, and as large "
             f"as {input_tensor._shape}")
    made = _brought(input_tensor, Layout.TILE, dtype, memory_config, use_multicore)
    if whole != list(padded_shape(input_tensor._shape)):
        made._whole = Shape(whole)
    made._storage.cell.padding = float(pad_value)
    return made


@operation(unread="use_pack_untilize")
def untilize_with_unpadding(input_tensor, output_tensor_end=None, *, memory_config=None,
                            use_multicore=True):
    made = _brought(input_tensor, Layout.ROW_MAJOR, None, memory_config, use_multicore)
    if output_tensor_end is None:
        return made
    ends = [int(e) + 1 for e in output_tensor_end]
    if list(made._shape) == ends:
        return made
    return slice_.function(made, [0] * len(ends), ends)


def _with_shards(tensor, config):
    """Returns the configuration, with the shards that a tensor of this shape gets where it names
    none."""
    if config.is_sharded() and config.shard_spec is None and config.nd_shard_spec is None:
        grid = tensor._device.core_grid
        dims = padded_shape(tensor._shape)
        shape = shard_shape_for(math.prod(list(dims)[:-1]), dims[-1], config.memory_layout,
                                _grid_set(grid), None, round_up=True)
        return config.with_shard_spec(ShardSpec(_grid_set(grid), shape))
    return config


def _placed(name, tensor, config, dtype=None, output=None):
    if output is not None and (output._shape != tensor._shape or output._config != config):
        fail(name, f"the output tensor {output._shape} in {output._config} must have the shape "
             f"{tensor._shape} and lie in {config}")
    config = _with_shards(tensor, config)
    tile, counted = tensor._storage.tile, {}
    shape, shards = tensor._shape, config
    if tile is not None:
        shape, shards = tile.grown(shape), tile.grown_config(config)
        counted = {"shapes": [shape], "out_shapes": [shape]}
    fault = shard_fault(shards, shape, dtype or tensor._dtype, tensor._layout)
    if fault is not None:
        fail(name, fault)
    return _moved(name, [tensor], tensor._shape, lambda a: a, config, output, dtype=dtype,
                  analogy=False, kernel="copy", **counted)


@operation()
def to_memory_config(tensor, memory_config, dtype=None, output_tensor=None):
    require_device("to_memory_config", tensor)
    if tensor._config == memory_config and output_tensor is None:
        return tensor
    if tensor._config.is_sharded():
        name = "reshard" if memory_config.is_sharded() else "sharded_to_interleaved"
    else:
        name = "interleaved_to_sharded" if memory_config.is_sharded() else "copy"
    return _placed(name, tensor, memory_config, dtype, output_tensor)


@operation(unread="keep_l1_aligned")
def interleaved_to_sharded(input_tensor, *args, output_dtype=None, **kwargs):
    names = ("grid", "shard_shape", "shard_scheme", "shard_orientation")
    unknown = set(kwargs) - {*names, "sharded_memory_config"}
    if unknown:
        raise TypeError(f"ttnn.interleaved_to_sharded(): incompatible function arguments: "
                        f"{sorted(unknown)}")
    config = next((a for a in args if isinstance(a, MemoryConfig)),
                  kwargs.get("sharded_memory_config"))
    if config is None:
        given = dict(zip(names, args), **kwargs)
        grid = given["grid"]
        if not hasattr(grid, "num_cores"):
            grid = CoreGrid(x=grid[0], y=grid[1]) if isinstance(grid, (tuple, list)) else CoreGrid(
                x=grid.x, y=grid.y)
        config = MemoryConfig(given["shard_scheme"], BufferType.L1,
                              ShardSpec(_grid_set(grid), given["shard_shape"],
                                        given["shard_orientation"]))
    require_device("interleaved_to_sharded", input_tensor)
    return _placed("interleaved_to_sharded", input_tensor, config, output_dtype)


@operation(unread="is_l1_aligned")
def sharded_to_interleaved(input_tensor, memory_config=None, output_dtype=None):
    require_device("sharded_to_interleaved", input_tensor)
    return _placed("sharded_to_interleaved", input_tensor, memory_config or DRAM_MEMORY_CONFIG,
                   output_dtype)


@operation()
def reshard(input_tensor, output_memory_config, output_tensor=None):
    require_device("reshard", input_tensor)
    return _placed("reshard", input_tensor, output_memory_config, output=output_tensor)


def get_memory_config(tensor):
    return tensor.memory_config()


@operation(unread="compute_kernel_config")
def clone(input_tensor, *, dtype=None, memory_config=None):
    return _moved("clone", [input_tensor], input_tensor._shape, lambda a: a, memory_config,
                  dtype=dtype, analogy=False, kernel="copy")


def _copy_kernel(source, target):
    if target is None or source._layout is target._layout:
        return "copy"
    return "tilize" if target._layout is Layout.TILE else "untilize"


@operation()
def copy(input_a, input_b):
    if input_a._shape != input_b._shape:
        fail("copy", f"the shapes {input_a._shape} and {input_b._shape} must be equal")
    return _moved("copy", [input_a], input_a._shape, lambda a: a, output=input_b, analogy=False,
                  kernel=_copy_kernel(input_a, input_b))


@operation()
def assign(input_a, input_b=None, *, memory_config=None, dtype=None, output_tensor=None):
    output = input_b if input_b is not None else output_tensor
    return _moved("assign", [input_a], input_a._shape, lambda a: a, memory_config, output=output,
                  dtype=dtype, analogy=False, kernel=_copy_kernel(input_a, output))


@operation()
def move(input_tensor, *, memory_config=None):
    device = require_device("move", input_tensor)
    if device.capture is None:  # ttnn frees the old place before it takes a new one.
        device.notes.append(input_tensor._storage.number)
    made = _moved("move", [input_tensor], input_tensor._shape, lambda a: a, memory_config,
                  analogy=False, kernel="copy")
    input_tensor.deallocate(True)
    return made


@operation()
def reallocate(tensor, memory_config=None):
    return move.function(tensor, memory_config=memory_config)


@operation("experimental.convert_to_hwc")
def convert_to_hwc(input_tensor, *, memory_config=None, dtype=None):
    """Brings [1, b, c, hw] to [1, 1, b hw, c], in rows of whole 16 bytes: what lies behind the
    channels is 0."""
    one, batch, channels, places = list(input_tensor._shape)
    if one != 1:
        fail("convert_to_hwc", f"the first dimension of {input_tensor._shape} must be 1")
    if channels > 32:
        fail("convert_to_hwc", f"{channels} channels are more than 32")
    wide = -(-channels // 8) * 8

    def compute(a):
        rows = a.transpose([0, 1, 3, 2]).reshape([batch * places, channels])
        return np.pad(rows, [(0, 0), (0, wide - channels)]).reshape([1, 1, batch * places, wide])

    return _moved("convert_to_hwc", [input_tensor], [1, 1, batch * places, wide], compute,
                  memory_config, layout=Layout.ROW_MAJOR, dtype=dtype)


@operation("experimental.convert_to_chw")
def convert_to_chw(input_tensor, *, memory_config=None, dtype=None):
    """Brings [1, 1, hw, c] to [1, 1, c, hw], in rows. By default the rows of a shard become the columns
    of one on the same core."""
    *outer, places, channels = list(input_tensor._shape)
    spec = input_tensor._config.shard_spec
    if memory_config is None and spec is not None:
        memory_config = MemoryConfig(
            TensorMemoryLayout.WIDTH_SHARDED, BufferType.L1,
            ShardSpec(spec.grid, [channels, spec.shape[0]], spec.orientation))
    return _moved("convert_to_chw", [input_tensor], [*outer, channels, places],
                  lambda a: a.swapaxes(-1, -2), memory_config, layout=Layout.ROW_MAJOR, dtype=dtype)


@operation()
def interleaved_to_sharded_partial(input_tensor, grid, shard_shape, num_slices, slice_index,
                                   shard_scheme, shard_orientation, *, output_dtype=None):
    """Returns one of several slices of the rows, on the cores' shards."""
    rows = math.prod(list(input_tensor._shape)[:-1]) // num_slices
    flat = slice_.function(_flat(input_tensor), [0, 0, rows * slice_index, 0],
                           [1, 1, rows * (slice_index + 1), input_tensor._shape[-1]])
    return interleaved_to_sharded.function(flat, grid, shard_shape, shard_scheme, shard_orientation,
                                           output_dtype=output_dtype)


@operation()
def sharded_to_interleaved_partial(input_tensor, cache_tensor, num_slices, slice_index, *,
                                   memory_config=None, output_dtype=None):
    """Writes the shards as one of several slices of the rows of another tensor, which is
    returned."""
    rows, width = math.prod(list(cache_tensor._shape)[:-1]), cache_tensor._shape[-1]
    dims, part = list(cache_tensor._shape), rows // num_slices
    if output_dtype not in (None, cache_tensor._dtype):
        fail("sharded_to_interleaved_partial", f"output_dtype={output_dtype} must be that of the tensor "
             f"that is written to, {cache_tensor._dtype}")
    moved = to_memory_config.function(input_tensor, memory_config or DRAM_MEMORY_CONFIG)

    def compute(whole, x):
        flat = whole.reshape([rows, width])
        flat = flat.copy()
        flat[part * slice_index:part * (slice_index + 1)] = x.reshape([part, width])
        return flat.reshape(dims)

    values(compute, [cache_tensor, moved], [cache_tensor])
    return cache_tensor


def _flat(tensor):
    return reshape.function(tensor, [1, 1, math.prod(list(tensor._shape)[:-1]), tensor._shape[-1]])
