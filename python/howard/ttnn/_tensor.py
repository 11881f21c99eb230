# SPDX-License-Identifier: Apache-2.0
"""Implements tensors: a shape, what it means, and memory that several of them may share."""

import itertools
import math
import sys
import threading
import warnings
import weakref

from howard import _native

from . import _arrays as arrays
from ._addresses import L1_TOP, MOST_NOTES
from ._device import require_no_capture
from ._dispatch import queue_number
from ._session import session
from ._memory import DRAM_MEMORY_CONFIG, MemoryConfig, TensorSpec, Tile, chip_shards
from ._types import (
    BufferType,
    DataType,
    Layout,
    Shape,
    StorageType,
    TensorMemoryLayout,
    chip_shape,
    padded_shape,
)


class Cell:
    """Holds the values of a piece of memory, one array for each device; None where there are
    none. Of few whole numbers the largest is known without them, because the time of a decoding
    step depends on its place."""

    __slots__ = ("shards", "padding", "_largest")

    def __init__(self, shards):
        self.shards = shards
        self.padding = 0.0  # What lies behind the last row and column of tiles.
        self._largest = None

    @property
    def largest(self):
        if self.shards is not None:
            if not self.shards[0].size or self.shards[0].dtype.kind == "f":
                return None
            return int(self.shards[0].max())
        return self._largest

    @largest.setter
    def largest(self, number):
        self._largest = number


_warned = threading.local()


def _warn_of_traces():
    """Says once in each thread what ttnn says about memory that is taken while a trace is kept."""
    if not getattr(_warned, "of_traces", False):
        _warned.of_traces = True
        warnings.warn("Allocating device buffers is unsafe due to the existence of an active trace. "
                      "These buffers may be corrupted once a trace is executed.", RuntimeWarning)


class Blank:
    """Stands for an array where no values are kept: a shape, and no memory."""

    __slots__ = ("shape", "size")

    def __init__(self, shape):
        self.shape = tuple(int(d) for d in shape)
        self.size = math.prod(self.shape)


def require_taken(dtype):
    """Raises an error for a type that no tensor has here."""
    if not dtype.chip:
        raise RuntimeError(f"TT_FATAL: {dtype}: no tensor takes it here; accepted: "
                           + ", ".join(one.name for one in DataType if one.chip))


WATCHER = [None]  # of memory that is taken or freed, while a graph is captured


class Storage:
    """Holds memory on a device, or on the host, which is freed with the last tensor that has it."""

    __slots__ = ("cell", "device", "number", "views", "in_l1", "spec", "shape", "tile", "__weakref__")

    def __init__(self, cell, device=None, shape=None, dtype=None, layout=None, config=None):
        self.cell, self.device = cell, device
        self.number, self.views, self.in_l1, self.spec, self.shape = None, None, False, None, None
        self.tile = None  # What its tiles are, where they are small.
        if device is None:
            return
        device.require_open()
        self.in_l1 = config.buffer_type in (BufferType.L1, BufferType.L1_SMALL)
        self.shape = shape
        self.spec = (chip_shape(shape), dtype.chip, layout is Layout.ROW_MAJOR, self.in_l1,
                     _legal_shards(config, shape, dtype, layout))
        if self.in_l1 and self.spec[4] is not None:
            last, size = config.shard_spec.grid.bounding_box().end, device.compute_with_storage_grid_size()
            if last.x >= size.x or last.y >= size.y:
                raise RuntimeError(f"TT_THROW: No L1 bank exists for core {last}: the device has {size.x}x"
                                   f"{size.y} cores that compute")
        try:
            self.number = device.chip.make(*self.spec)
        except _native.Error as failure:
            require_taken(dtype)
            raise _out_of_memory(failure, self.in_l1) from None
        if device.traces and device.capture is None:
            _warn_of_traces()
        device.storages[self.number] = weakref.ref(self)
        notes = device.notes
        notes.append((self.number, self.spec))
        if len(notes) > MOST_NOTES:
            device.addresses.shorten()
        if self.in_l1 and device.l1_floor and self.address() < device.l1_floor:
            self.release()
            raise _out_of_memory(f"worker_l1_size leaves {L1_TOP - device.l1_floor} bytes of a core to "
                                 "tensors", True)
        if WATCHER[0] is not None:
            WATCHER[0](self, self.number, True)

    is_part = False  # It is what one device of a mesh has.

    def view(self, shape, dtype, row_major):
        """Returns the number of this memory under another shape, which shards that are not for it
        leave."""
        shards = self.spec[4]
        if shards is not None and _fault_of((shape, dtype, row_major, shards)):
            shards = None
        spec = (shape, dtype, row_major, self.in_l1, shards)
        if spec == self.spec:
            return self.number
        key = (shape, dtype, row_major)
        if self.views is None:
            self.views = {}
        found = self.views.get(key)
        if found is None:
            found = self.views[key] = self.device.chip.view(self.number, *spec)
        return found

    def padded_bytes(self):
        rows = -(-self.spec[0][2] // 32) * 32
        columns = -(-self.spec[0][3] // 32) * 32
        width = {"float32": 4, "uint32": 4, "int32": 4, "uint8": 1}.get(self.spec[1], 2)
        return self.spec[0][0] * self.spec[0][1] * rows * columns * width

    def address(self):
        """Returns where it lies within each bank."""
        return self.device.addresses.of(self.number)

    @property
    def alive(self):
        return self.device is None or self.number is not None

    def release(self):
        number, self.number = self.number, None
        if number is not None:
            if WATCHER[0] is not None:
                WATCHER[0](self, number, False)
            self.device.storages.pop(number, None)
            self.device.notes.append(number)
            self.device.chip.release(number)

    def __del__(self):
        try:
            self.release()
        except Exception:  # The interpreter ends, or the process is a fork.
            pass


_faults = {}


def shard_fault(config, shape, dtype, layout):
    """Returns what is wrong with the shards of such a tensor, in ttnn's words; None if nothing
    is."""
    shards = chip_shards(config)
    if shards is None:
        return None
    return _fault_of((chip_shape(shape), dtype.chip, layout is Layout.ROW_MAJOR, shards))


def _fault_of(spec):
    if spec not in _faults:
        _faults[spec] = _native._ttnn.shard_fault(*spec)
    return _faults[spec]


def _legal_shards(config, shape, dtype, layout):
    """Returns the shards on the chip. A result that takes its operand's configuration can have
    another shape than that is for: it is interleaved there."""
    if config.memory_layout is TensorMemoryLayout.INTERLEAVED:
        return None
    return None if shard_fault(config, shape, dtype, layout) else chip_shards(config)


def _out_of_memory(failure, in_l1):
    kind = "L1" if in_l1 else "DRAM"
    return RuntimeError(
        f"TT_FATAL: Out of Memory: Not enough space to allocate a {kind} buffer across banks\n"
        f"info:\n{failure}"
    )


_numbers = itertools.count(1)


def new_tensor_number():
    """Returns the number of a tensor that is none of ours, such as one of a golden function."""
    return next(_numbers)


class Tensor:
    """Describes memory: a shape, a type, a layout. What ops do with it, _methods.py adds."""

    __slots__ = ("_shape", "_dtype", "_layout", "_config", "_storage", "_device", "_topology",
                 "_whole", "_number", "__weakref__")

    @staticmethod
    def _make(shape, dtype, layout, config, storage, device, topology=None):
        self = Tensor.__new__(Tensor)
        self._shape = shape if isinstance(shape, Shape) else Shape(shape)
        self._dtype, self._layout, self._config = dtype, layout, config
        self._storage, self._device, self._topology = storage, device, topology
        self._whole = None  # The shape with padding, where it is not that of whole tiles or rows.
        return self

    # What it is.

    @property
    def shape(self):
        return self._shape

    @property
    def padded_shape(self):
        if self._whole is not None:
            return self._whole
        if self._layout is not Layout.TILE:
            return self._shape
        tile = self._storage.tile
        return padded_shape(self._shape) if tile is None else tile.padded(self._shape)

    @property
    def dtype(self):
        return self._dtype

    @property
    def layout(self):
        return self._layout

    @property
    def tile(self):
        return self._storage.tile or Tile()

    @property
    def spec(self):
        return TensorSpec(self._shape, self._dtype, self._layout, memory_config=self._config, tile=self.tile)

    @property
    def tensor_id(self):
        """Returns a number that no other tensor has, from the first time that it is asked for."""
        try:
            return self._number
        except AttributeError:
            self._number = next(_numbers)
            return self._number

    @property
    def rank(self):
        return len(self._shape)

    def get_dtype(self):
        return self._dtype

    def get_layout(self):
        return self._layout

    def get_tile(self):
        return self.tile

    def device(self):
        return self._device

    def mesh_device(self):
        return self._device

    def devices(self):
        return [self._device] if self._device else []

    def memory_config(self):
        return self._config

    def storage_type(self):
        return StorageType.HOST if self._device is None else StorageType.DEVICE

    def is_sharded(self):
        return self._device is not None and self._config.is_sharded()

    def is_allocated(self):
        return self._storage.alive

    def shard_spec(self):
        return self._config.shard_spec

    def nd_shard_spec(self):
        return self._config.nd_shard_spec

    def buffer_address(self):
        self._require_memory()
        return self._storage.address()

    def volume(self):
        return self.padded_shape.volume()

    def logical_volume(self):
        return self._shape.volume()

    physical_volume = volume

    def element_size(self):
        return {"uint8": 1, "uint16": 2, "bfloat16": 2}.get(self._dtype.value, 4)

    def tensor_topology(self):
        return self._topology

    def get_tensor_topology(self):
        return self._topology

    # Values. `array()` has the tensor's shape.

    def _require_memory(self):
        if not self._storage.alive:
            raise RuntimeError(
                "TT_FATAL: Buffer is not allocated: the tensor was deallocated, or its device was "
                "closed"
            )

    def shards(self):
        """Returns the values on each device; zeros where none are kept."""
        found = self._storage.cell.shards
        dims = tuple(self._shape)
        if found is None:
            return [arrays.full(dims, 0.0, self._dtype.whole)] * self.num_shards()
        return [a if a.shape == dims else a.reshape(dims) for a in found]

    def kept_shards(self):
        """Returns the same as shards(), but shapes only where no values are kept."""
        if session.values:
            return self.shards()
        return [Blank(self._shape)] * self.num_shards()

    def array(self):
        return self.shards()[0]

    def num_shards(self):
        found = self._storage.cell.shards
        if found is not None:
            return len(found)
        return self._device.get_num_devices() if self._device and not self._storage.is_part else 1

    def blocking_read(self, cq_id=None):
        """Waits until it is computed and brought to the host."""
        self._require_memory()
        if self._device is None:
            return
        self._device.require_open()
        require_no_capture(self._device, "read a tensor")
        self._device.chip.read(self._storage.number, queue_number(cq_id))

    def item(self):
        if self._shape.volume() != 1:
            raise RuntimeError(f"item() is for tensors of one element, not of {self._shape}")
        self.blocking_read()
        value = self.array().item(0)
        return int(value) % 2**32 if self._dtype is DataType.UINT32 else value

    def deallocate(self, force=False):
        """Frees the memory; unless it is forced, only where no other tensor shares it."""
        alone = sys.getrefcount(self._storage) <= 2  # This tensor's, and the argument's.
        if self._storage.device is not None and (force or alone):
            self._storage.release()

    def extract_shard(self, core):
        raise RuntimeError(f"extract_shard({core}): shards of one core are not kept apart on this "
                           "device")


def host_tensor(shards, dtype, layout=Layout.ROW_MAJOR, shape=None, topology=None, config=None, tile=None):
    """Returns a tensor on the host, of values as they are; `config` is where it lies once it is
    written to a device."""
    shape = shape if shape is not None else (shards[0].shape if shards else ())
    storage = Storage(Cell(shards if session.values else None))
    if tile is not None and tile.is_small() and layout is Layout.TILE:
        storage.tile = tile
    return Tensor._make(shape, dtype, layout, config or MemoryConfig(), storage, None, topology)


def device_tensor(shape, dtype, layout, config, device, shards=None, topology=None, tile=None,
                  counted=None):
    """Returns a tensor in memory on a device; its values come later, or are given. Of small tiles it has
    the memory of as many whole ones, or of those of `counted`."""
    config = config or DRAM_MEMORY_CONFIG
    shape = shape if type(shape) is Shape else Shape(shape)
    counted = counted or tile
    if counted is not None and layout is Layout.TILE and (counted.is_small() or tile.is_small()):
        storage = Storage(Cell(shards), device, counted.grown(shape), dtype, layout, counted.grown_config(config))
        storage.tile = tile
    else:
        storage = Storage(Cell(shards), device, shape, dtype, layout, config)
    if device.traces and device.values:
        found = device.cell_of(storage, shape, dtype)
        if found is not None:
            storage.cell, found.padding = found, 0.0
            if shards is not None:
                found.shards = shards
    return Tensor._make(shape, dtype, layout, config, storage, device, topology)


def view_of(tensor, shape):
    """Returns the same memory under another shape."""
    return Tensor._make(shape, tensor._dtype, tensor._layout, tensor._config, tensor._storage,
                        tensor._device, tensor._topology)
