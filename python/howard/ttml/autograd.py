# SPDX-License-Identifier: Apache-2.0
"""Implements ttml.autograd: the context, which owns the device and the graph, and tensors."""

import enum
import os
from typing import List

import numpy

import howard
import howard.ttnn
from howard import _native
from howard.ttnn import DataType, Layout

_NAMES = {DataType.BFLOAT16: "bfloat16", DataType.FLOAT32: "float32", DataType.UINT32: "uint32"}


GradMode = enum.Enum("GradMode", "DISABLED ENABLED", start=0)
PreferredPrecision = enum.Enum("PreferredPrecision", "HALF FULL", start=0)
RunMode = enum.Enum("RunMode", "TRAIN EVAL", start=0)


class AutoContext:
    """Holds the one device of a script, its graph and its seed."""

    _instance = None

    def __init__(self):
        self._device = self._graph = self._kind = None
        self._seed = 5489
        self._mode = GradMode.ENABLED
        self.random = numpy.random.default_rng(self._seed)

    @staticmethod
    def get_instance():
        if AutoContext._instance is None:
            AutoContext._instance = AutoContext()
        return AutoContext._instance

    def open_device(self, mesh_shape=(1, 1), device_ids=()):
        """Opens the emulated chip, or the host with HOWARD_DEVICE=host."""
        if any(side != 1 for side in mesh_shape) or len(device_ids) > 1:
            raise RuntimeError(f"a mesh of {list(mesh_shape)} devices: howard.ttml has one device; "
                               "run_experiment fit says what several make of a training")
        if self._device is not None:
            raise RuntimeError("open_device was called after the device was opened")
        kind = os.environ.get("HOWARD_DEVICE", "emulated")
        if kind not in ("emulated", "host"):
            raise RuntimeError(f"HOWARD_DEVICE is '{kind}'; accepted: emulated, host")
        self._kind = kind
        if kind == "host":
            self._device = howard.open_host()
        else:
            session = howard.ttnn._session.session
            self._device = howard.open_emulated(values=session.values, profiles=session.profiles,
                                                settings=session.settings)
        self._graph = _native._ttml.Graph(self._device, self._seed)
        self.set_gradient_mode(self._mode)

    def close_device(self):
        """Waits for the device. Its tensors can still be read."""
        _finished.extend(self._times())
        self._device = self._graph = None

    def _times(self):
        if self._device is None:
            return []
        self._device.finish()
        time = "of wall time" if self._kind == "host" else "of virtual time"
        return [f"{1e-9 * self._device.now_ps():.2f} ms {time} on {self._device.description}"]

    def get_device(self):
        self._open()
        return self._device

    def reset_graph(self):
        self._open().reset()

    def set_gradient_mode(self, mode):
        self._mode = mode
        if self._graph is not None:
            self._graph.set_records(mode == GradMode.ENABLED)

    def get_gradient_mode(self):
        return self._mode

    def set_seed(self, seed):
        self._seed = int(seed) & 0xFFFFFFFF
        self.random = numpy.random.default_rng(self._seed)
        if self._graph is not None:
            self._graph.set_seed(self._seed)

    def get_seed(self):
        return self._seed

    def initialize_parallelism_context(self, *_, **__):
        raise RuntimeError("initialize_parallelism_context: howard.ttml has one device; "
                           "run_experiment train and fit know meshes")

    def _open(self):
        """Returns the graph; the device is opened with the first tensor, as TTML does."""
        if self._graph is None:
            self.open_device()
        return self._graph


_finished: List[str] = []  # It has what each device took that was closed.


def summary():
    """Returns lines on the devices that the script has used, for the end of `run_experiment
    python`."""
    context = AutoContext._instance
    return _finished + (context._times() if context is not None else [])


def graph():
    return AutoContext.get_instance()._open()


class Value:
    """Holds a tensor's values, as the ttnn.Tensor of TTML's get_value() does."""

    def __init__(self, array):
        self._array = array

    @property
    def shape(self):
        return list(self._array.shape)

    def to_numpy(self, new_type=None, *_):
        return self._array.astype(numpy.uint32) if new_type == DataType.UINT32 else self._array

    def item(self):
        """Returns the number; the last of several, which the guide's generate() means by it."""
        return self._array.flat[-1].item()

    def __repr__(self):
        return f"ttml.Value({self._array!r})"


def argmax(value, dim=None, keepdim=False, **_):
    """Returns where the largest numbers of get_value() are."""
    return Value(numpy.argmax(value.to_numpy(), axis=dim, keepdims=keepdim).astype(numpy.uint32)
                 if dim is not None else numpy.array([numpy.argmax(value.to_numpy())]))


def _argmax_of_either(input_tensor, *args, **kwargs):
    take = argmax if isinstance(input_tensor, Value) else _ttnn_argmax
    return take(input_tensor, *args, **kwargs)


# Scripts hand what get_value() gives to ttnn.argmax.
_ttnn_argmax, howard.ttnn.argmax = howard.ttnn.argmax, _argmax_of_either


class Tensor:
    """Represents a tensor on the device, of four dimensions; one of tokens holds whole numbers."""

    def __init__(self, variable, shape=None, tokens=None):
        self._variable = variable
        self._shape = list(shape) if shape is not None else variable.shape
        self._tokens = tokens

    @staticmethod
    def from_numpy(array, layout=Layout.TILE, new_type=None, mapper=None):
        """Copies an array to the device: floats as bfloat16, whole numbers as uint32."""
        if mapper is not None:
            raise RuntimeError("from_numpy: a mapper is for several devices, and there is one")
        array = numpy.asarray(array)
        whole = numpy.issubdtype(array.dtype, numpy.integer)
        kind = new_type or (DataType.UINT32 if whole else DataType.BFLOAT16)
        if kind not in _NAMES:
            raise RuntimeError(f"from_numpy: a tensor of {kind}; accepted: BFLOAT16, FLOAT32, UINT32")
        shape = [1] * (4 - array.ndim) + list(array.shape)
        if array.ndim > 4 or array.size == 0:
            raise RuntimeError(f"from_numpy: an array of shape {array.shape}; accepted: one to four "
                               "dimensions, none of them 0")
        device = AutoContext.get_instance().get_device()
        if kind == DataType.UINT32:
            tokens = numpy.ascontiguousarray(array, dtype=numpy.uint32)
            rows = tokens.reshape(-1, tokens.shape[-1])
            made = device.tensor(rows.astype(numpy.int64), "uint32", "row_major")
            return Tensor(graph().tensor(made), shape, tokens.reshape(shape))
        values = numpy.ascontiguousarray(array, dtype=numpy.float32).reshape(shape)
        return Tensor(graph().tensor(device.tensor(values, _NAMES[kind])), shape)

    def to_numpy(self, new_type=None, composer=None):
        """Waits and returns the values as an array of float32, or of uint32 for tokens."""
        if self._tokens is not None:
            return self._tokens
        array = self._variable.value.numpy().reshape(self._shape)
        return array.astype(numpy.uint32) if new_type == DataType.UINT32 else array

    def get_value(self, precision=PreferredPrecision.HALF):
        return Value(self.to_numpy())

    def shape(self):
        return list(self._shape)

    def get_rank(self):
        return 4

    def get_requires_grad(self):
        return self._variable.is_parameter

    def is_grad_initialized(self):
        return self._variable.gradient is not None

    def get_grad(self):
        """Returns the gradient of a parameter since zero_grad()."""
        gradient = self._variable.gradient
        if gradient is None:
            raise RuntimeError("get_grad: the tensor has no gradient; backward() gives one to "
                               "parameters")
        return Value(gradient.numpy().reshape(self._shape))

    def set_value(self, value):
        self._variable.set_value(value._variable.value)

    def set_grad(self, gradient):
        """Gives a parameter a gradient: a tensor, or what get_grad() of another has returned."""
        made = gradient if isinstance(gradient, Tensor) else Tensor.from_numpy(gradient.to_numpy())
        if made.shape() != self._shape:
            raise RuntimeError(f"set_grad: {made.shape()}; accepted: {self._shape}")
        self._variable.set_gradient(made._variable.value)

    def add_grad(self, gradient):
        """Adds to a parameter's gradient."""
        if not self.is_grad_initialized():
            return self.set_grad(gradient)
        added = self.get_grad().to_numpy() + gradient.to_numpy()
        return self.set_grad(Tensor.from_numpy(added))

    def backward(self, retain_graph=False):
        """Gives each parameter its gradient, added to what it has. The graph is gone afterwards."""
        if retain_graph:
            raise RuntimeError("backward: a graph runs backward once; retain_graph=False")
        graph().backward(self._variable)

    def __repr__(self):
        return f"ttml.autograd.Tensor(shape={self._shape})"


def create_tensor(value, requires_grad=True):
    """Makes a tensor of an array, or of what get_value() returns. If it requires a gradient, it has
    one after backward(), as parameters have; whole numbers never have one."""
    array = value.to_numpy() if isinstance(value, Value) else value
    made = Tensor.from_numpy(array)
    if not requires_grad or made._tokens is not None:
        return made
    return Tensor(graph().parameter(made._variable, ""), made.shape())
