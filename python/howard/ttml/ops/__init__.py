# SPDX-License-Identifier: Apache-2.0
"""Implements ttml.ops: functions of tensors, which record how their gradients are computed."""

import enum
import sys
import types

import numpy

from howard import _native

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


def _rmsnorm(x, gamma, epsilon=1e-5, composite=False):
    _require("rmsnorm", gamma.shape() == [1, 1, 1, x.shape()[3]],
             "x, and gamma [1, 1, 1, its columns]", x, gamma)
    return Tensor(graph().rms_norm(x._variable, gamma._variable, epsilon, composite))


def _rmsnorm_composite(x, gamma, epsilon=1e-5):
    return _rmsnorm(x, gamma, epsilon, composite=True)


def _swiglu(x, w1, w2, w3):
    """Computes w2(silu(w1 x) w3 x) by TTML's one program of 2026, for weights w1 and w3 [1, 1, F, D]
    and w2 [1, 1, D, F]."""
    width, hidden = x.shape()[3], w1.shape()[2]
    fits = (w1.shape() == w3.shape() == [1, 1, hidden, width] and
            w2.shape() == [1, 1, width, hidden])
    _require("swiglu", fits, "[B, 1, S, D], and weights [1, 1, F, D], [1, 1, D, F], [1, 1, F, D]",
             x, w1, w2, w3)
    return Tensor(graph().swiglu(*(t._variable for t in (x, w1, w2, w3))))


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


def _attention(query, key, value, mask=None, fused=False):
    """Computes softmax(q k^T / sqrt(d)) v. The mask [1, 1, S, P] is 1 where a place may look; with
    None it looks at the places before it. Keys and values that a cache has kept are more places P
    than q has rows S. With `fused`, and no mask, it is TTML's kernel of 2026."""
    (batch, heads, rows, width), (_, groups, places, _) = query.shape(), key.shape()
    fits = key.shape() == value.shape() == [batch, groups, places, width] and heads % groups == 0
    _require("scaled_dot_product_attention", fits and (mask is not None or rows == places),
             "q [B, heads, S, d], k and v [B, groups, S, d], groups that divide the heads, and a "
             "mask for k and v of other places", query, key, value)
    if fused:
        _require("scaled_dot_product_attention, fused", mask is None, "no mask", query)
        return Tensor(graph().causal_attention(query._variable, key._variable, value._variable))
    if mask is None:
        mask = Tensor.from_numpy(numpy.tril(numpy.ones((places, places), dtype=numpy.float32)))
    _require("scaled_dot_product_attention", mask.shape() == [1, 1, rows, places],
             f"a mask {[1, 1, rows, places]}", mask)
    alike = heads == groups and rows == places
    function = graph().attention if alike else graph().grouped_attention
    return Tensor(function(query._variable, key._variable, value._variable, mask._variable))


class RopeParams:
    """Holds the tables of a rotary embedding: the cosines and sines [1, 1, S, d] of each place."""

    def __init__(self, sequence_length, head_dim, theta, scaling):
        self.sequence_length, self.head_dim, self.theta = sequence_length, head_dim, theta
        self._scaling, self._longer, self._part = scaling, None, (None, None)
        self.cos_cache, self.sin_cache, self.neg_sin_cache = self._tables(sequence_length)

    def _tables(self, places):
        cosines, sines = _native._ttml.rotary_angles(places, self.head_dim, self.theta,
                                                     *self._scaling)
        return tuple(map(Tensor.from_numpy, (cosines, sines, -sines)))

    def tables_from(self, place, rows):
        """Returns cosines, sines and negative sines of `rows` places from `place` on. The last of
        them may be padding, up to a tile, behind the sequence."""
        if place == 0:
            return self.cos_cache, self.sin_cache, self.neg_sin_cache
        if self._longer is None:
            self._longer = self._tables(self.sequence_length + 32)
        if self._part[0] != (place, rows):  # all blocks of a model take the same part
            sides = [1, 1, rows, self.head_dim]
            self._part = (place, rows), tuple(
                Tensor(graph().slice(table._variable, [0, 0, place, 0], sides))
                for table in self._longer)
        return self._part[1]


def _scaling(rope_scaling):
    """Returns factor, high, low and length of a dict of a TTML file, or of nothing."""
    given = rope_scaling or {}
    return (given.get("scaling_factor", 0.0), given.get("high_freq_factor", 4.0),
            given.get("low_freq_factor", 1.0), given.get("original_context_length", 0))


def _gen_freqs(head_dim, theta=10000.0, rope_scaling=None):
    """Returns the angles by which a token rotates its pairs of columns, as an array [d / 2]."""
    return numpy.array(_native._ttml.rotary_frequencies(head_dim, theta, *_scaling(rope_scaling)))


def _build_rope_params(sequence_length, head_dim, theta=10000.0, rope_scaling=None):
    if head_dim % 32 != 0 or not 32 <= head_dim <= 256:
        raise RuntimeError(f"build_rope_params: heads of {head_dim} columns; accepted: 32, 64 ... 256")
    return RopeParams(sequence_length, head_dim, theta, _scaling(rope_scaling))


def _rope(x, params, token_position=0):
    """Rotates the pairs of columns of x [B, heads, S, d] by the angles of their places, of which the
    first is token_position."""
    rows = x.shape()[2]
    last = params.sequence_length + (32 if token_position > 0 else 0)
    fits = 0 <= token_position <= last - rows and x.shape()[3] == params.head_dim
    _require("rope", fits, f"[B, heads, S, d] with S up to {params.sequence_length} and d of "
             f"{params.head_dim}", x)
    tables = params.tables_from(token_position, rows)
    return Tensor(graph().rotary(x._variable, *(table._variable for table in tables)))


def _alone(name):
    """Returns a collective of a mesh of one device, which is its operand."""

    def function(tensor, *_, **__):
        return tensor

    function.__name__ = name
    return function


def _broadcast_batch(x, batch):
    """Repeats [1, 1, S, D] for each of a batch, by a sum with zeros."""
    _require("broadcast_batch", x.shape()[:2] == [1, 1], "[1, 1, S, D]", x)
    zeros = Tensor.from_numpy(numpy.zeros([batch, 1, *x.shape()[2:]], dtype=numpy.float32))
    return _add(zeros, x) if batch > 1 else x


def _reduced(reduce):
    if reduce not in (ReduceType.MEAN, ReduceType.SUM):
        raise RuntimeError(f"a loss of {reduce}; accepted: MEAN, SUM")
    return reduce == ReduceType.SUM


def _mse_loss(prediction, target, reduce=ReduceType.MEAN):
    return Tensor(graph().mse_loss(prediction._variable, target._variable, _reduced(reduce)))


def _cross_entropy_loss(prediction, target, reduce=ReduceType.MEAN):
    """Returns the cross-entropy of logits [B, 1, S, V] and targets [B, S]. With NONE it is that of
    each place, [B, 1, S, 1], which a mask can be multiplied with before `mean`."""
    if reduce == ReduceType.NONE:
        losses = graph().cross_entropy_of_positions(prediction._variable, target._variable)
        return Tensor(losses, [*prediction.shape()[:3], 1])
    return Tensor(graph().cross_entropy(prediction._variable, target._variable, _reduced(reduce)))


def _nll_loss(prediction, target, reduce=ReduceType.MEAN):
    """Returns minus the logarithms of probabilities [B, 1, S, V] at the targets [B, S]. With NONE it
    is that of each place, as cross_entropy_loss has it."""
    if reduce == ReduceType.NONE:
        losses = graph().nll_of_positions(prediction._variable, target._variable)
        return Tensor(losses, [*prediction.shape()[:3], 1])
    return Tensor(graph().nll(prediction._variable, target._variable, _reduced(reduce)))


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
                broadcast_batch=_broadcast_batch,
                **{name: _elementwise(name) for name in
                   ("sigmoid", "tanh", "exp", "log", "sqrt", "rsqrt", "square", "neg", "abs")})
matmul = _module("matmul", matmul_op=_matmul)
linear = _module("linear", linear=_linear, linear_op=_linear)
layernorm = _module("layernorm", layernorm=_layernorm, composite_layernorm=_composite_layernorm)
rmsnorm = _module("rmsnorm", rmsnorm=_rmsnorm, rmsnorm_composite=_rmsnorm_composite)
swiglu = _module("swiglu", swiglu=_swiglu)
rope = _module("rope", rope=_rope, build_rope_params=_build_rope_params, gen_freqs=_gen_freqs)
distributed = _module("distributed", **{name: _alone(name) for name in (
    "all_reduce", "all_gather", "reduce_scatter", "scatter", "broadcast")})
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

# The operators of tensors are these ops.
for _operator, _op in (("add", _add), ("sub", _sub), ("mul", _mul), ("rmul", _mul), ("truediv", _div)):
    setattr(Tensor, f"__{_operator}__", _op)

__all__ = ["AutoContext", "ReduceType", "attention", "binary", "distributed", "dropout", "embedding",
           "layernorm", "linear", "loss", "matmul", "multi_head_utils", "reshape", "rmsnorm", "rope",
           "sample", "swiglu", "unary"]
