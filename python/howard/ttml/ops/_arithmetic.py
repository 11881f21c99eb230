# SPDX-License-Identifier: Apache-2.0
"""Implements the ops of numbers: elementwise functions, products, losses, shapes."""

import enum

import howard.ttnn as ttnn
from howard.ttnn import DataType

from .. import _kernels as kernels
from .._graph import one_call
from ..autograd import AutocastTensor, Tensor, derived

ReduceType = enum.Enum("ReduceType", "SUM MEAN NONE", start=0)


def _value(x):
    if isinstance(x, Tensor):
        return x.half()
    return x.get_tensor() if isinstance(x, AutocastTensor) else x


def _tensors(*operands):
    return [x for x in operands if isinstance(x, Tensor)]


def _binary(name, gradients):
    """Makes an op of two tensors. The second may be one of ttnn, which has no gradient."""

    @one_call
    def op(a, b):
        x, y = _value(a), _value(b)
        out = getattr(ttnn, name)(x, y)

        def backward(g):
            wanted = [isinstance(t, Tensor) and t.get_requires_grad() for t in (a, b)]
            made = gradients(g, x, y, wanted)
            return [kernels.reduced_to(one, operand.shape) if one is not None else None
                    for one, operand, t in zip(made, (x, y), (a, b)) if isinstance(t, Tensor)]

        return derived(out, _tensors(a, b), backward)

    op.__name__ = name
    return op


def _of(wanted, *functions):
    return [function() if on else None for on, function in zip(wanted, functions)]


add = _binary("add", lambda g, x, y, wanted: [g, g])
sub = _binary("subtract", lambda g, x, y, wanted: _of(wanted, lambda: g, lambda: ttnn.neg(g)))
_product = _binary("multiply", lambda g, x, y, wanted: _of(
    wanted, lambda: ttnn.multiply(g, y), lambda: ttnn.multiply(g, x)))
minimum = _binary("minimum", lambda g, x, y, wanted: _of(
    wanted, lambda: ttnn.multiply(g, ttnn.le(x, y)), lambda: ttnn.multiply(g, ttnn.gt(x, y))))
maximum = _binary("maximum", lambda g, x, y, wanted: _of(
    wanted, lambda: ttnn.multiply(g, ttnn.ge(x, y)), lambda: ttnn.multiply(g, ttnn.lt(x, y))))


@one_call
def div(a, b):
    if not isinstance(b, Tensor):
        return mul(a, 1.0 / float(b))
    x, y = a.half(), b.half()
    if a.shape() != b.shape():
        raise RuntimeError(f"div of {a.shape()} by {b.shape()}; accepted: equal shapes")
    inverse = ttnn.reciprocal(y)

    def backward(g):
        by_a = ttnn.multiply(g, inverse)
        return [by_a, ttnn.neg(ttnn.multiply(ttnn.multiply(by_a, x), inverse))]

    return derived(ttnn.multiply(x, inverse), [a, b], backward)


@one_call
def mul(a, b):
    """Computes a tensor times a tensor or a number."""
    if isinstance(a, (int, float)):
        a, b = b, a
    if not isinstance(b, (int, float)):
        return _product(a, b)
    factor = float(b)
    return derived(ttnn.multiply(a.half(), factor), [a],
                   lambda g: [ttnn.multiply(g, factor)])


def _unary(name, backward):
    """Makes an op of one tensor: backward takes its gradient, operand and result."""

    @one_call
    def op(tensor):
        x = tensor.half()
        out = getattr(ttnn, name)(x)
        return derived(out, [tensor], lambda g: [backward(g, x, out)])

    op.__name__ = name
    return op


relu = _unary("relu", lambda g, x, y: ttnn.multiply(g, ttnn.gtz(x)))
gelu = _unary("gelu", lambda g, x, y: ttnn.experimental.gelu_bw(g, x, approximate="none"))
exp = _unary("exp", lambda g, x, y: ttnn.multiply(g, y))


@one_call
def silu(tensor, use_composite_bw=False):
    x = tensor.half()

    def backward(g):
        if not use_composite_bw:
            return [_first(ttnn.silu_bw(g, x))]
        share = ttnn.sigmoid(x)
        slope = ttnn.multiply(share, ttnn.add(ttnn.multiply(x, ttnn.rsub(share, 1.0)), 1.0))
        return [ttnn.multiply(g, slope)]

    return derived(ttnn.silu(x), [tensor], backward)


def _first(made):
    return made[0] if isinstance(made, (list, tuple)) else made


@one_call
def clip(tensor, low, high):
    x = tensor.half()

    def backward(g):
        inside = ttnn.multiply(ttnn.ge(x, float(low)), ttnn.le(x, float(high)))
        return [ttnn.multiply(g, inside)]

    return derived(ttnn.clamp(x, min=float(low), max=float(high)), [tensor], backward)


@one_call
def mean(tensor):
    """Returns the mean of all, [1, 1, 1, 1]."""
    x = tensor.half()
    count = x.shape.volume()
    out = kernels.mean(x)

    def backward(g):
        spread = ttnn.full_like(x, 1.0 / count)
        return [kernels.reduced_to(ttnn.multiply(spread, g), x.shape)]

    return derived(out, [tensor], backward)


@one_call
def broadcast_batch(tensor, batch):
    """Repeats [1, ...] for each of a batch."""
    x = tensor.half()
    if x.shape[0] != 1:
        raise RuntimeError(f"broadcast_batch of {tensor.shape()}; accepted: a batch of 1")
    if batch == 1:
        return tensor
    repeats = [batch] + [1] * (len(x.shape) - 1)
    return derived(ttnn.repeat(x, ttnn.Shape(repeats)), [tensor],
                   lambda g: [kernels.reduced_to(g, x.shape)])


@one_call
def log_softmax(tensor, dim=3):
    x = tensor.half()
    shares = ttnn.softmax(x, dim)
    out = ttnn.log(shares)

    def backward(g):
        return [ttnn.subtract(g, ttnn.multiply(shares, ttnn.sum(g, dim, True)))]

    return derived(out, [tensor], backward)


@one_call
def softmax(tensor, dim=3):
    x = tensor.half()
    y = ttnn.softmax(x, dim)

    def backward(g):
        inner = ttnn.sum(ttnn.multiply(g, y), dim, True)
        return [ttnn.multiply(y, ttnn.subtract(g, inner))]

    return derived(y, [tensor], backward)


@one_call
def polynorm3(tensor, weights=(1.0 / 3, 1.0 / 3, 1.0 / 3), bias=0.0, epsilon=1e-6):
    """Computes the weighted norms of x, its square and its cube, along the columns."""
    x = tensor
    square = mul(x, x)
    powers = [mul(square, x), square, x]
    total = None
    for weight, power in zip(weights, powers):
        part = mul(_normed(power, epsilon), float(weight))
        total = part if total is None else add(total, part)
    return total if bias == 0.0 else derived(ttnn.add(total.half(), float(bias)), [total],
                                             lambda g: [g])


def _normed(tensor, epsilon):
    ones = Tensor(ttnn.ones([1, 1, 1, tensor.shape()[-1]], DataType.BFLOAT16, ttnn.TILE_LAYOUT,
                            tensor.half().device()))
    x, gamma = tensor.half(), ones.half()
    y, rms = kernels.rmsnorm(x, gamma, epsilon)
    return derived(y, [tensor], lambda g: [kernels.rmsnorm_backward(x, gamma, rms, g)[0]])


# Products.

@one_call
def matmul_op(a, b, transpose_a=False, transpose_b=False):
    x, y = a.half(), b.half()
    out = kernels.matmul(x, y, transpose_a, transpose_b)

    def backward(g):
        if transpose_a:
            da = kernels.matmul(y, g, transpose_b, True)
        else:
            da = kernels.matmul(g, y, False, not transpose_b)
        if transpose_b:
            db = kernels.matmul(g, x, True, transpose_a)
        else:
            db = kernels.matmul(x, g, not transpose_a, False)
        return [kernels.reduced_to(da, x.shape), kernels.reduced_to(db, y.shape)]

    return derived(out, [a, b], backward)


@one_call
def linear(tensor, weight, bias=None):
    """Computes x weight^T + bias."""
    if tensor.shape()[-1] != weight.shape()[-1]:
        raise RuntimeError(f"linear of {tensor.shape()} and a weight of {weight.shape()}; accepted: "
                           "[..., in] and [1, 1, out, in]")
    x, w = tensor.half(), weight.half()
    chosen = kernels.products()
    out = ttnn.linear(x, w, bias=None if bias is None else bias.half(), transpose_b=True, **chosen)
    inputs = [tensor, weight] + ([bias] if bias is not None else [])

    def backward(g):
        rows = kernels.rows_of(g)
        made = [None, None]
        if weight.get_requires_grad():
            made[1] = kernels.reduced_to(kernels.matmul(rows, kernels.rows_of(x), True), w.shape)
        if tensor.get_requires_grad():
            made[0] = kernels.matmul(g, w)
        if bias is not None:
            made.append(kernels.reduced_to(kernels.sum_rows(g), bias.shape()))
        return made

    return derived(out, inputs, backward)


@one_call
def reshape(tensor, shape):
    x = tensor.half()
    return derived(ttnn.reshape(x, [int(d) for d in shape]), [tensor],
                   lambda g: [ttnn.reshape(g, list(x.shape))])


# Losses.

def _require_mean(name, reduce):
    if reduce is not ReduceType.MEAN:
        raise RuntimeError(f"{name} with {reduce}; accepted: MEAN")


@one_call
def mse_loss(prediction, target, reduce=ReduceType.MEAN):
    _require_mean("mse_loss", reduce)
    difference = sub(target, prediction)
    return mean(mul(difference, difference))


def _loss_of_places(forward, backward):
    def op(prediction, target, reduce):
        x, places = prediction.half(), kernels.rows_layout(target.own())
        out = forward(x, places)

        def gradient(g):
            scaled = backward(x, places, 1.0)
            return [ttnn.multiply(scaled, g), None]

        losses = derived(out, [prediction, target], gradient)
        if reduce is ReduceType.NONE:
            return losses
        count = out.shape.volume()
        return derived(kernels.mean(out), [prediction, target], lambda g: [
            ttnn.multiply(backward(x, places, 1.0 / count), g), None])

    return op


_cross_entropy = _loss_of_places(kernels.cross_entropy, kernels.cross_entropy_backward)
_nll = _loss_of_places(kernels.nll, kernels.nll_backward)


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
    return _cross_entropy(prediction, target, reduce)


@one_call
def nll_loss(prediction, target, reduce=ReduceType.MEAN):
    """Returns the mean of minus the logarithms of probabilities [B, 1, S, V] at targets [B, S]."""
    _require_mean("nll_loss", reduce)
    return _nll(prediction, target, reduce)
