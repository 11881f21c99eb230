# SPDX-License-Identifier: Apache-2.0
"""Implements tt_lib.fallback_ops: PyTorch's functions on tensors of ttnn, on the host."""

import sys
from typing import Tuple, Type

import torch

from .._operations.core import from_torch, to_device, to_torch
from .._operations.layout import to_layout
from .._tensor import Tensor
from .._types import DataType, Layout


def _to_host(value):
    if isinstance(value, Tensor):
        made = to_torch(value)
        return made.float() if made.dtype is torch.bfloat16 else made
    if isinstance(value, (list, tuple)):
        return type(value)(map(_to_host, value))
    return value


def _device_of(values):
    for one in values:
        if isinstance(one, Tensor) and one.device() is not None:
            return one.device()
        found = _device_of(one) if isinstance(one, (list, tuple)) else None
        if found is not None:
            return found
    return None


def _to_ttnn(made, layout, device):
    if isinstance(made, (list, tuple)):
        return [_to_ttnn(one, layout, device) for one in made]
    if not isinstance(made, torch.Tensor):
        return made
    made = made.reshape((1,) * (4 - made.dim()) + tuple(made.shape))
    made = made.to(torch.int32) if made.dtype is torch.int64 else made
    tensor = from_torch(made, DataType.BFLOAT16 if made.is_floating_point() else None)
    if layout is Layout.TILE and made.shape[-1] % 32 == 0 and made.shape[-2] % 32 == 0:
        tensor = to_layout(tensor, Layout.TILE)
    if device is None or tensor.layout is Layout.ROW_MAJOR and made.shape[-1] % 2:
        return tensor
    return to_device(tensor, device)


def _fallback(function):
    def call(*args, output_layout=Layout.TILE, output_on_device=True, **kwargs):
        values = [*args, *kwargs.values()]
        with torch.no_grad():
            made = function(*map(_to_host, args), **{k: _to_host(v) for k, v in kwargs.items()})
        return _to_ttnn(made, output_layout, _device_of(values) if output_on_device else None)

    call.__doc__ = f"{function} of PyTorch, on the host."
    return call


class _Module:
    """Makes a module of PyTorch from its parameters, which come first."""

    kind: Type[torch.nn.Module] = torch.nn.Identity
    parameters: Tuple[str, ...] = ("weight", "bias")

    def __init__(self, *args, **kwargs):
        given = [_to_host(one) for one in args[:len(self.parameters)]]
        self.module = self.kind(*args[len(self.parameters):], **kwargs)
        for name, value in zip(self.parameters, given):
            at = getattr(self.module, name, None)
            if value is None:
                setattr(self.module, name, None)
            elif at is not None:
                at.data = value.reshape(at.shape).to(at.dtype)
        self.module.eval()
        self._call = _fallback(self.module)

    def __call__(self, *args, **kwargs):
        return self._call(*args, **kwargs)


class Conv2d(_Module):
    """Takes the weights, the biases, and what torch.nn.Conv2d takes."""

    kind = torch.nn.Conv2d


class GroupNorm(_Module):
    kind = torch.nn.GroupNorm


class LayerNorm(_Module):
    kind = torch.nn.LayerNorm


class BatchNorm2d(_Module):
    kind = torch.nn.BatchNorm2d
    parameters = ("weight", "bias", "running_mean", "running_var", "num_batches_tracked")


class MaxPool2d(_Module):
    kind = torch.nn.MaxPool2d
    parameters = ()


class AdaptiveAvgPool2d(_Module):
    kind = torch.nn.AdaptiveAvgPool2d
    parameters = ()


def _argmin(x, dim=None, keepdim=False):
    return torch.argmin(x, dim, keepdim) if dim is not None else torch.argmin(x)


def _argmax(x, dim=None, keepdim=False):
    return torch.argmax(x, dim, keepdim) if dim is not None else torch.argmax(x)


full = _fallback(lambda size, fill_value: torch.full(list(size), float(fill_value)))
tensor_slice = _fallback(lambda x, slices: x[tuple(slices)])
reshape = _fallback(lambda x, *sizes: x.reshape(*sizes))
permute = _fallback(lambda x, *order: x.permute(*order))
chunk = _fallback(torch.chunk)
conv2d = _fallback(torch.nn.functional.conv2d)
group_norm = _fallback(torch.nn.functional.group_norm)
layer_norm = _fallback(torch.nn.functional.layer_norm)
pad = _fallback(lambda x, padding, mode="constant", value=0: torch.nn.functional.pad(
    x, tuple(padding), mode=mode, value=value))
interpolate = _fallback(torch.nn.functional.interpolate)
repeat = _fallback(lambda x, sizes: x.repeat(*sizes))
repeat_interleave = _fallback(torch.repeat_interleave)
concat = _fallback(lambda tensors, dim=0: torch.concat(list(tensors), dim))
silu = _fallback(torch.nn.functional.silu)
softmax = _fallback(lambda x, dim=None: torch.softmax(x, -1 if dim is None else dim))
ceil, floor, trunc = map(_fallback, (torch.ceil, torch.floor, torch.trunc))
unary_fmod = binary_fmod = _fallback(torch.fmod)
bitwise_not = _fallback(lambda x: torch.bitwise_not(x.int()))


def _of_whole(function):
    return _fallback(lambda a, b: function(
        a.int(), b.int() if isinstance(b, torch.Tensor) else int(b)))


unary_bitwise_or = binary_bitwise_or = _of_whole(torch.bitwise_or)
unary_bitwise_and = binary_bitwise_and = _of_whole(torch.bitwise_and)
unary_bitwise_xor = binary_bitwise_xor = _of_whole(torch.bitwise_xor)
unary_bitwise_right_shift = binary_bitwise_right_shift = _of_whole(torch.bitwise_right_shift)
unary_bitwise_left_shift = binary_bitwise_left_shift = _of_whole(torch.bitwise_left_shift)
torch_argmax, torch_argmin = _fallback(_argmax), _fallback(_argmin)


fallback_ops = sys.modules[__name__]  # from tt_lib.fallback_ops import fallback_ops
