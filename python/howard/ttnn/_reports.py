# SPDX-License-Identifier: Apache-2.0
"""Implements ttnn._ttnn.reports: what lies in a device's memory, and what the device is."""

import dataclasses
import types
from typing import Any

from ._addresses import L1_BASE, L1_TOP, bytes_in_bank, pages_of
from ._types import BufferType, TensorMemoryLayout


@dataclasses.dataclass
class BufferInfo:
    device_id: int
    address: int
    max_size_per_bank: int
    buffer_type: Any
    buffer_layout: Any


@dataclasses.dataclass
class BufferPageInfo:
    device_id: int
    address: int
    core_y: int
    core_x: int
    bank_id: int
    page_index: int
    page_address: int
    page_size: int
    buffer_type: Any


def _banks(device, storage):
    return device.num_worker_cores() if storage.in_l1 else device.dram_grid_size().x


def _living(devices):
    for device in devices if isinstance(devices, (list, tuple)) else [devices]:
        for reference in list(device.storages.values()):
            storage = reference()
            if storage is not None and storage.alive:
                yield device, storage


_LAYOUTS = {"height": TensorMemoryLayout.HEIGHT_SHARDED, "width": TensorMemoryLayout.WIDTH_SHARDED,
            "block": TensorMemoryLayout.BLOCK_SHARDED}


def get_buffers(devices):
    """Returns each buffer of these devices."""
    made = []
    for device, storage in _living(devices):
        kind = BufferType.L1 if storage.in_l1 else BufferType.DRAM
        shards = storage.spec[4]
        layout = _LAYOUTS[shards[0]] if shards else TensorMemoryLayout.INTERLEAVED
        made.append(BufferInfo(device.id(), storage.address(),
                               bytes_in_bank(storage.spec, _banks(device, storage)), kind, layout))
    return made


def get_buffer_pages(devices):
    """Returns each page of the buffers that lie in L1."""
    made = []
    for device, storage in _living(devices):
        if not storage.in_l1:
            continue
        pages, size = pages_of(storage.spec)
        columns, banks = device.compute_with_storage_grid_size().x, _banks(device, storage)
        for i in range(pages):
            bank = i % banks
            made.append(BufferPageInfo(
                device.id(), storage.address(), bank // columns, bank % columns, bank, i,
                storage.address() + i // banks * size, size, BufferType.L1))
    return made


def get_device_info(device):
    """Returns what ttnn's reports say of a device."""
    grid = device.compute_with_storage_grid_size()
    cores, bank = grid.x * grid.y, L1_TOP - L1_BASE - device.l1_small_size
    fields = {
        "num_y_cores": 10, "num_x_cores": 8, "num_y_compute_cores": grid.y,
        "num_x_compute_cores": grid.x, "worker_l1_size": L1_TOP, "l1_num_banks": cores,
        "l1_bank_size": bank, "address_at_first_l1_bank": 0,
        "address_at_first_l1_cb_buffer": L1_BASE, "num_banks_per_storage_core": 1,
        "num_compute_cores": cores, "num_storage_cores": 0, "total_l1_memory": cores * L1_TOP,
        "total_l1_for_tensors": 0, "total_l1_for_interleaved_buffers": cores * bank,
        "total_l1_for_sharded_buffers": cores * bank, "cb_limit": L1_TOP - L1_BASE}
    return types.SimpleNamespace(**fields)
