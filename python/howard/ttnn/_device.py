# SPDX-License-Identifier: Apache-2.0
"""Implements devices: opening, closing, what they are; command queues, events, traces,
sub-devices."""

import contextlib
import enum
import warnings

from howard import _native

from ._session import session
from ._types import Arch, BufferType, CoreCoord, CoreGrid, CoreRange, CoreRangeSet


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


FabricReliabilityMode = enum.Enum(
    "FabricReliabilityMode", "STRICT_INIT RELAXED_INIT DYNAMIC_RECONFIGURATION_SETUP_MODE", start=0)


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
    def __init__(self, start, end=None):
        self.start, self.end = start, end


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
    """Holds what was recorded: how its values are computed again."""

    def __init__(self, queue):
        self.queue = queue
        self.steps = []


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


class MeshDevice:
    """Represents one or several chips that run the same programs; one of them is emulated and
    timed."""

    def __init__(self, device_ids, shape, dispatch, queues, trace_region_size, l1_small_size=0,
                 parent=None):
        eth = dispatch.type is DispatchCoreType.ETH
        self._ids, self._shape = list(device_ids), MeshShape(shape)
        self._dispatch, self._queues = dispatch, queues
        self.trace_region_size, self.l1_small_size = trace_region_size, l1_small_size
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
        self._warned = False
        self.storages = parent.storages if parent else {}

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
        return [self]

    def arch(self):
        return Arch.WORMHOLE_B0

    def is_initialized(self):
        return self.is_open

    def compute_with_storage_grid_size(self):
        columns, rows = self._grid()
        return CoreCoord(columns, rows)

    def _grid(self):
        columns, rows = self.chip.grid()
        if self._dispatch.axis is DispatchCoreAxis.COL:
            return rows, columns
        return columns, rows

    @property
    def core_grid(self):
        columns, rows = self._grid()
        return CoreGrid(y=rows, x=columns)

    def dram_grid_size(self):
        return CoreCoord(12, 1)

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
        return 1.7014e38

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
        """Charges the host for the first call of a program."""
        if program in self.programs:
            return
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
            ranges.append([box.start.x, box.start.y, box.end.x, box.end.y])
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

    def close(self):
        if not self.is_open:
            return
        self.synchronize()
        for submesh in self._submeshes:
            submesh.is_open = False
        self.is_open = False
        for device_id in [k for k, v in session.open_devices.items() if v is self]:
            del session.open_devices[device_id]
        if session.default_device is self:
            session.default_device = None
        if self._parent is None:
            for reference in list(self.storages.values()):
                storage = reference()
                if storage is not None:
                    storage.release()
        self.traces.clear()


Device = MeshDevice


def require_no_capture(device, what):
    if device.capture is not None:
        raise RuntimeError(
            f"TT_FATAL: cannot {what} while a trace is captured: only ops can be recorded"
        )


def _require_box(device_ids):
    most = session.devices()
    for device_id in device_ids:
        if not 0 <= device_id < most:
            raise RuntimeError(
                f"there is no device {device_id}: the emulated box is an {session.chip_name.upper()} "
                f"with {most} chip{'s' * (most > 1)}, 0 to {most - 1}"
            )


def _open(device_ids, shape, dispatch, queues, trace_region_size, l1_small_size):
    if queues not in (1, 2):
        raise RuntimeError(f"a device has 1 or 2 command queues, not {queues}")
    _require_box(device_ids)
    device = MeshDevice(device_ids, shape, dispatch, queues, trace_region_size, l1_small_size)
    session.open_devices[device_ids[0]] = device
    return device


def open_device(*, device_id, l1_small_size=0, trace_region_size=0, num_command_queues=1,
                dispatch_core_config=None, worker_l1_size=0):
    """Returns a device; one that is open already is returned again."""
    found = session.open_devices.get(device_id)
    if found is not None and found.is_open:
        return found
    dispatch = dispatch_core_config or DispatchCoreConfig(DispatchCoreType.WORKER)
    return _open([device_id], (1, 1), dispatch, num_command_queues, trace_region_size,
                 l1_small_size)


def CreateDevice(device_id, num_command_queues=1, l1_small_size=0, trace_region_size=0,
                 dispatch_core_config=None, *, worker_l1_size=0):
    return _open([device_id], (1, 1), dispatch_core_config or DispatchCoreConfig(),
                 num_command_queues, trace_region_size, l1_small_size)


def CreateDevices(device_ids, *args, **kwargs):
    return {device_id: CreateDevice(device_id, *args, **kwargs) for device_id in device_ids}


def close_device(device):
    device.close()


def CloseDevices(devices):
    for device in devices.values():
        device.close()


@contextlib.contextmanager
def manage_device(device_id):
    device = open_device(device_id=device_id)
    try:
        yield device
    finally:
        close_device(device)


def open_mesh_device(mesh_shape=None, l1_small_size=0, trace_region_size=0, num_command_queues=1,
                     dispatch_core_config=None, offset=None, physical_device_ids=(),
                     worker_l1_size=0):
    shape = MeshShape(mesh_shape) if mesh_shape is not None else MeshShape(1, session.devices())
    session.widen(shape.mesh_size())
    ids = list(physical_device_ids) or list(range(shape.mesh_size()))
    return _open(ids, shape, dispatch_core_config or DispatchCoreConfig(), num_command_queues,
                 trace_region_size, l1_small_size)


def close_mesh_device(device):
    device.close()


@contextlib.contextmanager
def create_mesh_device(*args, **kwargs):
    device = open_mesh_device(*args, **kwargs)
    try:
        yield device
    finally:
        close_mesh_device(device)


def synchronize_device(device, cq_id=None, sub_device_ids=()):
    device.synchronize(cq_id)


def GetDefaultDevice():
    return session.default_device


def SetDefaultDevice(device):
    session.default_device = device


def get_device_ids():
    return list(range(session.devices()))


def get_num_devices():
    return session.devices()


def get_pcie_device_ids():
    return [0]


def GetNumPCIeDevices():
    return 1


def GetPCIeDeviceID(device_id):
    return 0


def get_arch_name():
    return "wormhole_b0"


def is_wormhole_b0(device=None):
    return True


def is_blackhole(device=None):
    return False


def set_fabric_config(*args, **kwargs):
    """Does nothing: links between chips need no setting up here."""


# Traces and events.


def begin_trace_capture(device, *, cq_id=None):
    device.require_open()
    require_no_capture(device, "begin a capture")
    if device.trace_region_size == 0:
        raise RuntimeError(
            "a trace needs a region: the device was opened with trace_region_size=0; try "
            "open_device(..., trace_region_size=10000000)"
        )
    queue = queue_number(cq_id)
    device.chip.begin_trace(0, queue)
    device.capture = Trace(queue)
    number = MeshTraceId(device.next_number())
    device.traces[number] = device.capture
    return number


def end_trace_capture(device, trace_id, *, cq_id=None):
    device.require_open()
    if device.capture is None or device.traces.get(trace_id) is not device.capture:
        raise RuntimeError(f"trace {trace_id} is not being captured")
    trace, device.capture = device.capture, None
    try:
        size = device.chip.end_trace(int(trace_id), trace.queue)
    except _native.Error as failure:
        del device.traces[trace_id]
        raise RuntimeError(str(failure)) from None
    if size > device.trace_region_size:
        device.chip.release_trace(int(trace_id), 0)
        del device.traces[trace_id]
        raise RuntimeError(
            f"TT_FATAL: Creating trace buffers of size {size}B on the device, but only "
            f"{device.trace_region_size}B is allocated for trace region: open the device with "
            f"trace_region_size={size}"
        )


def execute_trace(device, trace_id, *, cq_id=None, blocking=True):
    device.require_open()
    require_no_capture(device, "execute a trace")
    trace = device.traces.get(trace_id)
    if trace is None:
        raise RuntimeError(f"there is no trace {trace_id}: it was released, or is another device's")
    queue = queue_number(cq_id)
    device.chip.execute_trace(int(trace_id), queue)
    for step in trace.steps:
        step()
    if blocking:
        device.chip.finish(0, queue)


def release_trace(device, trace_id):
    device.require_open()
    if device.traces.pop(trace_id, None) is None:
        raise RuntimeError(f"there is no trace {trace_id}")
    device.chip.release_trace(int(trace_id), 0)


def record_event(device, cq_id=None, sub_device_ids=(), device_range=None):
    device.require_open()
    require_no_capture(device, "record an event")
    event = MeshEvent(device, device.next_number(), queue_number(cq_id))
    device.chip.record_event(event.number, event.queue)
    return event


def wait_for_event(cq_id, event):
    event.device.require_open()
    require_no_capture(event.device, "wait for an event")
    event.device.chip.wait_for_event(event.number, queue_number(cq_id))


def event_synchronize(event):
    event.device.synchronize(event.queue)


class MemoryView:
    """Says what is free, as ttnn says it of each bank."""

    def __init__(self, banks, bank_bytes, used):
        self.num_banks = banks
        self.total_bytes_per_bank = bank_bytes
        self.total_bytes_allocated_per_bank = used // banks
        self.total_bytes_free_per_bank = bank_bytes - used // banks
        self.largest_contiguous_bytes_free_per_bank = self.total_bytes_free_per_bank
        self.block_table = []


def get_memory_view(device, buffer_type):
    in_l1 = buffer_type is BufferType.L1
    held = [reference() for reference in device.storages.values()]
    used = sum(s.padded_bytes() for s in held if s is not None and s.in_l1 == in_l1)
    if in_l1:
        return MemoryView(device.num_worker_cores(), 1_499_136 - 103_712, used)
    return MemoryView(12, 1 << 30, used)


def ReadDeviceProfiler(device, *args, **kwargs):
    """Waits for the device; profiles come from the emulator's timeline (--trace, --device-logs)."""
    device.synchronize()


def _nothing(*args, **kwargs):
    """Does nothing: the call has no meaning on an emulated chip."""


def warn_once(device, text):
    if not device._warned:
        warnings.warn(text, stacklevel=3)
    device._warned = True
