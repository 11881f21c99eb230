# SPDX-License-Identifier: Apache-2.0
"""Implements the ops of layers: norms, attention, rotary positions, tables, chance."""

import os

import numpy as np

import howard.ttnn as ttnn
from howard import _native
from howard.ttnn import DataType, Layout
from howard.ttnn._arrays import uniform
from howard.ttnn._launch import values

from .._graph import context, one_call
from .._plans import is_recorded, planned
from ..autograd import Tensor, array_of, derived
from ._arithmetic import add, linear, mul, rows_layout, silu


# Norms.

def _layernorm(name):
    @one_call
    def op(tensor, gamma, beta=None, epsilon=1e-6):
        return planned(name, [tensor, gamma] + ([beta] if beta is not None else []), epsilon)

    op.__name__ = name
    return op


def _rmsnorm(name):
    @one_call
    def op(tensor, gamma, epsilon=1e-5):
        if len(tensor.shape()) != 4:
            raise RuntimeError(f"rmsnorm of {tensor.shape()}; accepted: a tensor of rank 4")
        return planned(name, [tensor, gamma], epsilon)

    op.__name__ = name
    return op


layernorm, composite_layernorm = map(_layernorm, ("layernorm", "composite_layernorm"))
rmsnorm, rmsnorm_composite = map(_rmsnorm, ("rmsnorm", "rmsnorm_composite"))


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
    hidden = planned("gated", [linear(tensor, w1), linear(tensor, w3)])
    return dropout(linear(hidden, w2), dropout_prob)


# Attention.

def _attended(name, query, key, value, mask):
    """Returns what a form of attention computes. A mask has no gradient."""
    (batch, heads, _, width), (_, groups, places, _) = query.shape(), key.shape()
    if (key.shape() != [batch, groups, places, width] or heads % groups
            or value.shape()[:3] != key.shape()[:3]):
        raise RuntimeError(f"scaled_dot_product_attention of {query.shape()}, {key.shape()} and "
                           f"{value.shape()}; accepted: [B, heads, S, d], [B, groups, S, d] and "
                           "groups that divide the heads")
    return planned(name, [query, key, value] + ([] if mask is None else [mask]), fixed=(3,))


@one_call
def attention(query, key, value, mask=None):
    """Computes softmax(q k^T / sqrt(d)) v in one program. The mask [1, 1, S, S] is 1 where a place
    may look; with None it looks at itself and those before it."""
    if query.shape()[2] != key.shape()[2]:
        raise RuntimeError("scaled_dot_product_attention: queries and keys of other lengths; "
                           "accepted: scaled_dot_product_attention_composite")
    return _attended("attention", query, key, value, mask)


@one_call
def composite_attention(query, key, value, mask=None):
    """Computes the same by small calls. A mask may have any shape that broadcasts; None is none."""
    return _attended("composite_attention", query, key, value, mask)


# Heads.

@one_call
def heads_creation(qkv, num_heads):
    width = qkv.shape()[-1]
    if width % (3 * num_heads):
        raise RuntimeError(f"heads_creation of {qkv.shape()}, {num_heads} heads; accepted: "
                           "[B, 1, S, 3 heads d]")
    return planned("heads_creation", [qkv], num_heads)


@one_call
def grouped_heads_creation(q, kv, num_heads, num_groups):
    wide, pair = q.shape()[-1], kv.shape()[-1]
    if wide % num_heads or num_heads % num_groups or pair != 2 * num_groups * (wide // num_heads):
        raise RuntimeError(f"grouped_heads_creation of {q.shape()} and {kv.shape()}, {num_heads} "
                           f"heads, {num_groups} groups; accepted: [B, 1, S, heads d] and "
                           "[B, 1, S, 2 groups d]")
    return planned("grouped_heads_creation", [q, kv], num_heads, num_groups)


@one_call
def heads_fusion(tensor):
    return planned("heads_fusion", [tensor])


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
    x = tensor.own()
    rows = x.shape[2]
    last = params.sequence_length + (32 if token_position else 0)
    if x.shape[3] != params.head_dim or not 0 <= token_position <= last - rows:
        raise RuntimeError(f"rope of {tensor.shape()} from place {token_position}; accepted: "
                           f"[B, heads, S, d] with S up to {params.sequence_length} and d of "
                           f"{params.head_dim}")
    cosines, sines = params.tables_from(token_position, rows)
    negative = params.neg_sin_cache if sines is params.sin_cache else \
        ttnn.neg(sines) if is_recorded([tensor]) else sines  # which nothing reads then
    return planned("rope", [tensor, cosines, sines, negative])


# Tables, chance.

@one_call
def embedding(tokens, weight):
    """Looks up rows of a table [1, 1, tokens, width]."""
    indices, table = rows_layout(tokens.own()), weight.half()
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
        mask = logits_padding_mask
        x = ttnn.subtract(x, mask.half() if isinstance(mask, Tensor) else mask)
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
    q, both = (planned("split_heads", [x], n_heads) for x in (q_pre, kv_up))
    k_nope = planned("columns", [both], 0, qk_nope_dim)
    v = planned("columns", [both], qk_nope_dim, v_dim)
    return q, concat_along([k_nope, planned("repeated_heads", [k_pe], n_heads)], 3), v


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
