# SPDX-License-Identifier: Apache-2.0
"""Defines what ttnn describes tensors, memory and cores with."""

import enum
import math


class DataType(enum.Enum):
    UINT8 = "uint8"
    UINT16 = "uint16"
    INT32 = "int32"
    UINT32 = "uint32"
    FLOAT32 = "float32"
    BFLOAT16 = "bfloat16"
    BFLOAT8_B = "bfloat8_b"
    BFLOAT4_B = "bfloat4_b"

    def __repr__(self):
        return f"DataType.{self.name}"

    @property
    def whole(self):
        return self in _WHOLE

    @property
    def block(self):
        return self in (DataType.BFLOAT8_B, DataType.BFLOAT4_B)


_WHOLE = {DataType.UINT8, DataType.UINT16, DataType.INT32, DataType.UINT32}
_BYTES = {"uint8": 1, "uint16": 2, "bfloat16": 2, "bfloat8_b": 1, "bfloat4_b": 1}
# The emulated chip takes this for it, of as many bytes, where it has such a type.
CHIP_TYPE = {
    DataType.UINT8: "bfloat16",
    DataType.UINT16: "bfloat16",
    DataType.INT32: "float32",
    DataType.UINT32: "uint32",
    DataType.FLOAT32: "float32",
    DataType.BFLOAT16: "bfloat16",
    DataType.BFLOAT8_B: "bfloat8_b",
    DataType.BFLOAT4_B: "bfloat4_b",
}


for _one in DataType:
    _one.chip = CHIP_TYPE[_one]  # It is found faster than in a dictionary.


Layout = enum.Enum("Layout", "ROW_MAJOR TILE", start=0)
BufferType = enum.Enum("BufferType", "DRAM L1 SYSTEM_MEMORY L1_SMALL TRACE", start=0)


class TensorMemoryLayout(enum.Enum):
    INTERLEAVED = 0
    HEIGHT_SHARDED = 2
    WIDTH_SHARDED = 3
    BLOCK_SHARDED = 4
    ND_SHARDED = 5


ShardOrientation = enum.Enum("ShardOrientation", "ROW_MAJOR COL_MAJOR", start=0)
ShardStrategy = enum.Enum("ShardStrategy", "HEIGHT WIDTH BLOCK")
ShardMode = enum.Enum("ShardMode", "PHYSICAL LOGICAL", start=0)
ShardDistributionStrategy = enum.Enum(
    "ShardDistributionStrategy", "ROUND_ROBIN_1D GRID_2D", start=0)
StorageType = enum.Enum("StorageType", "HOST DEVICE", start=0)


class MathFidelity(enum.Enum):
    LoFi = 0
    HiFi2 = 2
    HiFi3 = 3
    HiFi4 = 4
    Invalid = 255


class Arch(enum.Enum):
    WORMHOLE_B0 = 2
    BLACKHOLE = 3
    Invalid = 255


Topology = enum.Enum("Topology", "Linear Ring Mesh Torus", start=0)
ThrottleLevel = enum.Enum(
    "ThrottleLevel", "NO_THROTTLE LEVEL_1 LEVEL_2 LEVEL_3 LEVEL_4 LEVEL_5", start=0)
LossReductionMode = enum.Enum("LossReductionMode", "NONE SUM MEAN", start=0)
ReduceType = enum.Enum("ReduceType", "Sum Mean Max Min Std Var")
EmbeddingsType = enum.Enum("EmbeddingsType", "GENERIC PADDED BINARY", start=0)


class VecMode(enum.Enum):
    R = 1
    C = 2
    RC = 4


class Shape:
    """Holds the dimensions of a tensor; it is equal to a list or tuple of the same numbers."""

    __slots__ = ("_dims", "_chip")

    def __init__(self, dims=()):
        self._dims = dims if type(dims) is tuple else tuple([int(d) for d in dims])
        self._chip = None

    def __len__(self):
        return len(self._dims)

    def __iter__(self):
        return iter(self._dims)

    def __getitem__(self, index):
        item = self._dims[index]
        return Shape(item) if isinstance(index, slice) else item

    def __eq__(self, other):
        try:
            return self._dims == tuple(other)
        except TypeError:
            return NotImplemented

    def __hash__(self):
        return hash(self._dims)

    def __add__(self, other):
        return list(self._dims) + list(other)

    def __repr__(self):
        return f"Shape({list(self._dims)})"

    @property
    def rank(self):
        return len(self._dims)

    def to_rank(self, rank):
        return Shape((1,) * (rank - len(self._dims)) + self._dims[max(0, len(self._dims) - rank) :])

    def volume(self):
        return math.prod(self._dims)

    def chip(self):
        """Returns four dimensions for the chip: leading ones are joined."""
        if self._chip is None:
            self._chip = chip_shape(self._dims)
        return self._chip

    def with_tile_padding(self):
        return padded_shape(self._dims)


TILE_SIZE = 32


def chip_shape(dims):
    """Returns four dimensions for the chip: leading ones are joined, and those of 0 are 1."""
    if type(dims) is Shape:
        return dims.chip()
    dims = [d if d > 0 else 1 for d in dims]
    if len(dims) <= 4:
        return (1,) * (4 - len(dims)) + tuple(dims)
    return (math.prod(dims[:-3]), *dims[-3:])


def padded_shape(dims):
    """Returns the dimensions as tiles hold them: the last two are whole tiles."""
    dims = list(dims)
    for i in range(max(0, len(dims) - 2), len(dims)):
        dims[i] = -(-dims[i] // TILE_SIZE) * TILE_SIZE
    return Shape(dims)


class CoreCoord:
    def __init__(self, x, y):
        self.x, self.y = int(x), int(y)

    def __eq__(self, other):
        return isinstance(other, CoreCoord) and (self.x, self.y) == (other.x, other.y)

    def __hash__(self):
        return hash((self.x, self.y))

    def __iter__(self):
        return iter((self.x, self.y))

    def __repr__(self):
        return f"(x={self.x},y={self.y})"

    def str(self):
        return repr(self)


class CoreGrid:
    def __init__(self, *, x, y):
        self.x, self.y = int(x), int(y)

    @property
    def num_cores(self):
        return self.x * self.y

    def __eq__(self, other):
        return isinstance(other, CoreGrid) and (self.x, self.y) == (other.x, other.y)

    def __hash__(self):
        return hash((self.x, self.y))

    def __repr__(self):
        return f"ttnn.CoreGrid(x={self.x}, y={self.y})"


def _coord(core):
    return core if isinstance(core, CoreCoord) else CoreCoord(*core)


class CoreRange:
    def __init__(self, start, end=None):
        self.start = _coord(start)
        self.end = _coord(end if end is not None else start)

    def size(self):
        return (self.end.x - self.start.x + 1) * (self.end.y - self.start.y + 1)

    def grid_size(self):
        return CoreCoord(self.end.x - self.start.x + 1, self.end.y - self.start.y + 1)

    def contains(self, core):
        core = _coord(core)
        return self.start.x <= core.x <= self.end.x and self.start.y <= core.y <= self.end.y

    def __eq__(self, other):
        return isinstance(other, CoreRange) and (self.start, self.end) == (other.start, other.end)

    def __hash__(self):
        return hash((self.start, self.end))

    def __repr__(self):
        return f"[{self.start!r} - {self.end!r}]"


class CoreRangeSet:
    def __init__(self, ranges=()):
        if isinstance(ranges, CoreRange):
            ranges = [ranges]
        self._ranges = sorted(
            set(ranges), key=lambda r: (r.start.y, r.start.x, r.end.y, r.end.x)
        )

    def num_cores(self):
        return sum(r.size() for r in self._ranges)

    def ranges(self):
        return list(self._ranges)

    def size(self):
        return len(self._ranges)

    def empty(self):
        return not self._ranges

    def bounding_box(self):
        return CoreRange(
            CoreCoord(min(r.start.x for r in self._ranges), min(r.start.y for r in self._ranges)),
            CoreCoord(max(r.end.x for r in self._ranges), max(r.end.y for r in self._ranges)),
        )

    def cores(self):
        return [
            CoreCoord(x, y)
            for r in self._ranges
            for y in range(r.start.y, r.end.y + 1)
            for x in range(r.start.x, r.end.x + 1)
        ]

    def contains(self, what):
        inner = what.ranges() if isinstance(what, CoreRangeSet) else [what]
        own = {(c.x, c.y) for c in self.cores()}
        for part in inner:
            cores = CoreRangeSet(part).cores() if isinstance(part, CoreRange) else [_coord(part)]
            if any((c.x, c.y) not in own for c in cores):
                return False
        return True

    def merge(self, other):
        return CoreRangeSet(self._ranges + CoreRangeSet(other).ranges()
                            if not isinstance(other, CoreRangeSet)
                            else self._ranges + other.ranges())

    def subtract(self, other):
        gone = {(c.x, c.y) for c in other.cores()}
        return CoreRangeSet([CoreRange(c, c) for c in self.cores() if (c.x, c.y) not in gone])

    def __eq__(self, other):
        return isinstance(other, CoreRangeSet) and self._ranges == other._ranges

    def __hash__(self):
        return hash(tuple(self._ranges))

    def __repr__(self):
        return "{" + ", ".join(map(repr, self._ranges)) + "}"


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
    in DRAM, or names no shards. Rows and columns of shards are dealt out over so many cores,
    wherever these are; blocks over the grid that holds them."""
    spec = config.shard_spec
    layout = _CHIP_LAYOUTS.get(config.memory_layout)
    if spec is None or layout is None or config.buffer_type is not BufferType.L1:
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


def _grid_set(grid):
    if isinstance(grid, CoreRangeSet):
        return grid
    if isinstance(grid, CoreRange):
        return CoreRangeSet([grid])
    return CoreRangeSet([CoreRange(CoreCoord(0, 0), CoreCoord(grid.x - 1, grid.y - 1))])


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


def num_cores_to_corerangeset(target, grid, row_wise=False):
    """Returns the first `target` cores of a grid, along its rows or its columns."""
    cores = [
        CoreCoord(x, y) for y in range(grid.y) for x in range(grid.x)
    ] if row_wise else [CoreCoord(x, y) for x in range(grid.x) for y in range(grid.y)]
    if target > len(cores):
        raise RuntimeError(f"{target} cores do not fit a grid of {grid.x}x{grid.y}")
    return CoreRangeSet([CoreRange(c, c) for c in cores[:target]])


def corerange_to_cores(cores, max_cores=None, row_wise=False):
    found = cores.cores() if isinstance(cores, CoreRangeSet) else CoreRangeSet(cores).cores()
    found.sort(key=lambda c: (c.y, c.x) if row_wise else (c.x, c.y))
    return found[:max_cores]


def grid_to_cores(num_cores, grid_x, grid_y, row_wise=False):
    return num_cores_to_corerangeset(num_cores, CoreGrid(x=grid_x, y=grid_y), row_wise).cores()
