# SPDX-License-Identifier: Apache-2.0
"""Has the names of ttnn.database, where reports would be kept: no report is written here."""

import dataclasses
from typing import Any, Set

SQLITE_DB_PATH = "db.sqlite"
CONFIG_PATH = "config.json"
TENSORS_PATH = "tensors"
GRAPHS_PATH = "graph"
SQLITE_CONNECTION: Any = None
DEVICE_IDS_IN_DATABASE: Set[int] = set()


@dataclasses.dataclass
class Device:
    device_id: int
    num_y_cores: int
    num_x_cores: int
    num_y_compute_cores: int
    num_x_compute_cores: int
    worker_l1_size: int
    l1_num_banks: int
    l1_bank_size: int
    address_at_first_l1_bank: int
    address_at_first_l1_cb_buffer: int
    num_banks_per_storage_core: int
    num_compute_cores: int
    num_storage_cores: int
    total_l1_memory: int
    total_l1_for_tensors: int
    total_l1_for_interleaved_buffers: int
    total_l1_for_sharded_buffers: int
    cb_limit: int

