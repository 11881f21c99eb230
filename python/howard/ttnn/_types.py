# SPDX-License-Identifier: Apache-2.0
"""Defines what ttnn describes tensors, memory and cores with."""

import enum
import math


class DataType(enum.Enum):
    """The types, in the order of the numbers that ttnn has for them."""

    BFLOAT16 = "bfloat16"
    FLOAT32 = "float32"
    UINT32 = "uint32"
    BFLOAT8_B = "bfloat8_b"
    BFLOAT4_B = "bfloat4_b"
    UINT8 = "uint8"
    UINT16 = "uint16"
    INT32 = "int32"
    INVALID = "invalid"

    def __repr__(self):
        return f"DataType.{self.name}"

    def __index__(self):
        return self.index

    @property
    def whole(self):
        return self in _WHOLE

    @property
    def block(self):
        return self in (DataType.BFLOAT8_B, DataType.BFLOAT4_B)

    def number(self, given):
        """Returns a number as an operand of a tensor of this type: a whole one as an int, with the 32
        bits that the kernel gets."""
        number = float(given) if not isinstance(given, int) else given
        if not self.whole or number != number or number % 1 != 0:
            return float(number)
        number = int(number)
        if self is DataType.INT32:
            return (number + 2**31) % 2**32 - 2**31
        return number % 2**32 if self is DataType.UINT32 else number


_WHOLE = {DataType.UINT8, DataType.UINT16, DataType.INT32, DataType.UINT32}
_BYTES = {"uint8": 1, "uint16": 2, "bfloat16": 2, "bfloat8_b": 1, "bfloat4_b": 1}


for _index, _one in enumerate(DataType):
    # These are found faster than in a dictionary. No tensor has a type whose word is empty.
    setattr(_one, "chip", "" if _one is DataType.INVALID else _one.value)
    setattr(_one, "index", _index)


def _type_of_2026(name, value):
    """Makes a member of DataType that has its name in all years. Iterating over DataType, as scripts do
    that make a table of all types, finds it only after know_types_of_2026()."""
    made = object.__new__(DataType)
    for word, told in (("_name_", name), ("_value_", value), ("__objclass__", DataType),
                       ("chip", ""), ("index", len(DataType))):
        setattr(made, word, told)
    return made


FP8_E4M3 = _type_of_2026("FP8_E4M3", "fp8_e4m3")
type.__setattr__(DataType, "FP8_E4M3", FP8_E4M3)


def know_types_of_2026():
    """Makes the types of ttnn of 2026 members of DataType like all others."""
    if "FP8_E4M3" not in DataType.__members__:
        DataType._member_map_["FP8_E4M3"] = FP8_E4M3
        DataType._member_names_.append("FP8_E4M3")
        DataType._value2member_map_["fp8_e4m3"] = FP8_E4M3


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
    GRAYSKULL = 1  # No emulated box has it.
    WORMHOLE_B0 = 2
    BLACKHOLE = 3
    Invalid = 255


Topology = enum.Enum("Topology", "Linear Ring Mesh Torus", start=0)
ThrottleLevel = enum.Enum(
    "ThrottleLevel", "NO_THROTTLE LEVEL_1 LEVEL_2 LEVEL_3 LEVEL_4 LEVEL_5", start=0)
LossReductionMode = enum.Enum("LossReductionMode", "NONE SUM MEAN", start=0)
ReduceType = enum.Enum("ReduceType", "Sum Mean Max Min Std Var")
TileReshapeMapMode = enum.Enum("TileReshapeMapMode", "CACHE RECREATE", start=0)
EmbeddingsType = enum.Enum("EmbeddingsType", "GENERIC PADDED BINARY", start=0)


ShardShapeAlignment = enum.Enum("ShardShapeAlignment", "NONE RECOMMENDED REQUIRED", start=0)
UnpackToDestMode = enum.Enum("UnpackToDestMode", "UnpackToDestFp32 Default", start=0)


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
    """Returns the dimensions as tiles hold them: the last two, which there always are, are whole
    tiles."""
    dims = list(dims)
    dims = [1] * (2 - len(dims)) + dims
    for i in (-2, -1):
        dims[i] = -(-dims[i] // TILE_SIZE) * TILE_SIZE
    return Shape(dims)


def broadcast_shape(*shapes):
    """Returns the dimensions that operands are broadcast to. Raises ValueError where they do not
    fit."""
    made = []
    for dims in shapes:
        dims = tuple(dims)
        made = [1] * (len(dims) - len(made)) + made
        for i, size in enumerate(dims, len(made) - len(dims)):
            if size != made[i] and 1 not in (size, made[i]):
                raise ValueError(f"sizes {made[i]} and {size} are neither equal nor 1")
            made[i] = size if made[i] == 1 else made[i]
    return made


