# SPDX-License-Identifier: Apache-2.0
"""Implements ttnn.database: the SQLite file of a report, with ttnn's own tables and columns, which its
viewers read. _reported_calls.py fills it."""

import dataclasses
import json
import pathlib
import sqlite3
import time
from typing import Any, Dict, Set

from . import _reports, _settings
from ._operations import core
from ._tensor import Tensor as _Tensor

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


@dataclasses.dataclass
class Operation:
    operation_id: int
    name: str
    duration: float  # virtual seconds of the host, from the call to its return


@dataclasses.dataclass
class Buffer:
    operation_id: int
    device_id: int
    address: int
    max_size_per_bank: int
    buffer_type: int
    buffer_layout: int


@dataclasses.dataclass
class BufferPage:
    operation_id: int
    device_id: int
    address: int
    core_y: int
    core_x: int
    bank_id: int
    page_index: int
    page_address: int
    page_size: int
    buffer_type: int


@dataclasses.dataclass
class Tensor:
    tensor_id: int
    shape: str
    dtype: str
    layout: str
    memory_config: str
    device_id: int
    address: int
    buffer_type: int


@dataclasses.dataclass
class DeviceTensor:
    tensor_id: int
    device_id: int
    address: int


@dataclasses.dataclass
class InputTensor:
    operation_id: int
    input_index: int
    tensor_id: int


@dataclasses.dataclass
class OutputTensor:
    operation_id: int
    output_index: int
    tensor_id: int


@dataclasses.dataclass
class TensorComparisonRecord:
    tensor_id: int
    golden_tensor_id: int
    matches: bool
    desired_pcc: float
    actual_pcc: float


@dataclasses.dataclass
class OperationArgument:
    operation_id: int
    name: str
    value: str


@dataclasses.dataclass
class ErrorRecord:
    operation_id: int
    operation_name: str
    error_type: str
    error_message: str
    stack_trace: str
    timestamp: str


def _columns(kind):
    return {one.name: {int: "int", str: "text", float: "float", bool: "bool"}[one.type]
            for one in dataclasses.fields(kind)}


_TABLES: Dict[str, Dict[str, str]] = {
    "devices": _columns(Device), "tensors": _columns(Tensor),
    "device_tensors": _columns(DeviceTensor),
    "local_tensor_comparison_records": _columns(TensorComparisonRecord),
    "global_tensor_comparison_records": _columns(TensorComparisonRecord),
    "operations": _columns(Operation), "operation_arguments": _columns(OperationArgument),
    "stack_traces": {"operation_id": "int", "stack_trace": "text"},
    "input_tensors": _columns(InputTensor), "output_tensors": _columns(OutputTensor),
    "buffers": _columns(Buffer), "buffer_pages": _columns(BufferPage),
    "nodes": {"operation_id": "int", "unique_id": "int", "node_operation_id": "int", "name": "text"},
    "edges": {"operation_id": "int", "source_unique_id": "int", "sink_unique_id": "int",
              "source_output_index": "int", "sink_input_index": "int", "key": "int"},
    "captured_graph": {"operation_id": "int", "captured_graph": "text"},
    "errors": _columns(ErrorRecord)}
_UNIQUE = {"devices": "device_id", "tensors": "tensor_id", "operations": "operation_id",
           "local_tensor_comparison_records": "tensor_id",
           "global_tensor_comparison_records": "tensor_id"}


_connected: Any = None  # the folder of the connection


def get_or_create_sqlite_db(report_path):
    """Returns the connection to a report's file, which is made with its tables and the settings."""
    global SQLITE_CONNECTION, _connected
    folder = pathlib.Path(report_path)
    if SQLITE_CONNECTION is not None:
        if folder == _connected:
            return SQLITE_CONNECTION
        SQLITE_CONNECTION.close()
        DEVICE_IDS_IN_DATABASE.clear()
    folder.mkdir(parents=True, exist_ok=True)
    SQLITE_CONNECTION, _connected = sqlite3.connect(folder / SQLITE_DB_PATH), folder
    SQLITE_CONNECTION.execute("PRAGMA synchronous = OFF")  # A report need not outlive the machine.
    for name, columns in _TABLES.items():
        shown = ", ".join(f"{word} {kind}{' UNIQUE' if _UNIQUE.get(name) == word else ''}"
                          for word, kind in columns.items())
        SQLITE_CONNECTION.execute(f"CREATE TABLE IF NOT EXISTS {name} ({shown})")
    SQLITE_CONNECTION.commit()
    _settings.save_config_to_json_file(folder / CONFIG_PATH)
    return SQLITE_CONNECTION


def get_cursor(report_path):
    return get_or_create_sqlite_db(report_path).cursor()


def _insert(report_path, table, rows, anew="REPLACE"):
    """Writes rows; one whose key is there replaces it, or is left out with anew="IGNORE"."""
    connection = get_or_create_sqlite_db(report_path)
    marks = ", ".join("?" * len(_TABLES[table]))
    connection.executemany(f"INSERT OR {anew} INTO {table} VALUES ({marks})", rows)
    connection.commit()


def _query(report_path, table, kind, where="", values=()):
    found = get_cursor(report_path).execute(f"SELECT * FROM {table} {where}", values)
    return [kind(*row) for row in found]


def _first(found):
    return found[0] if found else None


def insert_devices(report_path, devices):
    """Adds the devices that the report has not."""
    for device in devices:
        if device.id() not in DEVICE_IDS_IN_DATABASE:
            facts = vars(_reports.get_device_info(device))
            _insert(report_path, "devices", [(device.id(), *facts.values())])
            DEVICE_IDS_IN_DATABASE.add(device.id())


def insert_operation(report_path, operation_id, operation, duration):
    """Adds a call; `duration` is in seconds, or None before it has returned."""
    _insert(report_path, "operations",
            [(operation_id, operation.python_fully_qualified_name, duration)])


def insert_stack_trace(report_path, operation_id, stack_trace):
    _insert(report_path, "stack_traces", [(operation_id, "".join(stack_trace))])


def insert_tensor(report_path, tensor):
    """Adds a tensor, unless the report has it."""
    place = [None] * 4
    if tensor.device() is not None and tensor.is_allocated():
        config = tensor.memory_config()
        place = [repr(config), tensor.device().id(), tensor.buffer_address(),
                 config.buffer_type.value]
        _insert(report_path, "device_tensors", [
            (tensor.tensor_id, one, place[2]) for one in tensor.device().get_device_ids()])
    _insert(report_path, "tensors", [(tensor.tensor_id, repr(tensor.shape), str(tensor.dtype),
                                      str(tensor.layout), *place)], "IGNORE")


def insert_input_tensors(report_path, operation_id, input_tensors):
    _insert_tensors(report_path, "input_tensors", operation_id, input_tensors)


def insert_output_tensors(report_path, operation_id, output_tensors):
    _insert_tensors(report_path, "output_tensors", operation_id, output_tensors)


def _insert_tensors(report_path, table, operation_id, tensors):
    for index, tensor in enumerate(tensors):
        insert_tensor(report_path, tensor)
        _insert(report_path, table, [(operation_id, index, tensor.tensor_id)])


def insert_buffers(report_path, operation_id, devices):
    """Adds what lies in the memory of devices once a call has returned."""
    _insert(report_path, "buffers", [
        (operation_id, one.device_id, one.address, one.max_size_per_bank, one.buffer_type.value,
         one.buffer_layout.value) for one in _reports.get_buffers(devices)])


def insert_buffer_pages(report_path, operation_id, devices):
    _insert(report_path, "buffer_pages", [
        (operation_id, one.device_id, one.address, one.core_y, one.core_x, one.bank_id,
         one.page_index, one.page_address, one.page_size, one.buffer_type.value)
        for one in _reports.get_buffer_pages(devices)])


def insert_operation_arguments(report_path, operation_id, function_args, function_kwargs):
    """Adds arguments as texts, those without a name under their place."""
    given = [*((str(i), one) for i, one in enumerate(function_args)), *function_kwargs.items()]
    _insert(report_path, "operation_arguments", [
        (operation_id, name, _shown(value)) for name, value in given])


def _shown(value):
    """Returns a text that does not read a tensor's values, which would take time on the device."""
    if isinstance(value, _Tensor):
        return (f"ttnn.Tensor(shape={value.shape}, dtype={value.dtype}, layout={value.layout}, "
                f"tensor_id={value.tensor_id})")
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(_shown, value))}]"
    shape = getattr(value, "shape", None)  # of PyTorch's and NumPy's
    return str(value) if shape is None else f"{type(value).__name__}(shape={list(shape)})"


def insert_captured_graph(report_path, operation_id, captured_graph):
    _insert(report_path, "captured_graph", [(operation_id, json.dumps(captured_graph))])


def insert_error(report_path, operation_id, operation_name, error, stack_trace):
    stamp = time.strftime("%Y-%m-%d %H:%M:%S")
    _insert(report_path, "errors", [(operation_id, operation_name, type(error).__name__,
                                     str(error), "".join(stack_trace), stamp)])


def insert_tensor_comparison_records(report_path, table_name, records):
    """Adds records of "local_tensor_comparison_records" or "global_tensor_comparison_records"."""
    _insert(report_path, table_name, [dataclasses.astuple(one) for one in records])


def store_graph(report_path, operation_id, vertices):
    """Adds a graph that graph.extract_levelized_graph() has made, as nodes and edges."""
    _insert(report_path, "nodes", [
        (operation_id, one["counter"], operation_id, one["name"]) for one in vertices])
    _insert(report_path, "edges", [
        (operation_id, source, one["counter"], 0, index, 0)
        for one in vertices for index, source in enumerate(one["in_edges"])])


def load_graph(report_path, operation_id):
    """Returns the names of a graph's nodes by their numbers, and its edges as pairs of numbers."""
    cursor = get_cursor(report_path)
    where = (operation_id,)
    nodes = cursor.execute("SELECT unique_id, name FROM nodes WHERE operation_id = ?", where)
    named = dict(nodes.fetchall())
    edges = cursor.execute("SELECT source_unique_id, sink_unique_id FROM edges WHERE operation_id = ?",
                           where)
    return named, edges.fetchall()


def _tensor_file(report_path, tensor_id):
    return pathlib.Path(report_path) / TENSORS_PATH / f"{tensor_id}.tensorbin"


def store_tensor(report_path, tensor):
    """Writes a tensor's values beside the report, which reads it from its device."""
    path = _tensor_file(report_path, tensor.tensor_id)
    path.parent.mkdir(parents=True, exist_ok=True)
    core.dump_tensor(path, core.from_device.function(tensor))


def store_tensors(report_path, tensors):
    for tensor in tensors:
        store_tensor(report_path, tensor)


def load_tensor_by_id(report_path, tensor_id, device=None):
    """Returns a tensor that store_tensor() has written; None if there is none."""
    path = _tensor_file(report_path, tensor_id)
    return core.load_tensor(path, device=device) if path.exists() else None


def query_device_by_id(report_path, device_id):
    return _first(_query(report_path, "devices", Device, "WHERE device_id = ?", [device_id]))


def query_operation_by_id(report_path, operation_id):
    return _first(_query(report_path, "operations", Operation, "WHERE operation_id = ?",
                         [operation_id]))


def query_latest_operation(report_path):
    return _first(_query(report_path, "operations", Operation, "ORDER BY operation_id DESC LIMIT 1"))


def query_latest_tensor(report_path):
    return _first(_query(report_path, "tensors", Tensor, "ORDER BY tensor_id DESC LIMIT 1"))


def query_output_tensor_by_tensor_id(report_path, tensor_id):
    return _first(_query(report_path, "output_tensors", OutputTensor, "WHERE tensor_id = ?",
                         [tensor_id]))
