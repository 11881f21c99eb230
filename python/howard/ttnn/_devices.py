# SPDX-License-Identifier: Apache-2.0
"""Implements what scripts do with devices: open and close, traces, events, what memory is free."""

import contextlib

from howard import _native

from ._device import MeshDevice, require_no_capture
from ._dispatch import (
    DispatchCoreConfig,
    DispatchCoreType,
    MeshEvent,
    MeshShape,
    MeshTraceId,
    Trace,
    queue_number,
)
from ._session import session
from ._types import BufferType


def _require_box(device_ids):
    most = session.devices()
    for device_id in device_ids:
        if not 0 <= device_id < most:
            raise RuntimeError(
                f"there is no device {device_id}: the emulated box is an {session.chip_name.upper()} "
                f"with {most} chip{'s' * (most > 1)}, 0 to {most - 1}"
            )


def _open(device_ids, shape, dispatch, queues, trace_region_size, l1_small_size, worker_l1_size):
    if queues not in (1, 2):
        raise RuntimeError(f"a device has 1 or 2 command queues, not {queues}")
    _require_box(device_ids)
    device = MeshDevice(device_ids, shape, dispatch, queues, trace_region_size, l1_small_size,
                        worker_l1_size=worker_l1_size)
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
                 l1_small_size, worker_l1_size)


def CreateDevice(device_id, num_command_queues=1, l1_small_size=0, trace_region_size=0,
                 dispatch_core_config=None, *, worker_l1_size=0):
    return _open([device_id], (1, 1), dispatch_core_config or DispatchCoreConfig(),
                 num_command_queues, trace_region_size, l1_small_size, worker_l1_size)


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
    shape = MeshShape(mesh_shape) if mesh_shape is not None else MeshShape(session.mesh())
    session.widen(shape.mesh_size())
    row, column = tuple(offset) if offset is not None else (0, 0)
    first = row * session.devices() + column
    ids = list(physical_device_ids) or list(range(first, first + shape.mesh_size()))
    return _open(ids, shape, dispatch_core_config or DispatchCoreConfig(), num_command_queues,
                 trace_region_size, l1_small_size, worker_l1_size)


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
    return list(range(session.cards()))


def GetNumPCIeDevices():
    return session.cards()


get_num_pcie_devices = GetNumPCIeDevices


def GetPCIeDeviceID(device_id):
    return device_id % session.cards()


def get_arch_name():
    return session.facts["architecture"]


def is_wormhole_b0(device=None):
    return not session.is_blackhole


def is_blackhole(device=None):
    return session.is_blackhole


def set_fabric_config(*args, **kwargs):
    """Does nothing: links between chips need no setting up here."""


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
    if cq_id is not None and queue_number(cq_id) != device.capture.queue:
        raise RuntimeError(f"trace {trace_id} is captured on queue {device.capture.queue}, and ended on "
                           f"queue {queue_number(cq_id)}")
    trace, device.capture = device.capture, None
    try:
        trace.size = device.chip.end_trace(int(trace_id), trace.queue)
    except _native.Error as failure:
        del device.traces[trace_id]
        raise RuntimeError(str(failure)) from None
    size = sum(one.size for one in device.traces.values())  # the region has all that are alive
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
    return MemoryView(session.dram_banks, session.bank_bytes, used)


def deallocate_buffers(device):
    """Frees all memory on the device."""
    device.free()


def get_dram_alignment():
    """Returns the bytes whose multiples pages of DRAM lie at."""
    return 64 if session.is_blackhole else 32


def get_l1_alignment():
    return 16


def apply_device_delay(mesh_device, delays, *, subdevice_id=None):
    """Checks a delay in cycles for each device of a mesh. Nothing waits: devices run together here."""
    rows, columns = mesh_device.shape
    if len(delays) != rows or any(len(row) != columns for row in delays):
        raise RuntimeError(f"apply_device_delay: {delays} must be {rows} rows of {columns} numbers")


def ReadDeviceProfiler(device, *args, **kwargs):
    """Waits for the device; profiles come from the emulator's timeline (--trace, --device-logs)."""
    device.synchronize()


def _nothing(*args, **kwargs):
    """Does nothing: the call has no meaning on an emulated chip."""
