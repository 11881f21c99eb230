# SPDX-License-Identifier: Apache-2.0
"""Implements ttml.autograd: tensors with gradients, and functions of the user's own."""

import numpy

import howard.ttnn as ttnn
from howard.ttnn import DataType, Layout
from howard.ttnn._tensor import host_tensor

from ._graph import (AutoContext, DistributedConfig, GradMode, Graph, NodeId, ParallelismContext,
                     PreferredPrecision, RunMode, context, from_python, one_call)

__all__ = ["AutoContext", "AutocastTensor", "DistributedConfig", "Function", "FunctionContext",
           "GradMode", "Graph", "GraphNode", "NodeId", "ParallelismContext", "PreferredPrecision",
           "RunMode", "Tensor", "callback", "create_tensor", "get_links"]

_REAL = (DataType.BFLOAT16, DataType.FLOAT32)
_KINDS = {"float32": DataType.FLOAT32, "int32": DataType.INT32, "uint32": DataType.UINT32,
          "bfloat16": DataType.BFLOAT16}
_NUMPY = {DataType.FLOAT32: "float32", DataType.INT32: "int32", DataType.UINT32: "uint32"}
GraphNode = NodeId


def _numpy_kind(dtype):
    if dtype is DataType.BFLOAT16:
        try:
            import ml_dtypes  # Only who asks for bfloat16 needs it.
        except ImportError:
            return numpy.dtype("float32")
        return numpy.dtype(ml_dtypes.bfloat16)
    if dtype not in _NUMPY:
        raise TypeError(f"Unsupported type: {getattr(dtype, 'name', dtype)}")
    return numpy.dtype(_NUMPY[dtype])


class AutocastTensor:
    """Holds a tensor in the precision that it has, and in the other one once somebody asks."""

    def __init__(self, value=None):
        self.set_tensor(value)

    def set_tensor(self, value):
        self._value, self._other = value, None

    def get_tensor(self, precision=PreferredPrecision.HALF):
        value = self._value
        if value is None:
            raise RuntimeError("the tensor has no value")
        wanted = DataType.BFLOAT16 if precision is PreferredPrecision.HALF else DataType.FLOAT32
        if value.dtype not in _REAL or value.dtype is wanted:
            return value
        if self._other is None:
            if value.layout is Layout.ROW_MAJOR and value.shape[-1] % 32:
                raise RuntimeError(f"a tensor of rows of {value.shape[-1]} in {value.dtype.name}, where "
                                   f"{wanted.name} is asked for; accepted: rows of a multiple of 32, "
                                   "or layout=ttnn.Layout.TILE")
            self._other = one_call(ttnn.typecast)(value, wanted)
        return self._other

    def has_tensor(self):
        return self._value is not None


class Tensor:
    """Represents a tensor on the device that may have a gradient. Scripts may give it attributes."""

    def __init__(self, value=None, requires_grad=False):
        self._cell = AutocastTensor(value)
        self._requires_grad = bool(requires_grad)
        self._grad = self._node = None

    # Between arrays and the device.

    @staticmethod
    def from_numpy(array, layout=Layout.TILE, new_type=None, mapper=None):
        """Copies an array to the device: float32, int32, uint32 or ml_dtypes' bfloat16, or as
        new_type says. Tiles are made on the device."""
        array = numpy.asarray(array)
        kind = _KINDS.get(array.dtype.name)
        if kind is None:
            raise TypeError(f"from_numpy: an array of {array.dtype}; accepted: {', '.join(_KINDS)}")
        if array.size == 0:
            raise TypeError(f"from_numpy: an array of shape {array.shape}; accepted: no dimension "
                            "of 0")
        dtype = new_type or kind
        if dtype not in _KINDS.values():
            raise TypeError(f"Unsupported type: {getattr(dtype, 'name', dtype)}")
        if not isinstance(layout, Layout):
            raise TypeError(f"from_numpy: a layout of {layout!r}; accepted: ttnn.Layout.TILE, "
                            "ttnn.Layout.ROW_MAJOR")
        whole = kind in (DataType.INT32, DataType.UINT32)
        values = array.astype(numpy.int64 if whole else numpy.float32).reshape(array.shape or (1,))
        return create_tensor(_uploaded(values, dtype, layout, mapper))

    @staticmethod
    def from_ttnn(value):
        return create_tensor(value)

    def to_numpy(self, new_type=None, composer=None):
        """Waits and returns the values: float32 of real ones, or what new_type says."""
        return array_of(self._cell.get_tensor(PreferredPrecision.FULL), new_type, composer)

    # What it is.

    @property
    def tensor(self):
        return self

    def get_value(self, precision=PreferredPrecision.HALF):
        return self._cell.get_tensor(precision)

    def set_value(self, value):
        value = value.get_value() if isinstance(value, Tensor) else value
        self._cell.set_tensor(_value_of("set_value", value))

    def half(self):
        return self._cell.get_tensor()

    def own(self):
        """Returns the tensor in the precision that it has."""
        return self._cell._value

    def changed(self):
        """Says that the memory was written: what was made of it before is stale."""
        self._cell._other = None

    def assign(self, other):
        other = other.get_value() if isinstance(other, Tensor) else other
        ttnn.assign(_value_of("assign", other, none=False), output_tensor=self.own())
        self.changed()

    def shape(self):
        return list(self.own().shape) if self.own() is not None else []

    def get_shape(self):
        return self.own().shape

    def get_rank(self):
        return len(self.own().shape)

    def dtype(self):
        return self._cell.get_tensor(PreferredPrecision.FULL).dtype

    def to_string(self):
        return str(self.own())

    def __repr__(self):
        return f"ttml.autograd.Tensor(shape={self.shape()})"

    def __reduce__(self):
        """Lets pickle take the values, which are all on each device, and not the graph."""
        own = self.own()
        if own is None:
            return Tensor, (None, self._requires_grad)
        return _unpickled, (array_of(own), own.dtype.name, own.layout.name, self._requires_grad)

    # Its gradient.

    def get_requires_grad(self):
        return self._requires_grad

    def set_requires_grad(self, requires_grad):
        self._requires_grad = bool(requires_grad)

    def is_grad_initialized(self):
        return self._grad is not None

    def get_grad(self):
        if self._grad is None:
            raise RuntimeError("get_grad: the tensor has no gradient; backward() gives one to each "
                               "tensor that requires it")
        return self._grad

    get_grad_rw = get_grad

    def get_grad_tensor(self):
        return Tensor(self.get_grad())

    def set_grad(self, gradient):
        """Takes a tensor of ttnn of the same shape, or None or an empty one, which clear."""
        if isinstance(gradient, Tensor):
            gradient = None if gradient.own() is None else gradient.get_value()
        if _value_of("set_grad", gradient) is not None and list(gradient.shape) != self.shape():
            raise RuntimeError(f"Shapes of gradients are not equal. Expected: {self.shape()}, got: "
                               f"{list(gradient.shape)}")
        self._grad = gradient

    def set_grad_from_tensor(self, gradient):
        self.set_grad(gradient)

    def clear_grad(self):
        self._grad = None

    def add_grad(self, gradient):
        if not self._requires_grad:
            return
        if self._grad is None:
            self.set_grad(gradient)
            return
        if list(gradient.shape) != list(self._grad.shape):
            raise RuntimeError(f"Shapes of gradients are not equal. Expected: {self.shape()}, got: "
                               f"{list(gradient.shape)}")
        self._grad = one_call(ttnn.add)(self._grad, gradient)

    def get_node(self):
        return self._node

    def set_node(self, node):
        if self._node is not None and node is not None:
            raise RuntimeError("Graph node is already set for this tensor!")
        self._node = node

    def clean_node(self):
        self._node = None

    @one_call
    def backward(self, retain_graph=False):
        """Gives each tensor that requires it its gradient, added to what it has."""
        if self._node is None:
            raise RuntimeError("backward: the tensor has no graph: nothing that made it requires a "
                               "gradient, or gradients are off")
        if self._grad is None:
            self._grad = ttnn.ones_like(self.half())
        self._node.get_graph().run_backward(self._node, retain_graph)


def _uploaded(values, dtype, layout, mapper):
    """Copies an array: rows first, then one program makes tiles of them."""
    device = context().get_device()
    host = ttnn.from_torch(values, dtype, layout=Layout.ROW_MAJOR, mesh_mapper=mapper) \
        if mapper is not None else _host(values, dtype)
    made = one_call(ttnn.to_device)(host, device)
    return made if layout is Layout.ROW_MAJOR else ttnn.tilize_with_zero_padding(made)


def _host(values, dtype):
    from howard.ttnn import _arrays  # NumPy is there: the array is its own.

    return host_tensor([_arrays.rounded(values, dtype.value)], dtype)


def array_of(value, new_type=None, composer=None):
    """Returns the values of a tensor of ttnn as TTML's to_numpy does."""
    value.blocking_read()
    if composer is not None:
        array = composer.join(value.shards())
    else:
        array = value.array()
    dtype = new_type or (value.dtype if value.dtype in _NUMPY else DataType.FLOAT32)
    return numpy.array(array).astype(_numpy_kind(dtype))


def _unpickled(array, dtype, layout, requires_grad):
    made = Tensor.from_numpy(array, Layout[layout], DataType[dtype])
    made.set_requires_grad(requires_grad)
    return made


def _value_of(who, value, none=True):
    """Returns a tensor of ttnn, or None. Raises TypeError for anything else."""
    if isinstance(value, ttnn.Tensor) or (none and value is None):
        return value
    raise TypeError(f"{who}: a {type(value).__name__}; accepted: a tensor")


def create_tensor(value=None, requires_grad=True):
    """Makes a tensor of a tensor of ttnn, or of an array."""
    if isinstance(value, numpy.ndarray):
        value = Tensor.from_numpy(value.astype(numpy.float32) if value.dtype.kind == "f" else
                                  value.astype(numpy.uint32)).own()
    if isinstance(value, (Tensor, AutocastTensor)):
        value = value.get_value() if isinstance(value, Tensor) else value.get_tensor()
    return Tensor(_value_of("create_tensor", value), requires_grad)


def get_links(*tensors):
    """Returns the nodes of tensors that have one; these may be a list."""
    given = [t for one in tensors for t in (one if isinstance(one, (list, tuple)) else [one])]
    return [t.get_node() for t in given if isinstance(t, Tensor) and t.get_node() is not None]


def derived(value, inputs, backward):
    """Returns an op's result. `backward` takes the gradient of the result, a tensor of ttnn, and
    returns one for each input; None where there is none to give."""
    requires = any(t.get_requires_grad() for t in inputs)
    out = Tensor(value, requires)
    if not requires or context().get_gradient_mode() is GradMode.DISABLED:
        return out

    def run():
        if not out.is_grad_initialized():
            return
        for tensor, gradient in zip(inputs, backward(out.get_grad())):
            if gradient is not None:
                tensor.add_grad(gradient)

    out.set_node(context().add_backward_node(run, get_links(inputs)))
    return out


def callback(tensor, function):
    """Returns the tensor; function() runs in the backward pass before what made it does."""

    def backward(gradient):
        from_python(function)
        return [gradient]

    return derived(tensor.own(), [tensor], backward)


class FunctionContext:
    """Carries what a Function keeps for its backward pass."""

    def __init__(self):
        self.saved_tensors = ()

    def save_for_backward(self, *tensors):
        self.saved_tensors = tensors


class Function:
    """Is a base of operations of the user's own: forward(ctx, *inputs) and backward(ctx, *grads),
    static methods."""

    @classmethod
    def apply(cls, *inputs):
        ctx = FunctionContext()
        made = cls.forward(ctx, *inputs)
        outputs = made if isinstance(made, (tuple, list)) else (made,)
        wrapped = [out if isinstance(out, Tensor) else
                   Tensor(_value_of(f"forward of {cls.__name__}", out, none=False), True)
                   for out in outputs]
        result = tuple(wrapped) if isinstance(made, (tuple, list)) else wrapped[0]
        if context().get_gradient_mode() is GradMode.DISABLED:
            return result
        known = [out.get_node() is not None for out in wrapped]
        if all(known):
            return result
        if any(known):
            raise RuntimeError(f"{cls.__name__}: some outputs have a graph node and some have none")
        tensors = [one for one in inputs if isinstance(one, Tensor)]

        def run():
            grads = [out.get_grad() if out.is_grad_initialized() else ttnn.zeros_like(out.half())
                     for out in wrapped]
            try:
                found = from_python(cls.backward, ctx, *grads)
                found = found if isinstance(found, (tuple, list)) else (found,)
                if len(found) != len(tensors):
                    raise ValueError(f"{len(found)} gradients for {len(tensors)} tensors")
                for tensor, gradient in zip(tensors, found):
                    if gradient is not None:
                        tensor.add_grad(gradient.get_value() if isinstance(gradient, Tensor)
                                        else gradient)
            except Exception as failure:
                raise RuntimeError(f"Error in backward of {cls.__name__}: {failure}") from failure

        for out in wrapped:
            out.set_requires_grad(True)
        first = context().add_backward_node(run, get_links(tensors))
        wrapped[0].set_node(first)
        for out in wrapped[1:]:
            out.set_node(context().add_backward_node(lambda: None, [first]))
        return result

    @staticmethod
    def forward(ctx, *inputs):
        raise NotImplementedError("forward")

    @staticmethod
    def backward(ctx, *grads):
        raise NotImplementedError("backward")
