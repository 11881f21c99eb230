# SPDX-License-Identifier: Apache-2.0
"""Implements devices: what they are, their programs, meshes and sub-devices."""

import weakref

from ._addresses import L1_TOP, Addresses
from ._cores import CoreCoord, CoreGrid, CoreRange, CoreRangeSet
from ._dispatch import (
    DispatchCoreAxis,
    DispatchCoreType,
    MeshShape,
    SubDevice,
    SubDeviceId,
    queue_number,
)
from ._session import session
from ._types import Arch


SFPU_NAN = 1.7014e38  # What the vector unit of Wormhole takes for no number.


class MeshDevice:
    """Represents one or several chips that run the same programs; one of them is emulated and
    timed."""

    def __init__(self, device_ids, shape, dispatch, queues, trace_region_size, l1_small_size=0,
                 parent=None, worker_l1_size=0):
        eth = dispatch.type is DispatchCoreType.ETH
        self._ids, self._shape = list(device_ids), MeshShape(shape)
        self._dispatch, self._queues = dispatch, queues
        self.trace_region_size, self.l1_small_size = trace_region_size, l1_small_size
        # Tensors in L1 lie above this address, if the script says how much they have.
        self.l1_floor = parent.l1_floor if parent else worker_l1_size and L1_TOP - worker_l1_size
        self.chip = parent.chip if parent else session.chip(eth, queues)
        self.is_open = True
        self.values = session.values
        self.capture = None
        self.group = None  # It stands for a group of devices, once a collective has run.
        self.position = None  # It stands for places in caches, once attention has decoded.
        self.traces = {}
        self._numbers = parent._numbers if parent else [0]
        self.op_ids = parent.op_ids if parent else {}
        self.programs, self._compiled = set(), set()
        self._keeps_programs = self._misses_allowed = True
        self._managers, self._loaded, self._next_manager = {}, None, 1
        self._submeshes = []
        self._parent = parent
        self.storages = parent.storages if parent else {}
        self.addresses = parent.addresses if parent else Addresses(
            self.num_worker_cores(), l1_small_size, trace_region_size, session.dram_banks,
            session.bank_bytes)
        self.notes = self.addresses.notes

    # What it is.

    @property
    def shape(self):
        return self._shape

    def id(self):
        return self._ids[0]

    def get_device_id(self, coordinate):
        row, column = tuple(coordinate)
        return self._ids[row * self._shape[1] + column]

    def get_device_ids(self):
        return list(self._ids)

    def get_num_devices(self):
        return len(self._ids)

    def get_devices(self):
        return [self] * len(self._ids)

    def arch(self):
        return Arch.BLACKHOLE if session.is_blackhole else Arch.WORMHOLE_B0

    def is_initialized(self):
        return self.is_open

    def compute_with_storage_grid_size(self):
        columns, rows = self._grid()
        return CoreCoord(columns, rows)

    def _grid(self):
        columns, rows = self.chip.grid()
        if self._dispatch.axis is DispatchCoreAxis.COL and not session.is_blackhole:
            return rows, columns
        return columns, rows

    @property
    def core_grid(self):
        columns, rows = self._grid()
        return CoreGrid(y=rows, x=columns)

    def dram_grid_size(self):
        return CoreCoord(session.dram_banks, 1)

    def grid_size(self):
        return self.compute_with_storage_grid_size()

    def num_worker_cores(self):
        columns, rows = self._grid()
        return columns * rows

    def worker_core_from_logical_core(self, core):
        return CoreCoord(core.x + 1 + (core.x > 3), core.y + 1 + (core.y > 4))

    def sfpu_eps(self):
        return 1.19209e-07

    def sfpu_nan(self):
        return SFPU_NAN

    def sfpu_inf(self):
        return float("inf")

    def num_hw_cqs(self):
        return self._queues

    def __repr__(self):
        return f"MeshDevice({self._shape[0]}x{self._shape[1]} grid, {self.chip.description()})"

    def __eq__(self, other):
        return self is other

    def __hash__(self):
        return id(self)

    # The program cache.

    def enable_program_cache(self):
        """Enables the program cache, which is enabled unless it was disabled."""
        self._keeps_programs = True

    def clear_program_cache(self):
        self.programs.clear()

    def disable_and_clear_program_cache(self):
        """Makes each call build its program anew; its kernels stay compiled."""
        self.programs.clear()
        self._keeps_programs = False

    def look_up(self, program):
        """Charges the host for the first call of a program. Raises an error for one within a capture:
        its kernels would have to be written to the device."""
        if program in self.programs:
            return
        if self.capture is not None:
            raise RuntimeError("TT_FATAL: Writes are not supported during trace capture: this is the "
                               "first call of a program, whose kernels must be written; make the same "
                               "calls once before begin_trace_capture")
        cold = session.cold_kernels and program not in self._compiled
        if session.cold_kernels:
            self._compiled.add(program)
        if self._keeps_programs:
            if not self._misses_allowed:
                raise RuntimeError("TT_FATAL: Device operation: program cache miss occurred, but "
                                   "cache misses are forbidden")
            self.programs.add(program)
        (self.chip.compile if cold else self.chip.miss)(1)

    def charge_call(self):
        """Charges the host for a call from Python."""
        (self.chip.python if session.calls_as_report else self.chip.ttnn)(1)

    def num_program_cache_entries(self):
        return len(self.programs)

    def set_program_cache_misses_allowed(self, allowed):
        self._misses_allowed = bool(allowed)

    # Meshes.

    def create_submesh(self, shape, offset=None):
        row, column = tuple(offset) if offset is not None else (0, 0)
        rows, columns = tuple(shape)
        if row + rows > self._shape[0] or column + columns > self._shape[1]:
            raise RuntimeError(f"a submesh of {rows}x{columns} does not fit {self._shape}")
        ids = [self._ids[(row + r) * self._shape[1] + column + c]
               for r in range(rows) for c in range(columns)]
        mesh = MeshDevice(ids, (rows, columns), self._dispatch, self._queues,
                          self.trace_region_size, parent=self)
        self._submeshes.append(mesh)
        return mesh

    def create_submeshes(self, shape):
        rows, columns = tuple(shape)
        return [self.create_submesh(shape, (r, c))
                for r in range(0, self._shape[0] - rows + 1, rows)
                for c in range(0, self._shape[1] - columns + 1, columns)]

    def get_submeshes(self):
        return list(self._submeshes)

    def get_parent_mesh(self):
        return self._parent

    def reshape(self, shape):
        shape = MeshShape(shape)
        if shape.mesh_size() != len(self._ids):
            raise RuntimeError(f"a mesh of {len(self._ids)} devices cannot have the shape {shape}")
        self._shape = shape

    # Sub-devices.

    def create_sub_device_manager(self, *given):
        sub_devices = next((g for g in given if isinstance(g, (list, tuple))), [])
        columns, rows = self._grid()
        ranges, seen = [], set()
        for one in sub_devices:
            cores = one.core_sets[0] if isinstance(one, SubDevice) else one
            box = CoreRangeSet(cores).bounding_box() if isinstance(cores, CoreRange) \
                else cores.bounding_box()
            own = {(c.x, c.y) for c in CoreRangeSet([box]).cores()}
            if own & seen:
                raise RuntimeError("sub-devices overlap: each core belongs to one of them")
            if box.end.x >= columns or box.end.y >= rows:
                raise RuntimeError(f"a sub-device leaves the grid of {columns}x{rows} cores")
            seen |= own
            corners = [box.start.x, box.start.y, box.end.x, box.end.y]
            # The chip's grid lies on its side where dispatch has a column.
            turned = (columns, rows) != tuple(self.chip.grid())
            ranges.append([corners[i] for i in ((1, 0, 3, 2) if turned else range(4))])
        number = self._next_manager
        self._next_manager += 1
        self._managers[number] = ranges
        return number

    def load_sub_device_manager(self, manager):
        if manager not in self._managers:
            raise RuntimeError(f"there is no sub-device manager {manager}")
        self.chip.divide(self._managers[manager])
        self._loaded = manager

    def clear_loaded_sub_device_manager(self):
        if self._loaded is not None:
            self.chip.divide([])
        self._loaded = None

    def remove_sub_device_manager(self, manager):
        if manager == self._loaded or manager not in self._managers:
            raise RuntimeError(f"sub-device manager {manager} is loaded or does not exist")
        del self._managers[manager]

    def set_sub_device_stall_group(self, sub_device_ids):
        """Does nothing: waits are for queues here, whatever their sub-devices."""

    def reset_sub_device_stall_group(self):
        """Does nothing, as set_sub_device_stall_group()."""

    def get_sub_device_ids(self):
        return [SubDeviceId(i) for i in range(len(self._managers.get(self._loaded, [0])))]

    # Within Howard.

    def require_open(self):
        session.require_process()
        if not self.is_open:
            raise RuntimeError(
                "the device is closed: what runs on it must come before ttnn.close_device"
            )

    def free(self):
        """Frees all memory on the device."""
        for reference in list(self.storages.values()):
            storage = reference()
            if storage is not None:
                storage.release()

    def next_number(self):
        self._numbers[0] += 1
        return self._numbers[0] - 1

    def op_id(self, name, kernel, attributes, analogy):
        key = (name, kernel, attributes, analogy)
        found = self.op_ids.get(key)
        if found is None:
            found = self.op_ids[key] = self.chip.op(name, kernel, attributes, analogy)
        return found

    def synchronize(self, cq_id=None):
        self.require_open()
        require_no_capture(self, "synchronise the device")
        for queue in range(self._queues) if cq_id is None else [queue_number(cq_id)]:
            self.chip.finish(0, queue)

    def record(self, step, tensors):
        """Adds a step, which computes values, to the trace that is captured. Its cells are those of the
        addresses of `tensors`."""
        self.capture.steps.append(step)
        for tensor in tensors:
            whole = getattr(tensor._storage, "_whole", tensor._storage)
            key = self._memory(whole, tensor._shape, tensor._dtype)
            self.capture.cells[key] = weakref.ref(whole), whole.cell

    def cell_of(self, storage, shape, dtype):
        """Returns the cell of memory on which a trace is replayed, if new memory is there: it holds what
        lay there before, and the trace finds what is written to it. None if no trace has it."""
        key = self._memory(storage, shape, dtype)
        for trace in self.traces.values():
            last, cell = trace.cells.get(key, (None, None))
            owner = last() if last is not None else None
            if cell is not None and (owner is None or not owner.alive):
                trace.cells[key] = weakref.ref(storage), cell
                return cell
        return None

    def _memory(self, storage, shape, dtype):
        return storage.in_l1, self.addresses.of(storage.number), shape.volume(), dtype

    def abandon_capture(self):
        """Ends a capture that an error has cut off, and drops its trace."""
        for submesh in self._submeshes:
            submesh.abandon_capture()
        if self.capture is None:
            return
        number = next(key for key, trace in self.traces.items() if trace is self.capture)
        queue, self.capture = self.capture.queue, None
        del self.traces[number]
        self.chip.end_trace(int(number), queue)
        self.chip.release_trace(int(number), 0)

    def close(self):
        if not self.is_open:
            return
        self.abandon_capture()
        self.synchronize()
        for submesh in self._submeshes:
            submesh.is_open = False
        self.is_open = False
        for device_id in [k for k, v in session.open_devices.items() if v is self]:
            del session.open_devices[device_id]
        if session.default_device is self:
            session.default_device = None
        if self._parent is None:
            self.free()
        self.traces.clear()


Device = MeshDevice


def require_no_capture(device, what):
    if device.capture is not None:
        raise RuntimeError(
            f"TT_FATAL: cannot {what} while a trace is captured: only ops can be recorded"
        )


# Traces and events.


