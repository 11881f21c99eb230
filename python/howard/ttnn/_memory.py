# SPDX-License-Identifier: Apache-2.0
"""Defines where tensors lie: shards, memory configurations, specifications."""

import math

from ._cores import CoreGrid, CoreRange, CoreRangeSet, _grid_set
from ._types import (
    _BYTES,
    BufferType,
    DataType,
    Layout,
    Shape,
    ShardDistributionStrategy,
    ShardMode,
    ShardOrientation,
    ShardStrategy,
    TensorMemoryLayout,
    padded_shape,
)


class ShardSpec:
    def __init__(self, grid, shard_shape, shard_orientation=ShardOrientation.ROW_MAJOR,
                 shard_mode=ShardMode.PHYSICAL):
        self.grid, self.shape = grid, list(shard_shape)
        self.orientation, self.mode = shard_orientation, shard_mode

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
        shape = ", ".join(map(str, self.shape))
        return (f"ShardSpec(grid={self.grid!r},shape={{{shape}}},"
                f"orientation=ShardOrientation::{self.orientation.name})")


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

    def plain(self):
        """Returns the configuration as texts and numbers, for files."""
        spec = self.shard_spec or self.nd_shard_spec
        return {"layout": self.memory_layout.name, "buffer": self.buffer_type.name, "shards": spec and [
            [[*one.start, *one.end] for one in spec.grid.ranges()],
            list(getattr(spec, "shape", None) or spec.shard_shape), spec.orientation.name,
            self.shard_spec is None]}

    @staticmethod
    def of_plain(plain):
        """Returns what plain() has written; None for None."""
        if plain is None:
            return None
        spec = None
        if plain["shards"]:
            ranges, shape, orientation, many = plain["shards"]
            grid = CoreRangeSet([CoreRange((a, b), (c, d)) for a, b, c, d in ranges])
            spec = (NdShardSpec(shape, grid, ShardOrientation[orientation]) if many else
                    ShardSpec(grid, shape, ShardOrientation[orientation]))
        return MemoryConfig(TensorMemoryLayout[plain["layout"]], BufferType[plain["buffer"]], spec)

    def _key(self):
        return (self.memory_layout, self.buffer_type, self.shard_spec, self.nd_shard_spec)

    def __eq__(self, other):
        return isinstance(other, MemoryConfig) and self._key() == other._key()

    def __hash__(self):
        return hash(self._key())

    def __repr__(self):
        spec = "std::nullopt" if self.shard_spec is None else self.shard_spec
        return (f"MemoryConfig(memory_layout=TensorMemoryLayout::{self.memory_layout.name},"
                f"buffer_type=BufferType::{self.buffer_type.name},shard_spec={spec})")


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


_TILES = {(32, 32), (32, 16)} | {(rows, columns) for rows in (1, 2, 4, 8, 16) for columns in (16, 32)}


class Tile:
    """Says how many rows and columns a tile has. The chip's kernels take a small one as long as a whole
    one, and here it has the memory of one."""

    def __init__(self, shape=(32, 32), transpose_tile=False):
        self.tile_shape = list(shape)
        self.transpose_tile = transpose_tile
        if tuple(self.tile_shape) not in _TILES:
            raise RuntimeError(f"TT_THROW: Tile size is not valid for our hardware: {self.tile_shape}")

    def __eq__(self, other):
        return isinstance(other, Tile) and self.tile_shape == other.tile_shape

    def __hash__(self):
        return hash(tuple(self.tile_shape))

    def __repr__(self):
        return f"Tile with shape: {self.tile_shape}"

    def is_small(self):
        return self.tile_shape != [32, 32]

    def padded(self, shape):
        """Returns the shape with its last rows and columns of these tiles filled."""
        dims = [1] * (2 - len(shape)) + list(shape)
        for i, size in zip((-2, -1), self.tile_shape):
            dims[i] = -(-dims[i] // size) * size
        return Shape(dims)

    def grown(self, shape):
        """Returns the shape that has as many whole tiles as this one has of these."""
        dims = self.padded(shape)
        return Shape([*dims[:-2], *(dims[i] // size * 32 for i, size in zip((-2, -1), self.tile_shape))])

    def grown_config(self, config):
        """Returns the configuration with the shards of grown()."""
        if config is None or config.shard_spec is None:
            return config
        spec = config.shard_spec
        return config.with_shard_spec(ShardSpec(spec.grid, list(self.grown(spec.shape)), spec.orientation))

    def get_tile_size(self, dtype):
        """Returns the bytes of a tile; a block type has an exponent for 16 numbers."""
        size = self.tile_shape[0] * self.tile_shape[1]
        if dtype.block:
            return size // (2 if dtype is DataType.BFLOAT4_B else 1) + size // 16
        return size * _BYTES.get(dtype.value, 4)


class TensorSpec:
    def __init__(self, shape, dtype, layout, *where, tile=None, memory_config=None, **told):
        """`where` is a configuration of memory, or what one is made of; a tile may be among it."""
        self.shape, self.dtype, self.layout = Shape(shape), dtype, layout
        tiles = [one for one in where if isinstance(one, Tile)]
        self.tile = tile or (tiles or [Tile()])[0]
        given = [one for one in where if isinstance(one, MemoryConfig)]
        self.memory_config = memory_config or (given[0] if given else MemoryConfig(
            *[one for one in where if not isinstance(one, Tile)], **told))

    def __eq__(self, other):
        return isinstance(other, TensorSpec) and (
            self.shape, self.dtype, self.layout, self.memory_config, self.tile) == (
            other.shape, other.dtype, other.layout, other.memory_config, other.tile)

    def __hash__(self):
        return hash((self.shape, self.dtype, self.layout))

    def __repr__(self):
        return (f"TensorSpec(shape={self.shape}, dtype={self.dtype}, layout={self.layout}, "
                f"memory_config={self.memory_config})")

    def _sharded(self, memory_layout, grid, orientation):
        rows, columns = _matrix(padded_shape(self.shape))
        shape = shard_shape_for(rows, columns, memory_layout, grid, orientation, round_up=True)
        self_spec = ShardSpec(grid, shape, orientation)
        buffer = self.memory_config.buffer_type
        config = MemoryConfig(memory_layout, buffer, self_spec)
        return TensorSpec(self.shape, self.dtype, self.layout, memory_config=config)

    def height_sharded(self, grid, orientation=ShardOrientation.ROW_MAJOR):
        return self._sharded(TensorMemoryLayout.HEIGHT_SHARDED, grid, orientation)

    def sharded_across_dims(self, dims, grid, orientation=ShardOrientation.ROW_MAJOR):
        """Cuts these dimensions into single places, or tiles."""
        rank = len(self.shape)
        cut = {dim % rank for dim in dims}
        return self.sharded([1 if i in cut else size
                             for i, size in enumerate(self._padded())], grid, orientation)

    def sharded_across_dims_except(self, dims, grid, orientation=ShardOrientation.ROW_MAJOR):
        """Cuts all other dimensions into single places, or tiles."""
        kept = {dim % len(self.shape) for dim in dims}
        return self.sharded_across_dims([i for i in range(len(self.shape)) if i not in kept], grid,
                                        orientation)

    def sharded(self, shard_shape, *args, **kwargs):
        """Returns the specification with shards of this shape, which tiles round up, or of a
        NdShardSpec."""
        if isinstance(shard_shape, NdShardSpec):
            spec = shard_shape
        else:
            orders = [one for one in args if isinstance(one, (ShardOrientation,
                                                              ShardDistributionStrategy))]
            told = {"grid": kwargs.get("core_ranges", kwargs.get("grid", args[0] if args else None))}
            for one in [*orders, kwargs.get("orientation"), kwargs.get("distribution_strategy")]:
                if isinstance(one, ShardOrientation):
                    told["orientation"] = one
                elif one is not None:
                    told["shard_distribution_strategy"] = one
            shape = list(shard_shape)
            if self.layout is Layout.TILE:
                shape[-2:] = list(self.tile.padded(shape))[-2:]
            spec = NdShardSpec(shape, **told)
        return TensorSpec(self.shape, self.dtype, self.layout, memory_config=MemoryConfig(
            self.memory_config.buffer_type, spec))

    def _padded(self):
        return self.tile.padded(self.shape) if self.layout is Layout.TILE else self.shape

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
            f"Invalid sharding core_grid: cannot shard {rows}x{columns} over {down}x{across} cores: "
            "rows and columns must be multiples of the numbers of cores"
        )
    return [rows // down, columns // across]


_STRATEGY = {
    ShardStrategy.HEIGHT: TensorMemoryLayout.HEIGHT_SHARDED,
    ShardStrategy.WIDTH: TensorMemoryLayout.WIDTH_SHARDED,
    ShardStrategy.BLOCK: TensorMemoryLayout.BLOCK_SHARDED,
}


def _dims_of(shape):
    if not isinstance(shape, (list, tuple, Shape)) or not len(shape):
        raise RuntimeError(f"Invalid input shape: {shape!r}")
    return [1] * (2 - len(shape)) + list(shape)


def _grid_of(core_grid):
    """Returns the cores of a grid, of a set, or of two grids one below the other."""
    if isinstance(core_grid, (CoreGrid, CoreRange, CoreRangeSet)):
        return _grid_set(core_grid)
    if isinstance(core_grid, (list, tuple)) and len(core_grid) == 2 and all(
            isinstance(one, CoreGrid) for one in core_grid):
        first, second = core_grid
        return CoreRangeSet([CoreRange((0, 0), (first.x - 1, first.y - 1)),
                             CoreRange((0, first.y), (second.x - 1, first.y))])
    raise RuntimeError(f"Invalid core_grid type: {type(core_grid).__name__}")


def _layout_of(strategy, also=()):
    if isinstance(strategy, ShardStrategy):
        return _STRATEGY[strategy]
    if strategy in also:
        return strategy
    raise RuntimeError(f"Invalid sharding strategy: {strategy!r}")


def _orientation_of(orientation):
    if orientation is None:
        return ShardOrientation.ROW_MAJOR
    if not isinstance(orientation, ShardOrientation):
        raise RuntimeError(f"Invalid shard orientation: {orientation!r}")
    return orientation


def create_sharded_memory_config(shape, core_grid, strategy, orientation=None,
                                 use_height_and_width_as_shard_shape=False):
    """Returns a memory configuration in L1 whose shards divide `shape` over the cores, or have its
    last two dimensions, in the other order where they go down the columns of cores."""
    dims, grid = _dims_of(shape), _grid_of(core_grid)
    layout, orientation = _layout_of(strategy), _orientation_of(orientation)
    if use_height_and_width_as_shard_shape:
        down = orientation is ShardOrientation.COL_MAJOR
        part = [dims[-1], dims[-2]] if down else [dims[-2], dims[-1]]
    elif not isinstance(core_grid, CoreGrid):
        raise RuntimeError(
            "height and width must be shard shape with CoreRangeSet: "
            "use_height_and_width_as_shard_shape=True"
        )
    else:
        part = shard_shape_for(*_matrix(dims), layout, grid, orientation)
    return MemoryConfig(layout, BufferType.L1, ShardSpec(grid, part, orientation))


def create_sharded_memory_config_(shape, core_grid, strategy, orientation,
                                  use_height_and_width_as_shard_shape=False, tile_layout=False):
    """Returns the same as create_sharded_memory_config(), rounded up where the shape does not
    divide; to tiles with tile_layout."""
    if not isinstance(orientation, ShardOrientation):
        raise RuntimeError(f"Invalid type of shard orientation: {orientation!r}")
    dims, grid = _dims_of(shape), _grid_of(core_grid)
    layout = _layout_of(strategy, _STRATEGY.values())
    if tile_layout and dims[-1] % 32 and dims[-2] % 32:
        raise RuntimeError(f"Incorrect tensor shape: {dims} has no side of whole tiles")
    if use_height_and_width_as_shard_shape:
        part = [dims[-2], dims[-1]]
    else:
        part = _rounded_shard(*_matrix(dims), layout, grid, orientation, tile_layout)
    return MemoryConfig(layout, BufferType.L1, ShardSpec(grid, part, orientation))


def _rounded_shard(rows, columns, layout, grid, orientation, tile_layout):
    """Returns the part of a matrix that each core holds, rounded up."""
    cores = grid.num_cores()
    if layout is TensorMemoryLayout.HEIGHT_SHARDED:
        return [-(-rows // cores), columns]
    if layout is TensorMemoryLayout.WIDTH_SHARDED:
        return [rows, -(-columns // cores)]
    box = grid.bounding_box()
    if box.size() != cores:
        raise RuntimeError(f"Invalid CoreRangeSet for block sharding strategy: {grid} is no rectangle")
    size = box.grid_size()
    down, across = (size.x, size.y) if orientation is ShardOrientation.COL_MAJOR else (size.y, size.x)
    each = down * 32 if tile_layout else down
    return [-(-rows // each) * each // down, -(-columns // across)]
