# SPDX-License-Identifier: Apache-2.0
"""Implements complex numbers: two tensors."""

from .eltwise import FUNCTIONS
from .layout import to_memory_config


class ComplexTensor:
    def __init__(self, real, imag):
        self.real, self.imag = real, imag

    def deallocate(self):
        self.real.deallocate()
        self.imag.deallocate()


def complex_tensor(real, imag):
    return ComplexTensor(real, imag)


def _at(tensor, memory_config):
    return tensor if memory_config is None else to_memory_config(tensor, memory_config)


def real(tensor, *, memory_config=None):
    return _at(tensor.real, memory_config)


def imag(tensor, *, memory_config=None):
    return _at(tensor.imag, memory_config)


def conj(tensor, *, memory_config=None):
    return ComplexTensor(_at(tensor.real, memory_config),
                         FUNCTIONS["neg"](tensor.imag, memory_config=memory_config))


def angle(tensor, *, memory_config=None):
    return FUNCTIONS["atan2"](tensor.imag, tensor.real, memory_config=memory_config)


def polar(tensor, *, memory_config=None):
    """Returns the complex numbers of lengths and angles."""
    length, turn = tensor.real, tensor.imag
    return ComplexTensor(*(
        FUNCTIONS["multiply"](length, FUNCTIONS[part](turn), memory_config=memory_config)
        for part in ("cos", "sin")))


def is_real(tensor, *, memory_config=None):
    return FUNCTIONS["eqz"](tensor.imag, memory_config=memory_config)


def is_imag(tensor, *, memory_config=None):
    return FUNCTIONS["eqz"](tensor.real, memory_config=memory_config)
