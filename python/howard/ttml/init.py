# SPDX-License-Identifier: Apache-2.0
"""Implements ttml.init: start values, drawn by NumPy on the host, and parameters that wait for them."""

import contextlib
import math

import numpy as np

from howard.ttnn import DataType

from ._graph import context
from .autograd import Tensor

_lazy = [False]


class TensorMetadata:
    """Describes a tensor that is not allocated yet. init_fn is a function of ttml.init, or one that
    takes a shape and a mapper and returns a tensor."""

    def __init__(self, shape, init_fn, mapper=None, requires_grad=True):
        self.shape, self.init_fn, self.mapper = list(shape), init_fn, mapper
        self.requires_grad = requires_grad

    def materialize(self, mapper_override=None):
        before, _lazy[0] = _lazy[0], False
        try:
            made = self.init_fn(self.shape, mapper_override or self.mapper)
        finally:
            _lazy[0] = before
        made.set_requires_grad(self.requires_grad)
        return made


def is_lazy_init_enabled():
    return _lazy[0]


@contextlib.contextmanager
def lazy_init():
    """Within it, parameters are described and not allocated; materialize_module() does that."""
    before, _lazy[0] = _lazy[0], True
    try:
        yield
    finally:
        _lazy[0] = before


def _made(array, mapper):
    return Tensor.from_numpy(np.ascontiguousarray(array, np.float32), new_type=DataType.BFLOAT16,
                             mapper=mapper)


def _initializer(draw):
    def make(shape, mapper=None):
        shape = [int(d) for d in shape]
        return TensorMetadata(shape, make, mapper) if _lazy[0] else _made(draw(shape), mapper)

    make.draw = draw
    return make


def _in_place(make):
    def fill(target, *args, **kwargs):
        if _lazy[0]:
            raise RuntimeError("in-place initializers need tensors; materialize_module(module) "
                               "allocates those of lazy_init()")
        tensor = getattr(target, "tensor", target)
        tensor.set_value(_made(make(*args, **kwargs).draw(tensor.shape()), None))
        return target

    return fill


def uniform(a=0.0, b=1.0):
    return _initializer(lambda shape: context().random.uniform(a, b, shape))


def normal(mean=0.0, std=1.0):
    return _initializer(lambda shape: context().random.normal(mean, std, shape))


def constant(value):
    return _initializer(lambda shape: np.full(shape, value, np.float32))


def zeros():
    return constant(0.0)


def ones():
    return constant(1.0)


def _fans(shape):
    return shape[-1], shape[-2]


def xavier_uniform(gain=1.0):
    return _initializer(lambda shape: context().random.uniform(-1, 1, shape) * gain * math.sqrt(
        6.0 / sum(_fans(shape))))


def xavier_normal(gain=1.0):
    return _initializer(lambda shape: context().random.normal(0, 1, shape) * gain * math.sqrt(
        2.0 / sum(_fans(shape))))


def calculate_gain(nonlinearity, param=None):
    """Returns the factor that keeps the deviation of values behind a function."""
    known = {"linear": 1.0, "sigmoid": 1.0, "tanh": 5.0 / 3, "relu": math.sqrt(2.0), "selu": 0.75,
             "leaky_relu": math.sqrt(2.0 / (1 + (0.01 if param is None else param)**2))}
    if nonlinearity not in known:
        raise ValueError(f"calculate_gain of '{nonlinearity}'; accepted: {', '.join(known)}")
    return known[nonlinearity]


def _kaiming(shape, a, mode, nonlinearity):
    if mode not in ("fan_in", "fan_out"):
        raise ValueError(f"a mode of '{mode}'; accepted: fan_in, fan_out")
    fan = _fans(shape)[mode == "fan_out"]
    return calculate_gain(nonlinearity, a) / math.sqrt(fan)


def kaiming_uniform(a=0.0, mode="fan_in", nonlinearity="leaky_relu"):
    return _initializer(lambda shape: context().random.uniform(-1, 1, shape) * math.sqrt(3.0)
                        * _kaiming(shape, a, mode, nonlinearity))


def kaiming_normal(a=0.0, mode="fan_in", nonlinearity="leaky_relu"):
    return _initializer(lambda shape: context().random.normal(0, 1, shape)
                        * _kaiming(shape, a, mode, nonlinearity))


def manual_seed(seed):
    context().set_seed(seed)


uniform_, normal_, constant_ = _in_place(uniform), _in_place(normal), _in_place(constant)
zeros_, ones_ = _in_place(zeros), _in_place(ones)
xavier_uniform_, xavier_normal_ = _in_place(xavier_uniform), _in_place(xavier_normal)
kaiming_uniform_, kaiming_normal_ = _in_place(kaiming_uniform), _in_place(kaiming_normal)
