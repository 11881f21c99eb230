# SPDX-License-Identifier: Apache-2.0
"""Implements graphs of calls, hooks around them and tracers."""

import contextlib
import enum
import pathlib
import re
from typing import Any, List

from . import _launch
from ._addresses import pages_of
from ._session import session, signpost
from ._tensor import WATCHER, Tensor


# Graphs: a node for each call of a function and each tensor, as strings.


RunMode = enum.Enum("RunMode", "NORMAL NO_DISPATCH", start=0)


_graphs: List[Any] = []


def is_capturing():
    return bool(_graphs)


def _record(operation, call, args, kwargs):
    if not _graphs:
        return call()
    nodes = _graphs[-1]
    inputs = [a for a in list(args) + list(kwargs.values()) if isinstance(a, Tensor)]
    start = _node(nodes, "function_start", {"name": _name_of(operation), "inputs": str(len(inputs))})
    start["arguments"] = [repr(a) if not isinstance(a, Tensor) else f"Tensor({a.shape})"
                          for a in args]
    for one in inputs:
        source = _tensor_node(nodes, one)
        source["connections"].append(start["counter"])
        start["input_tensors"].append(source["counter"])
    made = call()
    end = _node(nodes, "function_end", {"name": start["params"]["name"],
                                         "call": str(start["counter"])})
    start["connections"].append(end["counter"])
    for one in made if isinstance(made, (list, tuple)) else [made]:
        if isinstance(one, Tensor):
            end["connections"].append(_tensor_node(nodes, one, new=True)["counter"])
    return made


def _name_of(operation):
    """Returns what ttnn's graphs call a function: that which converts has the name of its own in C++."""
    if operation.name == "from_torch":
        return ("ttnn::" if session.is_2026 else "tt::tt_metal::detail::") + "convert_python_tensor_to_tt_tensor"
    return "ttnn::" + operation.name.replace(".", "::")


def _watch(storage, number, taken):
    """Records memory that is taken or freed, with a node for what it is."""
    nodes, (pages, page) = _graphs[-1], pages_of(storage.spec)
    shards, buffers = storage.spec[4], nodes[0]["buffers"]
    cores = shards[1] * shards[2] if shards else 0
    params = {"size": str(pages * page * (cores or 1)), "type": "L1" if storage.in_l1 else "DRAM",
              "layout": f"{shards[0].upper()}_SHARDED" if shards else "INTERLEAVED",
              "device_id": str(storage.device.id())}
    if number not in buffers:
        buffers[number] = _node(nodes, "buffer", params)["counter"]
    if taken:
        params = dict(params, address=str(storage.address()), page_size=str(page), num_cores=str(cores))
    node = _node(nodes, "buffer_allocate" if taken else "buffer_deallocate", params)
    node["connections"].append(buffers[number])


def _tensor_node(nodes, tensor, new=False):
    """Returns the last node of a tensor, or a new one."""
    name = str(tensor.tensor_id)
    for node in reversed(nodes) if not new else ():
        if node["node_type"] == "tensor" and node["params"]["tensor_id"] == name:
            return node
    return _node(nodes, "tensor", {"tensor_id": name, "shape": repr(tensor.shape)})


def _levelized(nodes):
    """Returns a vertex for each call and each tensor from outside, with who gives what to whom."""
    producer, made = {}, {}
    for node in nodes:
        if node["node_type"] == "function_end":
            for number in node["connections"]:
                producer[number] = int(node["params"]["call"])
    for node in nodes:
        is_call = node["node_type"] == "function_start"
        if not is_call and (node["node_type"] != "tensor" or node["counter"] in producer):
            continue
        name = node["params"]["name"] if is_call else f"tensor[{node['counter']}]"
        made[node["counter"]] = {
            "counter": len(made), "stacking_level": 1, "name": name,
            "arguments": list(node["arguments"]), "in_edges": [], "out_edges": [],
            "internals": [], "output_info": [], "output_shape": []}
        if not is_call:
            made[node["counter"]]["output_shape"].append(node["params"]["shape"])
    for at, vertex in made.items():
        for number in nodes[at]["input_tensors"]:
            source = made[producer.get(number, number)]
            vertex["in_edges"].append(source["counter"])
            source["out_edges"].append(vertex["counter"])
    for number, call in producer.items():
        made[call]["output_shape"].append(nodes[number]["params"]["shape"])
        made[call]["output_info"].append(str(nodes[number]["params"]))
    return list(made.values())


def _node(nodes, kind, params):
    node = {"counter": len(nodes), "node_type": kind, "params": params, "arguments": [],
            "connections": [], "input_tensors": [], "stacking_level": 0}
    nodes.append(node)
    return node


class graph:
    """Implements ttnn.graph."""

    RunMode = RunMode

    @staticmethod
    def begin_graph_capture(run_mode=RunMode.NORMAL):
        if not isinstance(run_mode, RunMode):
            raise TypeError(f"begin_graph_capture(): incompatible function arguments: {run_mode!r} is no "
                            "RunMode")
        nodes = []
        _node(nodes, "capture_start", {})["buffers"] = {}
        _graphs.append(nodes)
        _launch.RECORDER[0], WATCHER[0] = _record, _watch

    @staticmethod
    def end_graph_capture():
        if not _graphs:
            raise RuntimeError("no graph is being captured: ttnn.graph.begin_graph_capture()")
        nodes = _graphs.pop()
        _node(nodes, "capture_end", {})
        if not _graphs:
            _launch.RECORDER[0] = WATCHER[0] = None
        del nodes[0]["buffers"]
        return nodes

    @staticmethod
    def extract_calltrace(nodes):
        return [n["params"]["name"] for n in nodes if n["node_type"] == "function_start"]

    @staticmethod
    def extract_levelized_graph(nodes, max_level=1):
        """Returns the calls of a captured graph as vertices; calls within calls are not captured, so
        that there is one level."""
        if max_level < 1:
            raise ValueError(f"max_level is {max_level}, and 1 at least")
        return _levelized(nodes)

    @staticmethod
    def pretty_format(nodes):
        return "\n".join(f"{n['counter']:4} {n['node_type']} {n['params']}" for n in nodes)

    @staticmethod
    def pretty_print(nodes):
        print(graph.pretty_format(nodes))

    @staticmethod
    def visualize(nodes, file_name=None, **_):
        if file_name is not None:
            pathlib.Path(file_name).with_suffix(".txt").write_text(graph.pretty_format(nodes))

    @staticmethod
    def count_intermediate_and_output_tensors(nodes):
        count = sum(n["node_type"] == "tensor" for n in nodes)
        return max(0, count - 1), min(1, count)


class GraphTracerUtils:
    """Implements ttnn.graph_tracer_utils: the calls of a captured graph with their arguments."""

    @staticmethod
    def replace_control_chars(text):
        return re.sub(r"[\x00-\x1f]", "", text)

    @staticmethod
    def serialize_arguments_to_json(arguments):
        return [{f"arg{i}": GraphTracerUtils.replace_control_chars(str(one))}
                for i, one in enumerate(arguments)]

    @staticmethod
    def serialize_graph(captured_graph):
        return {"content": [
            {"operation": node["params"]["name"],
             "arguments": GraphTracerUtils.serialize_arguments_to_json(node["arguments"])}
            for node in captured_graph if node["node_type"] == "function_start"]}


class tracer:
    """Implements ttnn.tracer, which draws nothing here; --trace has the timeline."""

    @staticmethod
    @contextlib.contextmanager
    def trace():
        graph.begin_graph_capture()
        try:
            yield
        finally:
            graph.end_graph_capture()

    @staticmethod
    def visualize(tensor, *, file_name=None, **_):
        return None

    @staticmethod
    def enable_tracing():
        return None

    @staticmethod
    def disable_tracing():
        return None

    @staticmethod
    def get_graph(*_):
        return None


# Hooks around ops.


PRE_HOOKS: List[Any] = []
POST_HOOKS: List[Any] = []


@contextlib.contextmanager
def register_pre_operation_hook(hook):
    PRE_HOOKS.append(hook)
    _launch.HOOKS[0] = (PRE_HOOKS, POST_HOOKS)
    try:
        yield
    finally:
        PRE_HOOKS.remove(hook)


@contextlib.contextmanager
def register_post_operation_hook(hook):
    POST_HOOKS.append(hook)
    _launch.HOOKS[0] = (PRE_HOOKS, POST_HOOKS)
    try:
        yield
    finally:
        POST_HOOKS.remove(hook)


def start_tracy_zone(source, funct, line, color=0):
    """Does nothing: zones are for tracy; howard.region names parts of a script."""


def stop_tracy_zone(name="", color=0):
    return True


def tracy_message(text, color=0):
    prefix = "`TT_SIGNPOST: "
    if str(text).startswith(prefix):
        signpost(str(text)[len(prefix):].strip("`"))


def tracy_frame():
    return None
