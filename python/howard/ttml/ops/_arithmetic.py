# SPDX-License-Identifier: Apache-2.0
"""Implements the ops of numbers: elementwise functions, products, losses, shapes."""

import enum
from numbers import Real

import howard.ttnn as ttnn

from .._graph import one_call
from .._plans import planned
from ..autograd import Tensor, derived

ReduceType = enum.Enum("ReduceType", "SUM MEAN NONE", start=0)


def _binary(name):
    """Makes an op of two tensors. The second may be one of ttnn, which has no gradient."""

    @one_call
    def op(a, b):
        return planned(name, [a, b])

    op.__name__ = name
    return op


def _unary(name):
    @one_call
    def op(tensor):
        return planned(name, [tensor])

    op.__name__ = name
    return op


add, sub, minimum, maximum = map(_binary, ("add", "subtract", "minimum", "maximum"))
relu, gelu, exp, mean = map(_unary, ("relu", "gelu", "exp", "mean"))


@one_call
def div(a, b):
    return planned("divide", [a, b]) if isinstance(b, Tensor) else mul(a, 1.0 / float(b))


@one_call
def mul(a, b):
    """Computes a tensor times a tensor or a number."""
    if isinstance(a, Real):
        a, b = b, a
    return planned("scale", [a], float(b)) if isinstance(b, Real) else planned("multiply", [a, b])


@one_call
def silu(tensor, use_composite_bw=False):
    return planned("silu", [tensor], use_composite_bw)


@one_call
def clip(tensor, low, high):
    return planned("clip", [tensor], low, high)


@one_call
def broadcast_batch(tensor, batch):
    """Repeats [1, ...] for each of a batch."""
    x = tensor.half()
    if x.shape[0] != 1:
        raise RuntimeError(f"broadcast_batch of {tensor.shape()}; accepted: a batch of 1")
    if batch == 1:
        return tensor
    repeats = [batch] + [1] * (len(x.shape) - 1)
    return derived(ttnn.repeat(x, ttnn.Shape(repeats)), [tensor], lambda g: [ttnn.sum(g, 0, True)])


def _of_columns(name):
    """Makes an op along the columns; another dimension is brought there and back."""

    @one_call
    def op(tensor, dim=3):
        rank = len(tensor.shape())
        if not -rank <= dim < rank:
            raise RuntimeError(f"{name} of {tensor.shape()} along dimension {dim}; accepted: {-rank} to "
                               f"{rank - 1}")
        if dim % rank == rank - 1:
            return planned(name, [tensor])
        return swapped(planned(name, [swapped(tensor, dim)]), dim)

    op.__name__ = name
    return op


def swapped(tensor, dim):
    """Swaps a dimension with the last one."""
    return derived(ttnn.transpose(tensor.half(), dim, -1), [tensor],
                   lambda g: [ttnn.transpose(g, dim, -1)])


log_softmax, softmax = map(_of_columns, ("log_softmax", "softmax"))


@one_call
def polynorm3(tensor, weights=(1.0 / 3, 1.0 / 3, 1.0 / 3), bias=0.0, epsilon=1e-6):
    """Computes the weighted norms of x, its square and its cube, along the columns."""
    return planned("polynorm3", [tensor], *weights, bias, epsilon)


# Products.

@one_call
def matmul_op(a, b, transpose_a=False, transpose_b=False):
    return planned("matmul_op", [a, b], transpose_a, transpose_b)


@one_call
def linear(tensor, weight, bias=None):
    """Computes x weight^T + bias."""
    if tensor.shape()[-1] != weight.shape()[-1]:
        raise RuntimeError(f"linear of {tensor.shape()} and a weight of {weight.shape()}; accepted: "
                           "[..., in] and [1, 1, out, in]")
    return planned("linear", [tensor, weight] + ([bias] if bias is not None else []))


@one_call
def reshape(tensor, shape):
    x = tensor.half()
    return derived(ttnn.reshape(x, [int(d) for d in shape]), [tensor],
                   lambda g: [ttnn.reshape(g, list(x.shape))])


# Losses.

def _require_mean(name, reduce):
    if reduce is not ReduceType.MEAN:
        raise RuntimeError(f"{name} with {reduce}; accepted: MEAN")


def rows_layout(value):
    """Returns whole numbers as rows, which is how programs look them up."""
    return value if value.layout is ttnn.Layout.ROW_MAJOR else ttnn.to_layout(
        value, ttnn.Layout.ROW_MAJOR)


@one_call
def mse_loss(prediction, target, reduce=ReduceType.MEAN):
    _require_mean("mse_loss", reduce)
    return planned("mse_loss", [prediction, target])


@one_call
def cross_entropy_loss(prediction, target, reduce=ReduceType.MEAN):
    """Returns the cross-entropy of logits [B, 1, S, V] and targets [B, S]; with NONE of each place,
    [B, 1, S, 1]."""
    if reduce is ReduceType.SUM:
        raise RuntimeError("cross_entropy_loss with SUM; accepted: MEAN, NONE")
    if len(prediction.shape()) != 4 or prediction.own().shape.volume() // prediction.shape()[-1] \
            != target.own().shape.volume():
        raise RuntimeError(f"cross_entropy_loss of {prediction.shape()} and {target.shape()}; "
                           "accepted: [B, 1, S, V] and [B, S]")
    name = "cross_entropies" if reduce is ReduceType.NONE else "cross_entropy_loss"
    return planned(name, [prediction, rows_layout(target.own())])


@one_call
def nll_loss(prediction, target, reduce=ReduceType.MEAN):
    """Returns the mean of minus the logarithms of probabilities [B, 1, S, V] at targets [B, S]."""
    _require_mean("nll_loss", reduce)
    return planned("nll_loss", [prediction, rows_layout(target.own())])
