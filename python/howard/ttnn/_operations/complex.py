# SPDX-License-Identifier: Apache-2.0
"""Implements complex numbers: two tensors."""

from .eltwise import FUNCTIONS


class ComplexTensor:
    def __init__(self, real, imag):
        self.real, self.imag = real, imag

    def deallocate(self):
        self.real.deallocate()
        self.imag.deallocate()


def complex_tensor(real, imag):
    return ComplexTensor(real, imag)


def real(tensor, *, memory_config=None):
    return tensor.real


def imag(tensor, *, memory_config=None):
    return tensor.imag


def conj(tensor, *, memory_config=None):
    return ComplexTensor(tensor.real, FUNCTIONS["neg"](tensor.imag))


def angle(tensor, *, memory_config=None):
    return FUNCTIONS["atan2"](tensor.imag, tensor.real)


def polar(tensor, *, memory_config=None):
    """Returns the complex numbers of lengths and angles."""
    length, turn = tensor.real, tensor.imag
    return ComplexTensor(FUNCTIONS["multiply"](length, FUNCTIONS["cos"](turn)),
                         FUNCTIONS["multiply"](length, FUNCTIONS["sin"](turn)))


def is_real(tensor, *, memory_config=None):
    return FUNCTIONS["eqz"](tensor.imag)


def is_imag(tensor, *, memory_config=None):
    return FUNCTIONS["eqz"](tensor.real)
