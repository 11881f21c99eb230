# SPDX-License-Identifier: Apache-2.0
"""Implements ttml.common.utils."""

import random

import numpy

from ..autograd import AutoContext


def set_seed(seed=42):
    random.seed(seed)
    numpy.random.seed(seed)
    AutoContext.get_instance().set_seed(seed)


def initialize_device(config):
    """Opens the device that a dict of a TTML file asks for."""
    device = config.get("device_config", {})
    AutoContext.get_instance().open_device(device.get("mesh_shape", (1, 1)),
                                           device.get("device_ids", ()))


def no_grad():
    """Records nothing within a `with` statement."""
    import contextlib

    from ..autograd import GradMode

    @contextlib.contextmanager
    def inside():
        context = AutoContext.get_instance()
        before = context.get_gradient_mode()
        context.set_gradient_mode(GradMode.DISABLED)
        try:
            yield
        finally:
            context.set_gradient_mode(before)

    return inside()
