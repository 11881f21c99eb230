# SPDX-License-Identifier: Apache-2.0
"""Defines where tensors lie: shards, memory configurations, specifications."""

import math

from ._cores import CoreGrid, CoreRange, CoreRangeSet, _grid_set
from ._types import (
    _BYTES,
    BufferType,
    Shape,
    ShardDistributionStrategy,
    ShardOrientation,
    ShardStrategy,
    TensorMemoryLayout,
    padded_shape,
)


class ShardSpec:
    def __init__(self, grid, shard_shape, shard_orientation=ShardOrientation.ROW_MAJOR, *extra):
        self.grid, self.shape = grid, list(shard_shape)
        self.orientation = shard_orientation

    def num_cores(self):
        return self.grid.num_cores()

    def __eq__(self, other):
        return isinstance(other, ShardSpec) and (self.grid, self.shape, self.orientation) == (
            other.grid,
            other.shape,
            other.orientation,
        )

    def __hash__(self):
        return hash((self.grid, tuple(self.shape), self.orientation))

    def __repr__(self):
        return f"ShardSpec(grid={self.grid!r},shape={self.shape},orientation={self.orientation})"


class NdShardSpec:
    def __init__(self, shard_shape, grid, orientation=ShardOrientation.ROW_MAJOR,
                 shard_distribution_strategy=ShardDistributionStrategy.ROUND_ROBIN_1D):
        self.shard_shape, self.grid = list(shard_shape), grid
        self.orientation = orientation
        self.shard_distribution_strategy = shard_distribution_strategy

    def __eq__(self, other):
        return isinstance(other, NdShardSpec) and vars(self) == vars(other)

    def __hash__(self):
        return hash((tuple(self.shard_shape), self.grid, self.orientation))


class MemoryConfig:
    def __init__(self, *args, memory_layout=None, buffer_type=None, shard_spec=None,
                 nd_shard_spec=None):
        for one in args:
            if isinstance(one, TensorMemoryLayout):
                memory_layout = one
            elif isinstance(one, BufferType):
                buffer_type = one
            elif isinstance(one, NdShardSpec):
                nd_shard_spec = one
            elif isinstance(one, ShardSpec):
                shard_spec = one
            elif one is not None:
                raise TypeError(f"MemoryConfig(): incompatible function arguments: {one!r}")
        if memory_layout is None:
            memory_layout = (
                TensorMemoryLayout.ND_SHARDED if nd_shard_spec else TensorMemoryLayout.INTERLEAVED
            )
        self.memory_layout = memory_layout
        self.buffer_type = buffer_type or BufferType.DRAM
        self.shard_spec, self.nd_shard_spec = shard_spec, nd_shard_spec

    def is_sharded(self):
        return self.memory_layout is not TensorMemoryLayout.INTERLEAVED

    @property
    def interleaved(self):
        return not self.is_sharded()

    def with_shard_spec(self, shard_spec):
        return MemoryConfig(self.memory_layout, self.buffer_type, shard_spec)

    def _key(self):
        return (self.memory_layout, self.buffer_type, self.shard_spec, self.nd_shard_spec)

    def __eq__(self, other):
        return isinstance(other, MemoryConfig) and self._key() == other._key()

    def __hash__(self):
        return hash(self._key())

    def __repr__(self):
        return (
            f"MemoryConfig(memory_layout={self.memory_layout},buffer_type={self.buffer_type},"
            f"shard_spec={self.shard_spec})"
        )


_CHIP_LAYOUTS = {
    TensorMemoryLayout.HEIGHT_SHARDED: "height",
    TensorMemoryLayout.WIDTH_SHARDED: "width",
    TensorMemoryLayout.BLOCK_SHARDED: "block",
}


def chip_shards(config):
    """Returns the shards of a configuration as the chip takes them; None where it is interleaved,
    in blocks in DRAM, or names no shards. Rows and columns of shards are dealt out over so many
    cores or banks, wherever these are; blocks over the grid that holds them."""
    spec = config.shard_spec
    layout = _CHIP_LAYOUTS.get(config.memory_layout)
    if spec is None or layout is None or config.buffer_type is BufferType.L1_SMALL:
        return None
    if layout == "block" and config.buffer_type is BufferType.DRAM:
        return None
    if layout == "block":
        size = spec.grid.bounding_box().grid_size()
        columns, rows = size.x, size.y
    else:
        columns, rows = spec.grid.num_cores(), 1
    return (layout, columns, rows, *map(int, spec.shape),
            layout == "block" and spec.orientation is ShardOrientation.COL_MAJOR)


DRAM_MEMORY_CONFIG = MemoryConfig(TensorMemoryLayout.INTERLEAVED, BufferType.DRAM)
L1_MEMORY_CONFIG = MemoryConfig(TensorMemoryLayout.INTERLEAVED, BufferType.L1)
L1_HEIGHT_SHARDED_MEMORY_CONFIG = MemoryConfig(TensorMemoryLayout.HEIGHT_SHARDED, BufferType.L1)
L1_WIDTH_SHARDED_MEMORY_CONFIG = MemoryConfig(TensorMemoryLayout.WIDTH_SHARDED, BufferType.L1)
L1_BLOCK_SHARDED_MEMORY_CONFIG = MemoryConfig(TensorMemoryLayout.BLOCK_SHARDED, BufferType.L1)


class Tile:
    def __init__(self, shape=(32, 32), transpose_tile=False):
        self.tile_shape = list(shape)
        self.transpose_tile = transpose_tile

    def get_tile_size(self, dtype):
        return self.tile_shape[0] * self.tile_shape[1] * _BYTES.get(dtype.value, 4)


class TensorSpec:
    def __init__(self, shape, dtype, layout, buffer_type=BufferType.DRAM, tile=None,
                 memory_config=None):
        self.shape, self.dtype, self.layout = Shape(shape), dtype, layout
        self.tile = tile or Tile()
        self.memory_config = memory_config or MemoryConfig(
            TensorMemoryLayout.INTERLEAVED, buffer_type
        )

    def _sharded(self, memory_layout, grid, orientation):
        rows, columns = _matrix(padded_shape(self.shape))
        shape = shard_shape_for(rows, columns, memory_layout, grid, orientation, round_up=True)
        self_spec = ShardSpec(grid, shape, orientation)
        config = MemoryConfig(memory_layout, BufferType.L1, self_spec)
        return TensorSpec(self.shape, self.dtype, self.layout, memory_config=config)

    def height_sharded(self, grid, orientation=ShardOrientation.ROW_MAJOR):
        return self._sharded(TensorMemoryLayout.HEIGHT_SHARDED, grid, orientation)

    def width_sharded(self, grid, orientation=ShardOrientation.ROW_MAJOR):
        return self._sharded(TensorMemoryLayout.WIDTH_SHARDED, grid, orientation)

    def block_sharded(self, grid, orientation=ShardOrientation.ROW_MAJOR):
        return self._sharded(TensorMemoryLayout.BLOCK_SHARDED, grid, orientation)


def _matrix(shape):
    dims = list(shape)
    return math.prod(dims[:-1]), dims[-1] if dims else 1


def shard_shape_for(rows, columns, memory_layout, grid, orientation, round_up=False):
    """Returns the part of a matrix that each core of a grid holds. Raises an error when it does not
    divide."""
    box = grid.bounding_box().grid_size() if isinstance(grid, CoreRangeSet) else grid
    cores = grid.num_cores() if isinstance(grid, CoreRangeSet) else grid.num_cores
    down = across = 1
    if memory_layout is TensorMemoryLayout.HEIGHT_SHARDED:
        down = cores
    elif memory_layout is TensorMemoryLayout.WIDTH_SHARDED:
        across = cores
    else:
        down, across = (box.y, box.x)
        if orientation is ShardOrientation.COL_MAJOR:
            down, across = across, down
    if round_up:
        down_rows, across_columns = -(-rows // down), -(-columns // across)
        return [-(-down_rows // 32) * 32, -(-across_columns // 32) * 32]
    if rows % down or columns % across:
        raise RuntimeError(
            f"cannot shard {rows}x{columns} over {down}x{across} cores: "
            "rows and columns must be multiples of the numbers of cores"
        )
    return [rows // down, columns // across]


_STRATEGY = {
    ShardStrategy.HEIGHT: TensorMemoryLayout.HEIGHT_SHARDED,
    ShardStrategy.WIDTH: TensorMemoryLayout.WIDTH_SHARDED,
    ShardStrategy.BLOCK: TensorMemoryLayout.BLOCK_SHARDED,
}


def create_sharded_memory_config(shape, core_grid, strategy, orientation=None,
                                 use_height_and_width_as_shard_shape=False, *, round_up=False):
    """Returns a memory configuration in L1 whose shards divide `shape` over the cores."""
    if not isinstance(core_grid, (CoreGrid, CoreRange, CoreRangeSet)):
        raise RuntimeError(f"Invalid core_grid type: {type(core_grid).__name__}")
    if not isinstance(strategy, ShardStrategy):
        raise RuntimeError("Invalid sharding strategy")
    orientation = orientation or ShardOrientation.ROW_MAJOR
    grid = _grid_set(core_grid)
    dims = list(shape)
    if use_height_and_width_as_shard_shape:
        part = [math.prod(dims[:-1]), dims[-1]]
    elif isinstance(core_grid, (CoreRange, CoreRangeSet)) and not round_up:
        raise RuntimeError(
            "height and width must be shard shape with CoreRangeSet: "
            "use_height_and_width_as_shard_shape=True"
        )
    else:
        rows, columns = _matrix(dims)
        part = shard_shape_for(rows, columns, _STRATEGY[strategy], grid, orientation, round_up)
    return MemoryConfig(_STRATEGY[strategy], BufferType.L1, ShardSpec(grid, part, orientation))


def create_sharded_memory_config_(shape, core_grid, strategy, orientation=None,
                                  use_height_and_width_as_shard_shape=False, tile_layout=False):
    """Returns the same as create_sharded_memory_config(), rounded up where the shape does not
    divide."""
    if not isinstance(strategy, ShardStrategy):
        strategy = {v: k for k, v in _STRATEGY.items()}[strategy]
    return create_sharded_memory_config(
        shape, core_grid, strategy, orientation, use_height_and_width_as_shard_shape, round_up=True
    )
