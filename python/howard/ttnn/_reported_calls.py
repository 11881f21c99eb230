# SPDX-License-Identifier: Apache-2.0
"""Writes each call that a script makes to the database of a report: ttnn.CONFIG.enable_logging, with a
report_name and fast mode off."""

import itertools
import sys
import traceback

from . import _graph, _launch, database
from ._device import MeshDevice
from ._session import now
from ._tensor import Tensor

_numbers = itertools.count(1)  # of the calls in a report


def report_path():
    """Returns the folder of the report that is written now; None without one."""
    config = sys.modules["howard.ttnn"].CONFIG
    return config.report_path if config.enable_logging else None


def _found(kind, given):
    """Returns all of a kind in lists and dictionaries."""
    if isinstance(given, kind):
        return [given]
    if isinstance(given, dict):
        given = given.values()
    elif not isinstance(given, (list, tuple)):
        return []
    return [one for inner in given for one in _found(kind, inner)]


def _devices(given, tensors):
    devices = _found(MeshDevice, given) + [one.device() for one in tensors if one.device()]
    return list(dict.fromkeys(one for one in devices if one.is_open))


def _next_number(path):
    """Returns the number of a call, above those that the report has already."""
    global _numbers
    if database.SQLITE_CONNECTION is None:
        latest = database.query_latest_operation(path)
        if latest is not None:
            _numbers = itertools.count(latest.operation_id + 1)
    return next(_numbers)


def _callers():
    """Returns the calls that led here, as texts, without this package's own."""
    own = (__file__, _launch.__file__)
    return traceback.format_list([one for one in traceback.extract_stack()
                                  if one.filename not in own])


def _reported(operation, call, args, kwargs):
    path, given = report_path(), [list(args), kwargs]
    if path is None:
        return call()
    number, inputs, callers = _next_number(path), _found(Tensor, given), _callers()
    database.insert_devices(path, _devices(given, inputs))
    database.insert_operation(path, number, operation, None)
    database.insert_stack_trace(path, number, callers)
    database.insert_operation_arguments(path, number, args, kwargs)
    database.insert_input_tensors(path, number, inputs)
    start, own_graph = now(), not _graph.is_capturing()
    if own_graph:
        _graph.graph.begin_graph_capture()
    try:
        made = call()
    except Exception as failure:
        database.insert_error(path, number, operation.python_fully_qualified_name, failure, callers)
        raise
    finally:
        nodes = _graph.graph.end_graph_capture() if own_graph else None
    database.insert_operation(path, number, operation, now() - start)
    _report_results(path, number, inputs, _found(Tensor, made), nodes)
    return made


def _report_results(path, number, inputs, outputs, nodes):
    config = sys.modules["howard.ttnn"].CONFIG
    devices = _devices([], inputs + outputs)
    database.insert_devices(path, devices)
    database.insert_output_tensors(path, number, outputs)
    database.insert_buffers(path, number, devices)
    if config.enable_detailed_buffer_report:
        database.insert_buffer_pages(path, number, devices)
    if config.enable_detailed_tensor_report and not any(one.capture for one in devices):
        database.store_tensors(path, [one for one in inputs + outputs if one.is_allocated()])
    if nodes is not None:
        database.insert_captured_graph(path, number, nodes)
        if config.enable_graph_report:
            database.store_graph(path, number, _graph.graph.extract_levelized_graph(nodes))


def install():
    """Lets calls be reported, where a report is asked for."""
    _launch.REPORTER[0] = _reported
