# SPDX-License-Identifier: Apache-2.0
"""Defines what devices are described with: dispatch, shapes of meshes, sub-devices, queues."""

import contextlib
import enum
import itertools

from ._session import session


DispatchCoreType = enum.Enum("DispatchCoreType", "WORKER ETH", start=0)
DispatchCoreAxis = enum.Enum("DispatchCoreAxis", "ROW COL", start=0)
FabricTensixConfig = enum.Enum("FabricTensixConfig", "DISABLED MUX", start=0)


class FabricConfig(enum.Enum):
    DISABLED = 0
    FABRIC_1D = 1
    FABRIC_1D_RING = 2
    FABRIC_2D = 3
    FABRIC_2D_TORUS = 4
    FABRIC_2D_DYNAMIC = 5
    CUSTOM = 6


FabricManagerMode = enum.Enum(
    "FabricManagerMode", "DEFAULT INIT_FABRIC TERMINATE_FABRIC ENABLED", start=0)
FabricUDMMode = enum.Enum("FabricUDMMode", "DISABLED ENABLED", start=0)
FabricReliabilityMode = enum.Enum(
    "FabricReliabilityMode", "STRICT_INIT RELAXED_INIT DYNAMIC_RECONFIGURATION_SETUP_MODE", start=0)


class FabricRouterConfig:
    """Says how large packets are; the emulated links take theirs from the chip's profile."""

    def __init__(self, max_packet_payload_size_bytes=None):
        self.max_packet_payload_size_bytes = max_packet_payload_size_bytes


class DispatchCoreConfig:
    """Says where dispatch runs: by default on ETH cores of a card with two chips, else on WORKER
    ones."""

    def __init__(self, type=None, axis=None, fabric_tensix_config=None):
        if type is not None and not isinstance(type, DispatchCoreType):
            raise ValueError(f"type must be a DispatchCoreType, not {type!r}")
        if axis is not None and not isinstance(axis, DispatchCoreAxis):
            raise ValueError(f"axis must be a DispatchCoreAxis, not {axis!r}")
        if type is None:
            on_eth = session.chip_name == "n300" and axis is not DispatchCoreAxis.COL
            type = DispatchCoreType.ETH if on_eth else DispatchCoreType.WORKER
        self.type, self.axis = type, axis or DispatchCoreAxis.ROW
        if type is DispatchCoreType.ETH and self.axis is DispatchCoreAxis.COL:
            raise ValueError("COL axis is not supported for ETH dispatch core type")


class MeshShape:
    def __init__(self, *dims):
        if len(dims) == 1 and not isinstance(dims[0], int):
            dims = tuple(dims[0])
        self._dims = tuple(int(d) for d in dims)

    def __iter__(self):
        return iter(self._dims)

    def __len__(self):
        return len(self._dims)

    def __getitem__(self, i):
        return self._dims[i]

    def __eq__(self, other):
        try:
            return self._dims == tuple(other)
        except TypeError:
            return NotImplemented

    def __hash__(self):
        return hash(self._dims)

    def __repr__(self):
        return f"MeshShape({list(self._dims)})"

    def mesh_size(self):
        size = 1
        for d in self._dims:
            size *= d
        return size

    def dims(self):
        return len(self._dims)


class MeshCoordinate(MeshShape):
    def __repr__(self):
        return f"MeshCoordinate({list(self._dims)})"


class MeshCoordinateRange:
    """Holds the coordinates from one to another; from one alone those of a mesh of this shape."""

    def __init__(self, start, end=None):
        if end is None:
            start, end = [0] * len(tuple(start)), [size - 1 for size in start]
        self.start, self.end = MeshCoordinate(start), MeshCoordinate(end)

    def __iter__(self):
        sides = (range(a, b + 1) for a, b in zip(self.start, self.end))
        return map(MeshCoordinate, itertools.product(*sides))

    def __contains__(self, coordinate):
        return coordinate in list(self)

    def shape(self):
        return MeshShape([b - a + 1 for a, b in zip(self.start, self.end)])

    def __eq__(self, other):
        return isinstance(other, MeshCoordinateRange) and list(self) == list(other)

    def __hash__(self):
        return hash((self.start, self.end))

    def __repr__(self):
        return f"MeshCoordinateRange(start={self.start}, end={self.end})"


class MeshCoordinateRangeSet:
    """Holds ranges of coordinates; those that one holds wholly are left out."""

    def __init__(self, given=None):
        self._ranges = []
        if given is not None:
            self.merge(given)

    def merge(self, given):
        inner = set(given)
        if not any(inner <= set(one) for one in self._ranges):
            self._ranges = [one for one in self._ranges if not set(one) <= inner] + [given]

    def ranges(self):
        return list(self._ranges)

    def coords(self):
        """Returns each coordinate once, in order."""
        return sorted({place for one in self._ranges for place in one}, key=tuple)

    def size(self):
        return len(self._ranges)

    def __iter__(self):
        return iter(self.coords())

    def __eq__(self, other):
        return isinstance(other, MeshCoordinateRangeSet) and self.coords() == other.coords()

    def __hash__(self):
        return hash(tuple(self.coords()))


class SubDeviceId:
    def __init__(self, n):
        self.id = int(n)

    def __eq__(self, other):
        return isinstance(other, SubDeviceId) and self.id == other.id

    def __hash__(self):
        return hash(self.id)

    def __repr__(self):
        return f"SubDeviceId({self.id})"


class SubDevice:
    def __init__(self, core_sets):
        self.core_sets = list(core_sets)


class MeshEvent:
    def __init__(self, device, number, queue):
        self.device, self.number, self.queue = device, number, queue


class MeshTraceId(int):
    pass


class Trace:
    """Holds what was recorded: how its values are computed again, and with the addresses that it reads
    and writes, the memory that was last there, and its cell."""

    def __init__(self, queue):
        self.queue = queue
        self.steps = []
        self.cells = {}
        self.size = 0  # of the region for traces


def queue_number(cq_id, device=None):
    """Returns 0, 1 or what the context manager has set."""
    if cq_id is None:
        return _current_queue[-1]
    return int(getattr(cq_id, "id", cq_id))


_current_queue = [0]


class QueueId(int):
    @property
    def id(self):
        return int(self)


@contextlib.contextmanager
def command_queue(cq_id):
    """Sends the calls within the block to this queue."""
    if cq_id is None:
        raise ValueError("cq_id cannot be None")
    _current_queue.append(int(cq_id))
    try:
        yield
    finally:
        _current_queue.pop()
