# SPDX-License-Identifier: Apache-2.0
"""Implements ttml.core: functions on tensors and on the parameters of a module."""

import howard.ttnn as ttnn

from . import distributed, utils
from .._graph import TTProfiler
from ..autograd import Tensor
from ..optimizers import clip_grad_norm

__all__ = ["TTProfiler", "clip_grad_norm", "distributed", "empty_like", "ones_like", "utils",
           "zeros_like"]


def _value(tensor):
    return tensor.get_value() if isinstance(tensor, Tensor) else tensor


def zeros_like(tensor):
    return ttnn.zeros_like(_value(tensor))


def ones_like(tensor):
    return ttnn.ones_like(_value(tensor))


def empty_like(tensor):
    return Tensor(ttnn.empty_like(_value(tensor)), True)
