# SPDX-License-Identifier: Apache-2.0
"""Implements the gradients of complex numbers, which are complex numbers, and of div_no_nan."""

from .complex import ComplexTensor
from .eltwise import FUNCTIONS
from .eltwise_backward import _gradients
from .._arrays import np
from .._launch import operation


def _f(config, name, *operands):
    return FUNCTIONS[name](*operands, memory_config=config)


def real_bw(grad, input, *, memory_config=None):
    return [ComplexTensor(grad, _f(memory_config, "multiply", input.imag, 0.0))]


def imag_bw(grad, input, *, memory_config=None):
    return [ComplexTensor(_f(memory_config, "multiply", input.real, 0.0), grad)]


def conj_bw(grad, _input, *, memory_config=None):
    return [ComplexTensor(grad.real, _f(memory_config, "neg", grad.imag))]


def angle_bw(grad, input, *, memory_config=None):
    """Returns the gradient of the angle: 0 where the number is 0."""
    size = _f(memory_config, "add", _f(None, "square", input.real), _f(None, "square", input.imag))
    share = _f(memory_config, "div_no_nan", grad, size)
    return [ComplexTensor(_f(memory_config, "multiply", _f(None, "neg", input.imag), share),
                          _f(memory_config, "multiply", input.real, share))]


def polar_bw(grad, input, *, memory_config=None):
    """Returns the gradients of the length and of the angle, as one complex number."""
    across, up = _f(None, "cos", input.imag), _f(None, "sin", input.imag)
    length = _f(memory_config, "add", _f(None, "multiply", grad.real, across),
                _f(None, "multiply", grad.imag, up))
    turned = _f(None, "subtract", _f(None, "multiply", grad.imag, across),
                _f(None, "multiply", grad.real, up))
    return [ComplexTensor(length, _f(memory_config, "multiply", turned, input.real))]


@operation()
def div_no_nan_bw(grad_tensor, input_tensor, scalar, *, memory_config=None):
    """Returns the gradient of a quotient that is 0 where the divisor is 0."""
    def compute(g, _x):
        return np.zeros_like(g) if scalar == 0 else g / scalar

    return _gradients("div_no_nan_bw", grad_tensor, [input_tensor], 1, 1, compute, memory_config)
