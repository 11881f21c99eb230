# SPDX-License-Identifier: Apache-2.0
"""Implements ttml.core: functions on the parameters of a module."""

from howard import _native

from ..autograd import AutoContext
from . import distributed, utils

__all__ = ["clip_grad_norm", "distributed", "utils"]


def clip_grad_norm(parameters, max_norm, p_norm_type=2.0, error_if_nonfinite=True):
    """Scales all gradients so that their norm is max_norm at most, and returns the norm that they
    had."""
    if p_norm_type != 2.0:
        raise RuntimeError(f"clip_grad_norm: a norm of type {p_norm_type}; accepted: 2.0")
    device = AutoContext.get_instance().get_device()
    variables = [tensor._variable for tensor in dict(parameters).values()]
    return _native._ttml.clip_gradients(device, variables, max_norm)
