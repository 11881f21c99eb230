# SPDX-License-Identifier: Apache-2.0
"""Implements ttml.ops: functions of tensors, which record how their gradients are computed."""

import enum
import sys
import types

import numpy

from ..autograd import AutoContext, Tensor, graph


class ReduceType(enum.Enum):
    NONE = 0
    MEAN = 1
    SUM = 2


def _module(name, **functions):
    module = types.ModuleType(f"{__name__}.{name}", f"ttml.ops.{name}")
    module.__dict__.update(functions)
    sys.modules[module.__name__] = module
    return module


def _of(name):
    def function(*tensors):
        return Tensor(getattr(graph(), name)(*(tensor._variable for tensor in tensors)))

    function.__name__ = name
    return function


def _require(name, holds, accepted, *tensors):
    if not holds:
        shapes = " and ".join(str(tensor.shape()) for tensor in tensors)
        raise RuntimeError(f"{name}: {shapes}; accepted: {accepted}")


def _add(a, b):
    first, second = a.shape(), b.shape()
    fits = (first == second or second == [1, 1, *first[2:]] or
            (first[:2] == [1, 1] and second == [1, 1, 1, first[3]]))
    _require("add", fits, "equal shapes, or positions [1, 1, S, D], or a row of a matrix", a, b)
    return Tensor(graph().add(a._variable, b._variable))


def _sub(a, b):
    _require("sub", a.shape() == b.shape(), "equal shapes", a, b)
    return Tensor(graph().subtract(a._variable, b._variable))


def _matmul(a, b):
    first, second = a.shape(), b.shape()
    fits = first[:2] == second[:2] == [1, 1] and first[3] == second[2]
    _require("matmul_op", fits, "matrices [1, 1, m, k] and [1, 1, k, n]", a, b)
    return Tensor(graph().matmul(a._variable, b._variable))


def _elementwise(name):
    def function(x):
        return Tensor(graph().elementwise(x._variable, name))

    function.__name__ = name
    return function


def _mul(a, b):
    if isinstance(b, Tensor):
        _require("mul", a.shape() == b.shape(), "equal shapes, or a number", a, b)
        return Tensor(graph().multiply(a._variable, b._variable))
    return Tensor(graph().times(a._variable, float(b)))


def _div(a, b):
    if isinstance(b, Tensor):
        return _mul(a, _elementwise("reciprocal")(b))
    return _mul(a, 1.0 / b)


def _linear(x, weight, bias=None):
    if bias is None:
        return Tensor(graph().project(x._variable, weight._variable))
    return Tensor(graph().linear(x._variable, weight._variable, bias._variable))


def _zeros_like(tensor):
    return Tensor.from_numpy(numpy.zeros(tensor.shape(), dtype=numpy.float32))


def _layernorm(x, gamma, beta=None, composite=False):
    beta = beta if beta is not None else _zeros_like(gamma)
    fits = gamma.shape() == beta.shape() == [1, 1, 1, x.shape()[3]]
    _require("layernorm", fits, "x, and gamma and beta [1, 1, 1, its columns]", x, gamma, beta)
    return Tensor(graph().layernorm(x._variable, gamma._variable, beta._variable, composite))


def _composite_layernorm(x, gamma, beta=None):
    return _layernorm(x, gamma, beta, composite=True)


def _rmsnorm(x, gamma, epsilon=1e-5):
    _require("rmsnorm", gamma.shape() == [1, 1, 1, x.shape()[3]],
             "x, and gamma [1, 1, 1, its columns]", x, gamma)
    return Tensor(graph().rms_norm(x._variable, gamma._variable, epsilon))


def _embedding(tokens, weight):
    """Returns the rows [B, 1, S, D] that tokens [B, 1, 1, S] name in a table [1, 1, V, D]."""
    batch, _, _, sequence = tokens.shape()
    rows = graph().embedding(tokens._variable, weight._variable)
    return Tensor(graph().reshape(rows, [batch, 1, sequence, weight.shape()[3]]))


def _dropout(x, probability, use_per_device_seed=True):
    return Tensor(graph().dropout(x._variable, float(probability)))


def _reshape(x, shape):
    sides = [1] * (4 - len(shape)) + [int(side) for side in shape]
    return Tensor(graph().reshape(x._variable, sides))


def _heads_creation(qkv, num_heads):
    """Returns q, k and v, [B, heads, S, d], of [B, 1, S, 3 heads d]."""
    fits = qkv.shape()[1] == 1 and num_heads >= 1 and qkv.shape()[3] % (3 * num_heads) == 0
    _require(f"heads_creation of {num_heads} heads", fits, "[B, 1, S, 3 heads d]", qkv)
    return tuple(Tensor(part) for part in graph().split_heads(qkv._variable, num_heads))


def _grouped_heads_creation(q, kv, num_heads, num_groups):
    fits = (q.shape()[1] == kv.shape()[1] == 1 and num_groups >= 1 and num_heads >= 1 and
            num_heads % num_groups == 0 and q.shape()[3] % num_heads == 0)
    _require(f"grouped_heads_creation of {num_heads} heads, {num_groups} groups", fits,
             "[B, 1, S, heads d] and [B, 1, S, 2 groups d]", q, kv)
    parts = graph().grouped_heads(q._variable, kv._variable, num_heads, num_groups)
    return tuple(Tensor(part) for part in parts)


def _attention(query, key, value, mask=None):
    """Computes softmax(q k^T / sqrt(d)) v. The mask is 1 where a place may look; with None it looks
    at the places before it."""
    if mask is None:
        places = query.shape()[2]
        mask = Tensor.from_numpy(numpy.tril(numpy.ones((places, places), dtype=numpy.float32)))
    return Tensor(graph().attention(query._variable, key._variable, value._variable,
                                    mask._variable))


def _reduced(reduce):
    if reduce not in (ReduceType.MEAN, ReduceType.SUM):
        raise RuntimeError(f"a loss of {reduce}; accepted: MEAN, SUM")
    return reduce == ReduceType.SUM


def _mse_loss(prediction, target, reduce=ReduceType.MEAN):
    return Tensor(graph().mse_loss(prediction._variable, target._variable, _reduced(reduce)))


def _cross_entropy_loss(prediction, target, reduce=ReduceType.MEAN):
    """Returns the cross-entropy of logits [B, 1, S, V] and targets [B, S]."""
    return Tensor(graph().cross_entropy(prediction._variable, target._variable, _reduced(reduce)))


def _nll_loss(prediction, target, reduce=ReduceType.MEAN):
    """Returns minus the logarithms of probabilities [B, 1, S, V] at the targets [B, S]."""
    classes = prediction.shape()[3]
    tokens = target.to_numpy().reshape(-1)
    if tokens.size * classes != numpy.prod(prediction.shape()) or tokens.max() >= classes:
        raise RuntimeError(f"nll_loss: targets {target.shape()} below {tokens.max() + 1} of "
                           f"logarithms {prediction.shape()}")
    chosen = numpy.zeros((tokens.size, classes), dtype=numpy.float32)
    chosen[numpy.arange(tokens.size), tokens] = -1
    weighted = _mul(prediction, Tensor.from_numpy(chosen.reshape(prediction.shape())))
    factor = classes if not _reduced(reduce) else tokens.size * classes
    return _mul(Tensor(graph().mean(weighted._variable)), float(factor))


def _sample_op(logits, temperature, seed, mask=None):
    """Returns tokens [B, 1, S, 1] drawn from logits; a temperature of 0 takes the most likely."""
    values = logits.to_numpy().astype(numpy.float64)
    if mask is not None:
        values = values - mask.to_numpy()
    if temperature > 0:
        noise = numpy.random.default_rng(seed).gumbel(size=values.shape)
        values = values / temperature + noise
    return Tensor.from_numpy(numpy.argmax(values, axis=-1)[..., None].astype(numpy.uint32))


binary = _module("binary", add=_add, sub=_sub, mul=_mul, div=_div)
unary = _module("unary", relu=_of("relu"), gelu=_of("gelu"), silu=_of("silu"), mean=_of("mean"),
                softmax=_of("softmax"), log_softmax=lambda x, dim=3: _elementwise("log")(
                    _of("softmax")(x)),
                **{name: _elementwise(name) for name in
                   ("sigmoid", "tanh", "exp", "log", "sqrt", "rsqrt", "square", "neg", "abs")})
matmul = _module("matmul", matmul_op=_matmul)
linear = _module("linear", linear=_linear, linear_op=_linear)
layernorm = _module("layernorm", layernorm=_layernorm, composite_layernorm=_composite_layernorm)
rmsnorm = _module("rmsnorm", rmsnorm=_rmsnorm)
embedding = _module("embedding", embedding=_embedding, embedding_op=_embedding)
dropout = _module("dropout", dropout=_dropout)
reshape = _module("reshape", reshape=_reshape)
attention = _module("attention", scaled_dot_product_attention=_attention)
multi_head_utils = _module("multi_head_utils", heads_creation=_heads_creation,
                           heads_fusion=_of("join_heads"),
                           grouped_heads_creation=_grouped_heads_creation)
loss = _module("loss", mse_loss=_mse_loss, cross_entropy_loss=_cross_entropy_loss,
               nll_loss=_nll_loss, ReduceType=ReduceType)
sample = _module("sample", sample_op=_sample_op)

__all__ = ["AutoContext", "ReduceType", "attention", "binary", "dropout", "embedding", "layernorm",
           "linear", "loss", "matmul", "multi_head_utils", "reshape", "rmsnorm", "sample", "unary"]
