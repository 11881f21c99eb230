# SPDX-License-Identifier: Apache-2.0
"""Gives tensors the methods and operators that are ops; it lies above both."""

from . import _convert, _printing
from ._operations import core, data_movement, layout, padding
from ._operations.eltwise import FUNCTIONS
from ._operations.matmul import matmul
from ._tensor import Tensor
from ._types import Layout, padded_shape


def _init(self, *args, **kwargs):
    made = core.new_tensor(*args, **kwargs)
    for name in Tensor.__slots__[:-2]:
        setattr(self, name, getattr(made, name))


def _to(self, where, memory_config=None, cq_id=None, *, mem_config=None):
    if isinstance(where, Layout):
        return layout.to_layout(self, where)
    return core.to_device(self, where, memory_config or mem_config, cq_id=cq_id)


def _reshape(self, *shape):
    given = shape[0] if len(shape) == 1 and not isinstance(shape[0], int) else shape
    return data_movement.reshape(self, given)


def _pad(self, output_shape, input_start=None, pad_value=0):
    return padding.host_pad(self, output_shape, input_start, pad_value)


def _operator(function):
    return lambda self, other: function(self, other)


def _cpu(self, blocking=True, cq_id=None):
    return core.from_device(self, blocking, cq_id=cq_id)


def _to_torch(self, **kwargs):
    return core.to_torch(self, **kwargs)


def _pad_to_tile(self, pad_value=0):
    return _pad(self, list(padded_shape(self._shape))[-len(self._shape):], None, pad_value)


def _unpad_from_tile(self, shape):
    whole = self.padded_shape
    if list(shape) == list(whole):  # The way through rows has left the padding out already.
        return self
    if list(padded_shape(shape)) != list(whole):
        raise RuntimeError(f"unpad_from_tile: the tiles of {list(shape)} are not those of {whole}")
    return padding.host_unpad(self, [0] * len(shape), list(shape))


def _to_torch_with_padded_shape(self):
    """Returns a torch tensor of all that tiles hold, what lies behind the last row and column too."""
    if self._device is not None:
        raise RuntimeError("to_torch_with_padded_shape() is for tensors on the host: tensor.cpu()")
    whole = padding.whole_array(self, self.array())
    return _convert.torch_of(whole, self._dtype)


_METHODS = {
    "__init__": _init, "__getitem__": data_movement.take, "__repr__": _printing.text_of,
    "__matmul__": _operator(matmul), "cpu": _cpu, "to": _to, "to_torch": _to_torch,
    "to_torch_with_padded_shape": _to_torch_with_padded_shape,
    "to_numpy": core.to_numpy, "to_list": core.to_list, "reshape": _reshape, "pad": _pad,
    "unpad": padding.host_unpad, "pad_to_tile": _pad_to_tile, "unpad_from_tile": _unpad_from_tile,
    **{f"__{method}__": _operator(FUNCTIONS[name]) for method, name in {
        "add": "add", "radd": "add", "sub": "subtract", "mul": "multiply", "rmul": "multiply",
        "truediv": "divide", "rtruediv": "rdiv", "eq": "eq", "ne": "ne", "lt": "lt", "le": "le",
        "gt": "gt", "ge": "ge"}.items()}}
for _name, _method in _METHODS.items():
    setattr(Tensor, _name, _method)
