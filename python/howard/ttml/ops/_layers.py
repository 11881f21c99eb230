# SPDX-License-Identifier: Apache-2.0
"""Implements the ops of layers: norms, attention, rotary positions, tables, chance."""

import math
import os

import numpy as np

import howard.ttnn as ttnn
from howard import _native
from howard.ttnn import DataType, Layout
from howard.ttnn._arrays import uniform
from howard.ttnn._launch import values

from .. import _kernels as kernels
from .._graph import context, one_call
from ..autograd import Tensor, array_of, derived
from ._arithmetic import add, linear, mul, silu


# Norms.

@one_call
def layernorm(tensor, gamma, beta=None, epsilon=1e-6):
    x, scale = tensor.half(), gamma.half()
    shift = beta.half() if beta is not None else ttnn.zeros_like(scale)
    y, mean, rstd = kernels.layernorm(x, scale, shift, epsilon)

    def backward(g):
        dx, dgamma, dbeta = kernels.layernorm_backward(x, scale, mean, rstd, g)
        made = [dx, kernels.reduced_to(kernels.sum_rows(dgamma), gamma.shape())]
        if beta is not None:
            made.append(kernels.reduced_to(kernels.sum_rows(dbeta), beta.shape()))
        return made

    return derived(y, [tensor, gamma] + ([beta] if beta is not None else []), backward)


@one_call
def composite_layernorm(tensor, gamma, beta=None, epsilon=1e-6):
    x, scale = tensor.half(), gamma.half()
    width = x.shape[-1]
    centred = ttnn.subtract(x, ttnn.mean(x, 3, True))
    variance = ttnn.mean(ttnn.square(centred), 3, True)
    rstd = ttnn.rsqrt(ttnn.add(variance, epsilon))
    normal = ttnn.multiply(centred, rstd)
    y = ttnn.multiply(normal, scale)
    if beta is not None:
        y = ttnn.add(y, beta.half())

    def backward(g):
        inner = ttnn.multiply(g, scale)
        means = ttnn.mean(inner, 3, True)
        along = ttnn.multiply(ttnn.sum(ttnn.multiply(inner, normal), 3, True), 1.0 / width)
        dx = ttnn.multiply(ttnn.subtract(ttnn.subtract(inner, means),
                                         ttnn.multiply(normal, along)), rstd)
        made = [dx, kernels.sum_rows(ttnn.multiply(g, normal))]
        return made + ([kernels.sum_rows(g)] if beta is not None else [])

    return derived(y, [tensor, gamma] + ([beta] if beta is not None else []), backward)


@one_call
def rmsnorm(tensor, gamma, epsilon=1e-5):
    if len(tensor.shape()) != 4:
        raise RuntimeError(f"rmsnorm of {tensor.shape()}; accepted: a tensor of rank 4")
    x, scale = tensor.half(), gamma.half()
    y, rms = kernels.rmsnorm(x, scale, epsilon)

    def backward(g):
        dx, dgamma = kernels.rmsnorm_backward(x, scale, rms, g)
        return [dx, kernels.reduced_to(kernels.sum_rows(dgamma), gamma.shape())]

    return derived(y, [tensor, gamma], backward)


@one_call
def rmsnorm_composite(tensor, gamma, epsilon=1e-5):
    if len(tensor.shape()) != 4:
        raise RuntimeError(f"rmsnorm of {tensor.shape()}; accepted: a tensor of rank 4")
    x, scale = tensor.half(), gamma.half()
    width = x.shape[-1]
    rms = ttnn.sqrt(ttnn.add(ttnn.mean(ttnn.square(x), 3, True), epsilon))
    y = ttnn.divide(ttnn.multiply(scale, x), rms)

    def backward(g):
        scaled = ttnn.multiply(ttnn.divide(scale, rms), g)
        inner = ttnn.sum(ttnn.multiply(x, scaled), 3, True)
        bottom = ttnn.multiply(ttnn.square(rms), float(width))
        dx = ttnn.subtract(scaled, ttnn.divide(ttnn.multiply(x, inner), bottom))
        return [dx, kernels.sum_rows(ttnn.multiply(ttnn.divide(x, rms), g))]

    return derived(y, [tensor, gamma], backward)


@one_call
def swiglu(tensor, w1, w2, w3, dropout_prob=0.0, use_per_device_seed=True):
    """Computes w2(silu(w1 x) w3 x) by three products and one that joins them."""
    widths = [w.shape()[-2:] for w in (w1, w2, w3)]
    if not widths[0] == widths[2] == widths[1][::-1] or widths[0][1] != tensor.shape()[-1]:
        raise RuntimeError(f"swiglu of {tensor.shape()} with weights {widths}; accepted: w1 and w3 "
                           "[wide, in] and w2 [in, wide]")
    if os.environ.get("TTML_SWIGLU_FORCE_COMPOSITE"):
        hidden = mul(silu(linear(tensor, w1)), linear(tensor, w3))
        return dropout(linear(hidden, w2), dropout_prob)
    gate, up = linear(tensor, w1), linear(tensor, w3)
    a, b = gate.half(), up.half()
    hidden = ttnn.multiply(a, b, input_tensor_a_activations=[ttnn.UnaryOpType.SILU])

    def backward(g):
        made = [kernels.fresh(a.shape, a), kernels.fresh(b.shape, b)]
        return kernels.launch("swiglu_elemwise_bw", "swiglu_backward", [a, b, g], made)

    return dropout(linear(derived(hidden, [gate, up], backward), w2), dropout_prob)


# Attention.

def _mask_value(mask):
    return mask.half() if isinstance(mask, Tensor) else mask


def _require_attention(query, key, value):
    (batch, heads, _, width), (_, groups, places, _) = query.shape(), key.shape()
    if (key.shape() != [batch, groups, places, width] or heads % groups
            or value.shape()[:3] != key.shape()[:3]):
        raise RuntimeError(f"scaled_dot_product_attention of {query.shape()}, {key.shape()} and "
                           f"{value.shape()}; accepted: [B, heads, S, d], [B, groups, S, d] and "
                           "groups that divide the heads")


@one_call
def attention(query, key, value, mask=None):
    """Computes softmax(q k^T / sqrt(d)) v in one program. The mask [1, 1, S, S] is 1 where a place
    may look; with None it looks at itself and those before it."""
    _require_attention(query, key, value)
    if query.shape()[2] != key.shape()[2]:
        raise RuntimeError("scaled_dot_product_attention: queries and keys of other lengths; "
                           "accepted: scaled_dot_product_attention_composite")
    made = kernels.Attention(query.half(), key.half(), value.half(), _mask_value(mask),
                             1 / math.sqrt(query.shape()[-1]))
    return derived(made.out, [query, key, value], made.backward)


def _repeated(x, count):
    return x if count == 1 else ttnn.repeat_interleave(x, count, 1)


@one_call
def composite_attention(query, key, value, mask=None):
    """Computes the same by small calls. A mask may have any shape that broadcasts; None is none."""
    _require_attention(query, key, value)
    q, groups = query.half(), key.shape()[1]
    each = query.shape()[1] // groups
    k, v = _repeated(key.half(), each), _repeated(value.half(), each)
    scale = 1 / math.sqrt(query.shape()[-1])
    scaled = ttnn.multiply(q, scale)
    scores = kernels.matmul(scaled, k, False, True)
    if mask is not None:
        scores = ttnn.where(_mask_value(mask), scores, -1e9)
    shares = ttnn.softmax(scores, 3)
    out = kernels.matmul(shares, v)

    def joined(x):
        if each == 1:
            return x
        b, heads, rows, width = x.shape
        return ttnn.reshape(ttnn.sum(ttnn.reshape(x, [b * groups, each, rows, width]), 1, True),
                            [b, groups, rows, width])

    def backward(g):
        dshares = kernels.matmul(g, v, False, True)
        inner = ttnn.sum(ttnn.multiply(dshares, shares), 3, True)
        dscores = ttnn.multiply(shares, ttnn.subtract(dshares, inner))
        return [ttnn.multiply(kernels.matmul(dscores, k), scale),
                joined(kernels.matmul(dscores, scaled, True)),
                joined(kernels.matmul(shares, g, True))]

    return derived(out, [query, key, value], backward)


# Heads.

def _split(function, tensors, parts_back):
    """Returns the parts that a call makes, each with its own way back."""
    outs = function()
    made = []
    for index, out in enumerate(outs):
        def backward(g, index=index):
            return parts_back(index, g)
        made.append(derived(out, tensors, backward))
    return tuple(made)


def _columns_of_heads(gradient):
    return ttnn.experimental.nlp_concat_heads(gradient)


def _placed(gradient, start, width):
    """Returns a gradient among zeros: columns from `start` of `width`."""
    before, after = start, width - start - gradient.shape[-1]
    if before == after == 0:
        return gradient
    return ttnn.pad(gradient, [(0, 0), (0, 0), (0, 0), (before, after)], 0.0)


@one_call
def heads_creation(qkv, num_heads):
    x = qkv.half()
    width = x.shape[-1]
    if width % (3 * num_heads):
        raise RuntimeError(f"heads_creation of {qkv.shape()}, {num_heads} heads; accepted: "
                           "[B, 1, S, 3 heads d]")
    return _split(lambda: ttnn.experimental.nlp_create_qkv_heads(
        x, num_heads=num_heads, num_kv_heads=num_heads, transpose_k_heads=False), [qkv],
        lambda i, g: [_placed(_columns_of_heads(g), i * width // 3, width)])


@one_call
def grouped_heads_creation(q, kv, num_heads, num_groups):
    x, pair = q.half(), kv.half()
    if x.shape[-1] % num_heads or num_heads % num_groups or \
            pair.shape[-1] != 2 * num_groups * (x.shape[-1] // num_heads):
        raise RuntimeError(f"grouped_heads_creation of {q.shape()} and {kv.shape()}, {num_heads} "
                           f"heads, {num_groups} groups; accepted: [B, 1, S, heads d] and "
                           "[B, 1, S, 2 groups d]")
    half = pair.shape[-1] // 2

    def back(index, gradient):
        columns = _columns_of_heads(gradient)
        if index == 0:
            return [columns, None]
        return [None, _placed(columns, (index - 1) * half, 2 * half)]

    return _split(lambda: ttnn.experimental.nlp_create_qkv_heads(
        x, pair, num_heads=num_heads, num_kv_heads=num_groups, transpose_k_heads=False), [q, kv],
        back)


@one_call
def heads_fusion(tensor):
    x = tensor.half()
    batch, heads, rows, width = x.shape

    def backward(g):
        parts = ttnn.reshape(g, [batch, rows, heads, width])
        return [ttnn.transpose(parts, 1, 2)]

    return derived(ttnn.experimental.nlp_concat_heads(x), [tensor], backward)


# Rotary positions.

class RopeScalingParams:
    def __init__(self, scaling_factor=0.0, high_freq_factor=4.0, low_freq_factor=1.0,
                 original_context_length=0):
        self.scaling_factor, self.high_freq_factor = scaling_factor, high_freq_factor
        self.low_freq_factor = low_freq_factor
        self.original_context_length = original_context_length


class RotaryEmbeddingParams:
    """Holds the tables of a rotary embedding: the cosines and sines [1, 1, S, d] of each place."""

    def __init__(self, sequence_length, head_dim, theta, scaling):
        self.sequence_length, self.head_dim = sequence_length, head_dim
        self.rope_embedding_dim, self.theta = head_dim, theta
        cosines, sines = (np.asarray(table, np.float32) for table in
                          _native._ttml.rotary_angles(sequence_length + 32, head_dim, theta,
                                                      *scaling))
        self._long = [_table(t) for t in (cosines, sines)]
        shown = slice(0, sequence_length)
        self.cos_cache, self.sin_cache = (_table(t[..., shown, :]) for t in (cosines, sines))
        self.neg_cos_cache = self.cos_cache
        self.neg_sin_cache = ttnn.neg(self.sin_cache)
        swap = np.zeros((1, 1, 32, 32), np.float32)
        for i in range(0, 32, 2):
            swap[..., i, i + 1], swap[..., i + 1, i] = 1, -1
        self.trans_mat = _table(swap)
        self._parts = {}

    def tables_from(self, place, rows):
        """Returns cosines and sines of `rows` places from `place` on; the last may be padding."""
        if place == 0 and rows <= self.sequence_length:
            return self.cos_cache, self.sin_cache
        if (place, rows) not in self._parts:
            self._parts = {(place, rows): [ttnn.slice(t, [0, 0, place, 0], [1, 1, place + rows,
                                                                           self.head_dim])
                                           for t in self._long]}
        return self._parts[place, rows]


def _table(array):
    return Tensor.from_numpy(np.ascontiguousarray(array, np.float32).reshape(
        (1, 1) + array.shape[-2:]), new_type=DataType.BFLOAT16).own()


def _scaling(given):
    """Returns factor, high, low and length of RopeScalingParams, of a dict, or of nothing."""
    if given is None:
        return (0.0, 4.0, 1.0, 0)
    get = given.get if isinstance(given, dict) else lambda name, other: getattr(given, name, other)
    return (float(get("scaling_factor", 0.0)), float(get("high_freq_factor", 4.0)),
            float(get("low_freq_factor", 1.0)), int(get("original_context_length", 0)))


def gen_freqs(head_dim, sequence_length=None, theta=10000.0, scaling=None, mesh_mapper=None):
    """Returns the sines and the cosines [1, 1, S, d] of all places."""
    made = RotaryEmbeddingParams(sequence_length or 32, head_dim, theta, _scaling(scaling))
    return made.sin_cache, made.cos_cache


def build_rope_params(sequence_length, head_dim, theta=10000.0, scaling=None, rope_scaling=None):
    if head_dim % 32 != 0 or not 32 <= head_dim <= 256:
        raise RuntimeError(f"build_rope_params: heads of {head_dim} columns; accepted: 32, 64 ... 256")
    return RotaryEmbeddingParams(sequence_length, head_dim, float(theta),
                                 _scaling(scaling or rope_scaling))


@one_call
def rope(tensor, params, token_position=0):
    """Turns the pairs of columns of x [B, heads, S, d] by the angles of their places."""
    x = tensor.half()
    rows = x.shape[2]
    last = params.sequence_length + (32 if token_position else 0)
    if x.shape[3] != params.head_dim or not 0 <= token_position <= last - rows:
        raise RuntimeError(f"rope of {tensor.shape()} from place {token_position}; accepted: "
                           f"[B, heads, S, d] with S up to {params.sequence_length} and d of "
                           f"{params.head_dim}")
    cosines, sines = params.tables_from(token_position, rows)
    return derived(kernels.rotated(x, cosines, sines), [tensor],
                   lambda g: [kernels.rotated(g, cosines, ttnn.neg(sines))])


# Tables, chance.

@one_call
def embedding(tokens, weight):
    """Looks up rows of a table [1, 1, tokens, width]."""
    indices, table = kernels.rows_layout(tokens.own()), weight.half()
    if tokens.get_rank() == 4:
        indices = ttnn.reshape(indices, [tokens.shape()[0], tokens.shape()[-1]])
    batch, rows = indices.shape[0], indices.shape[-1]
    width = table.shape[-1]
    out = ttnn.embedding(indices, table, layout=Layout.TILE)
    out = ttnn.reshape(out, [batch, 1, rows, width])

    def backward(g):
        return [None, ttnn.embedding_bw(indices, table, ttnn.reshape(g, [1, 1, batch * rows, width]))]

    return derived(out, [tokens, weight], backward)


@one_call
def dropout(tensor, probability, use_per_device_seed=False):
    if probability == 0.0:
        return tensor
    seed, keep = context().next_seed(), 1.0 / (1.0 - probability)

    def drop(x):
        return ttnn.experimental.dropout(x, probability=probability, scale=keep, seed=seed)

    return derived(drop(tensor.half()), [tensor], lambda g: [drop(g)])


def sample_op(logits, temperature, seed, logits_padding_mask=None):
    """Returns tokens [B, 1, S, 1] drawn from logits; a temperature of 0 takes the most likely."""
    return sampled(logits, temperature, seed, logits_padding_mask)


def sampled(logits, temperature, seed, logits_padding_mask=None, per_device=False):
    """Does so; devices that divide a batch may each have a seed of their own."""
    x = logits.half()
    if logits_padding_mask is not None:
        x = ttnn.subtract(x, _mask_value(logits_padding_mask))
    if temperature > 0:
        noise = _noise(x, int(seed), per_device)
        gumbel = ttnn.neg(ttnn.log(ttnn.neg(ttnn.log(noise))))
        x = ttnn.add(ttnn.multiply(x, 1.0 / temperature), gumbel)
    places = ttnn.argmax(ttnn.to_layout(x, Layout.ROW_MAJOR), dim=3, keepdim=True)
    return Tensor(ttnn.reshape(places, list(logits.shape()[:-1]) + [1]), False)


def _noise(like, seed, per_device):
    """Draws uniform numbers, which are far enough from 0 and 1 for two logarithms."""
    low, high = 0.01, 0.99
    made = ttnn.rand(list(like.shape), like.device(), dtype=DataType.BFLOAT16, layout=Layout.TILE,
                     low=low, high=high, seed=seed)
    if per_device and like.device().get_num_devices() > 1:
        values(lambda device: uniform(made.shape, low, high, seed + (device << 32)), [], [made],
               numbered=True)
    return made


@one_call
def qkv_assemble(q_pre, kv_up, k_pe, n_heads, qk_nope_dim, qk_rope_dim, v_dim):
    """Makes the heads of multi-head latent attention: q and k with their rotary part, and v."""
    batch, _, rows, _ = q_pre.shape()
    wide = qk_nope_dim + qk_rope_dim

    def heads(x, width):
        return ttnn.transpose(ttnn.reshape(x, [batch, rows, n_heads, width]), 1, 2)

    def rows_back(g, width):
        return ttnn.reshape(ttnn.transpose(g, 1, 2), [batch, 1, rows, n_heads * width])

    q = derived(heads(q_pre.half(), wide), [q_pre], lambda g: [rows_back(g, wide)])
    both = heads(kv_up.half(), qk_nope_dim + v_dim)
    size = [batch, n_heads, rows]
    k_nope = ttnn.slice(both, [0, 0, 0, 0], size + [qk_nope_dim])
    v_part = ttnn.slice(both, [0, 0, 0, qk_nope_dim], size + [qk_nope_dim + v_dim])
    repeated = ttnn.repeat(k_pe.half(), ttnn.Shape([1, n_heads, 1, 1]))

    def back(g, start):
        return rows_back(_placed(g, start, qk_nope_dim + v_dim), qk_nope_dim + v_dim)

    def of_keys(g):
        return [back(ttnn.slice(g, [0, 0, 0, 0], size + [qk_nope_dim]), 0),
                kernels.reduced_to(ttnn.slice(g, [0, 0, 0, qk_nope_dim], size + [wide]),
                                   k_pe.shape())]

    k = derived(ttnn.concat([k_nope, repeated], 3), [kv_up, k_pe], of_keys)
    v = derived(v_part, [kv_up], lambda g: [back(g, qk_nope_dim)])
    return q, k, v


def concat_along(tensors, dim):
    """Returns tensors behind each other, with the way back."""
    parts = [t.half() for t in tensors]
    ends = np.cumsum([0] + [p.shape[dim] for p in parts]).tolist()

    def backward(g):
        made = []
        for start, end in zip(ends, ends[1:]):
            first, last = [0] * len(g.shape), list(g.shape)
            first[dim], last[dim] = start, end
            made.append(ttnn.slice(g, first, last))
        return made

    return derived(one_call(ttnn.concat)(parts, dim), list(tensors), backward)


def values_of(tensor):
    """Returns the numbers of a tensor on the host."""
    return array_of(tensor.half())


__all__ = ["add", "attention", "build_rope_params", "composite_attention", "composite_layernorm",
           "concat_along", "dropout", "embedding", "gen_freqs", "grouped_heads_creation",
           "heads_creation", "heads_fusion", "layernorm", "qkv_assemble", "rmsnorm",
           "rmsnorm_composite", "rope", "sample_op", "swiglu", "values_of"]
