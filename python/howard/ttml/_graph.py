# SPDX-License-Identifier: Apache-2.0
"""Implements the context of TTML: its device, its graph and its seed."""

import enum
import functools
import inspect
import math

import howard.ttnn as ttnn
from howard import _native
from howard.ttnn import _launch
from howard.ttnn._session import session

GradMode = enum.Enum("GradMode", "DISABLED ENABLED", start=0)
PreferredPrecision = enum.Enum("PreferredPrecision", "HALF FULL", start=0)
RunMode = enum.Enum("RunMode", "TRAIN EVAL", start=0)


class NodeId:
    """Names a node of the graph."""

    def __init__(self, number, graph):
        self._number, self._graph = number, graph

    def get_id(self):
        return self._number

    def get_graph(self):
        return self._graph


class Graph:
    """Holds what runs backward, in the order of the forward pass."""

    def __init__(self):
        self.nodes = {}
        self._next = 0

    def add(self, backward, links):
        number, self._next = self._next, self._next + 1
        self.nodes[number] = [backward, [link.get_id() for link in links]]
        return NodeId(number, self)

    def run_backward(self, start, retain):
        """Runs the nodes that `start` depends on, the last first. Each is emptied after it ran,
        unless the graph is to be kept."""
        if start.get_id() not in self.nodes:
            raise RuntimeError("backward: reset_graph() has freed the graph; a new forward pass, or "
                               "backward before it")
        found, todo = set(), [start.get_id()]
        while todo:
            number = todo.pop()
            if number not in found:
                found.add(number)
                todo.extend(self.nodes[number][1])
        for number in sorted(found, reverse=True):
            node = self.nodes[number]
            if node[0] is None:
                raise RuntimeError("backward: the graph ran already; a new forward pass, or "
                                   "backward(True), which keeps it")
            node[0]()
            if not retain:
                node[0] = None

    def clear(self):
        for node in self.nodes.values():
            node[0] = None
        self.nodes = {}


class DistributedConfig:
    def __init__(self, enable_ddp=False, enable_tp=False):
        self.enable_ddp, self.enable_tp = enable_ddp, enable_tp


class ParallelismContext:
    """Says which axis of the mesh divides the batch, and which the weights."""

    def __init__(self, config, shape):
        axes = [i for i, side in enumerate(shape) if side > 1] or [len(shape) - 1]
        wanted = [name for name, on in (("ddp", config.enable_ddp), ("tp", config.enable_tp)) if on]
        if len(wanted) > max(1, len(axes)):
            raise RuntimeError(f"a mesh of {list(shape)} for {' and '.join(wanted)}; accepted: an "
                               "axis for each")
        self._axes = dict(zip(wanted, axes if len(wanted) == len(axes) else axes[-1:]))
        self._shape = shape

    def _size(self, name):
        axis = self._axes.get(name)
        return 1 if axis is None else self._shape[axis]

    def get_ddp_axis(self):
        return self._axes.get("ddp")

    def get_tp_axis(self):
        return self._axes.get("tp")

    def get_ddp_size(self):
        return self._size("ddp")

    def get_tp_size(self):
        return self._size("tp")

    def is_ddp_enabled(self):
        return "ddp" in self._axes

    def is_tp_enabled(self):
        return "tp" in self._axes


class AutoContext:
    """Holds the device of a script, its graph and its seed. There is one."""

    _instance = None

    def __init__(self):
        self._device = self._parallelism = self.mesh = None
        self._graph = Graph()
        self._seed = self._drawn = 0
        self._mode = GradMode.ENABLED
        self.random = None
        self.set_seed(5489)

    @staticmethod
    def get_instance():
        if AutoContext._instance is None:
            AutoContext._instance = AutoContext()
        return AutoContext._instance

    def open_device(self, mesh_shape=None, device_ids=None):
        """Opens the emulated chips, whose clock is that of ttnn's devices."""
        if self._device is not None:
            raise RuntimeError("open_device was called after the device was opened")
        shape = tuple(mesh_shape) if mesh_shape is not None else (1, 1)
        if math.prod(shape) == 1:
            self._device = ttnn.open_device(device_id=list(device_ids or [0])[0])
        else:
            self._device = ttnn.open_mesh_device(ttnn.MeshShape(*shape))

    def close_device(self):
        if self._device is not None:
            self.reset_graph()
            ttnn.close_device(self._device)
        self._device = self._parallelism = self.mesh = None

    def get_device(self):
        """Returns the device, which is opened where nobody did."""
        if self._device is None:
            self.open_device()
        return self._device

    def add_backward_node(self, function, links):
        """Adds what runs backward after everything that depends on it; None without gradients."""
        if self._mode is GradMode.DISABLED:
            return None
        graph = self._graph  # Nodes of one that was reset are gone.
        return graph.add(function, [link for link in links
                                    if link is not None and link.get_graph() is graph])

    def reset_graph(self):
        self._graph.clear()
        self._graph = Graph()

    def set_gradient_mode(self, mode):
        self._mode = mode

    def get_gradient_mode(self):
        return self._mode

    def set_seed(self, seed):
        import numpy  # Scripts without values do without.

        self._seed, self._drawn = int(seed) & 0xFFFFFFFF, 0
        self.random = numpy.random.default_rng(self._seed)

    def get_seed(self):
        return self._seed

    def next_seed(self):
        """Returns the seed of the next random program."""
        self._drawn += 1
        return (self._seed + self._drawn) & 0xFFFFFFFF

    def drawn(self):
        """Returns how many seeds were used, so that a part can be run again with the same."""
        return self._drawn

    def set_drawn(self, count):
        self._drawn = count

    def initialize_distributed_context(self, *_):
        """Does nothing: a script is one process."""

    def get_distributed_context(self):
        return DistributedContext()

    def initialize_socket_manager(self, *_):
        raise RuntimeError("initialize_socket_manager: a script is one process here; "
                           "run_experiment train --multihost FILE runs tiers and pipelines")

    get_socket_manager = initialize_socket_manager

    def initialize_parallelism_context(self, config):
        if self._parallelism is not None:
            raise RuntimeError("initialize_parallelism_context was called before")
        device = self.get_device()
        shape = tuple(device.shape) if device.get_num_devices() > 1 else (1, 1)
        self._parallelism = ParallelismContext(config, shape)

    def get_parallelism_context(self):
        if self._parallelism is None:
            raise RuntimeError("get_parallelism_context: call initialize_parallelism_context first")
        return self._parallelism

    def is_parallelism_context_initialized(self):
        return self._parallelism is not None

    def get_profiler(self):
        return TTProfiler()

    def close_profiler(self):
        """Does nothing: what ran is in the timeline of `run_experiment python`."""


class TTProfiler:
    """Stands for TTML's profiler: `run_experiment python` has the timeline of what ran."""

    def read_results(self, device, noop_identifier="", dump_results=False):
        ttnn.synchronize_device(device)

    def enable(self):
        """Does nothing: every program is timed."""

    disable = enable


class DistributedContext:
    """Is the context of a script, which is one process."""

    def size(self):
        return 1

    def rank(self):
        return 0

    def barrier(self):
        """Does nothing: there is nobody else."""

    def create_sub_context(self, ranks):
        """Returns a context of some of the ranks, of which there is one."""
        self._require(list(ranks) == [0], f"ranks {list(ranks)}")
        return self

    def send(self, data, dest, tag=0):
        self._require(False, f"send to rank {dest}")

    def recv(self, nbytes, source, tag=0):
        self._require(False, f"recv from rank {source}")

    @staticmethod
    def _require(holds, value):
        if not holds:
            raise RuntimeError(f"DistributedContext: {value}; accepted: rank 0, as a script is one "
                               "process; run_experiment train runs several")


def context():
    return AutoContext.get_instance()


def one_call(function):
    """Makes a function one call from Python on the host's clock, whatever calls of ttnn it makes:
    TTML makes them in C++."""

    @functools.wraps(function)
    def inside(*args, **kwargs):
        if _launch._depth[0] == 0:
            if session.interrupted:
                session.interrupted = False
                raise KeyboardInterrupt
            context().get_device().charge_call()
        _launch._depth[0] += 1
        try:
            return function(*args, **kwargs)
        except _native.Error as failure:
            raise RuntimeError(f"TT_FATAL @ ttml.{inside.__name__}: {failure}") from None
        except AttributeError as failure:
            if not _launch.is_ours(failure):
                raise
            # This is of our own making: an argument is not what it should be.
            raise TypeError(f"ttml.{inside.__name__}(): incompatible function arguments: {failure}; it "
                            f"takes {inspect.signature(function)}") from None
        finally:
            _launch._depth[0] -= 1

    return inside


def from_python(function, *args):
    """Calls a function of the script within a call of ours: its own calls cost what they cost from
    Python."""
    depth, _launch._depth[0] = _launch._depth[0], 0
    try:
        return function(*args)
    finally:
        _launch._depth[0] = depth
