# SPDX-License-Identifier: Apache-2.0
"""Implements attention: heads, scores, rotary embeddings."""

import math


from .. import _arrays as arrays
from .._arrays import np
from .._launch import fail, make_output, operation, program, require_config, require_device, values
from .._tensor import Tensor, device_tensor
from .._memory import DRAM_MEMORY_CONFIG
from .._types import DataType, Layout, MathFidelity
from .data_movement import _moved, concat, slice_
from .normalization import _softmax


# Scores.


@operation("transformer.attention_softmax")
def attention_softmax(tensor, *, head_size=None, attention_mask=None, program_config=None,
                      causal_mask=False, memory_config=None):
    scale = None if head_size is None else 1 / math.sqrt(head_size)
    return _softmax("attention_softmax", tensor, -1, memory_config, None, scale, attention_mask,
                    causal_mask, stable=False, config=program_config)


@operation("transformer.attention_softmax_", unread="memory_config")
def attention_softmax_(tensor, *, head_size=None, attention_mask=None, program_config=None,
                       causal_mask=False):
    if attention_mask is None:
        fail("transformer.attention_softmax_", "it needs an attention_mask")
    scale = None if head_size is None else 1 / math.sqrt(head_size)
    return _softmax("attention_softmax_", tensor, -1, None, tensor, scale, attention_mask,
                    causal_mask, stable=False, config=program_config)


def scored(q, k, scale):
    """Returns q k^T scale, where several heads of q may share one of k."""
    batch, heads, rows, size = q.shape
    shared = q.reshape([batch, k.shape[1], -1, size])
    made = arrays.matmul(shared, k.swapaxes(-1, -2)) * (scale if scale is not None else size ** -0.5)
    return made.reshape([batch, heads, rows, -1])


_MOST_SCORES = 2**25  # at a time: they are kept twice


def _attention(q, k, v, mask, causal, scale, window=None, sink=None):
    """Computes softmax(q k^T scale + mask) v, some rows of q at a time. A sink is one more score for each
    head, which has no value."""
    rows, columns = q.shape[-2], k.shape[-2]
    step = max(32, _MOST_SCORES // (q.shape[0] * q.shape[1] * columns))
    made = []
    for first in range(0, rows, step):
        part = slice(first, first + step)
        scores = scored(q[..., part, :], k, scale)
        shape = scores.shape
        if mask is not None:
            scores += mask[..., part, :] if mask.shape[-2] > 1 else mask
        if causal or window:
            scores += _places_seen(columns - rows + first, shape[-2], columns, causal, window)
        if sink is not None:
            size = scale if scale is not None else q.shape[-1] ** -0.5
            more = np.broadcast_to(sink.reshape([1, -1, 1, 1])[:, :shape[1]] * size, [*shape[:-1], 1])
            scores = np.concatenate([scores, more], -1)
        shares = arrays.softmax(scores, -1)[..., :columns]
        own = arrays.matmul(shares.reshape([shape[0], v.shape[1], -1, columns]), v)
        made.append(own.reshape([*shape[:-1], -1]))
    return made[0] if len(made) == 1 else np.concatenate(made, 2)


def _places_seen(first, rows, columns, causal, window):
    """Returns 0 for the keys that queries from a place on see, else a number that softmax makes 0: they
    see those up to their own place, and of these the last ones of a window, or those on both sides."""
    row = np.arange(first, first + rows, dtype=np.int32)[:, None]
    column = np.arange(columns, dtype=np.int32)
    seen = column <= row if causal else np.ones([rows, columns], bool)
    if window:
        seen &= column + window > row if causal else abs(row - column) <= window // 2
    return np.where(seen, np.float32(0), np.float32(-1e30))


def _attention_attributes(name, q, config, compute):
    """Returns what the kernel is told: chunks of 32 rows, HiFi2 and the fast exponential where the
    caller says nothing."""
    require_config(name, config, q)
    attributes = {}
    for word, field in (("query_chunk", "q_chunk_size"), ("key_chunk", "k_chunk_size")):
        size = getattr(config, field, None)
        if size:
            attributes[word] = int(size)
    if getattr(config, "exp_approx_mode", None) is False:
        attributes["approximate"] = False
    if compute is not None and compute.math_fidelity is not MathFidelity.Invalid:
        attributes["fidelity"] = compute.math_fidelity.name
    return attributes


def _typed(tensor, dtype):
    """Returns the tensor, or one of another type that stands for it: kernels read any type here."""
    return tensor if tensor._dtype is dtype else device_tensor(
        tensor._shape, dtype, tensor._layout, tensor._config, tensor._device)


@operation("transformer.scaled_dot_product_attention")
def scaled_dot_product_attention(input_tensor_q, input_tensor_k, input_tensor_v, *, attn_mask=None,
                                 is_causal=True, scale=None, sliding_window_size=None,
                                 memory_config=None, program_config=None,
                                 compute_kernel_config=None, attention_sink=None):
    name = "scaled_dot_product_attention"
    require_device(name, input_tensor_q, input_tensor_k, input_tensor_v, tile=True)
    if is_causal and attn_mask is not None:
        fail(name, "attn_mask must be None when is_causal is true")
    out = make_output(input_tensor_q._shape, input_tensor_q, None, None,
                      memory_config or DRAM_MEMORY_CONFIG)
    inputs = [input_tensor_q, input_tensor_k, input_tensor_v]
    if any(len(one._shape) != 4 for one in inputs):
        fail(name, "q, k and v must have rank 4: [batch, heads, sequence, head size]")
    if attention_sink is not None and attention_sink._shape != (1, input_tensor_q._shape[1], 1, 1):
        fail(name, f"attention_sink {attention_sink._shape} must be [1, "
             f"{input_tensor_q._shape[1]}, 1, 1], a number of each head")
    others = [one is not None for one in (attn_mask, attention_sink)]
    inputs += [one for one in (attn_mask, attention_sink) if one is not None]
    told = _attention_attributes(name, input_tensor_q, program_config, compute_kernel_config)
    # Keys take most of the time, and have the type that the kernel is told.
    kind = input_tensor_k._dtype
    used = [_typed(one, kind) for one in inputs[:3]] + inputs[3:3 + (attn_mask is not None)]
    if sliding_window_size and input_tensor_q._shape[2] == input_tensor_k._shape[2]:
        told["window"] = int(sliding_window_size)
    program(name, "attention", used, [_typed(out, kind)], attention_sink is not None,
            causal=bool(is_causal), **told)

    def compute(q, k, v, *rest):
        rest = list(rest)
        mask, sink = (rest.pop(0) if one else None for one in others)
        return _attention(q, k, v, mask, is_causal, scale, sliding_window_size, sink)

    values(compute, inputs, [out])
    return out


def _launch_decode(name, q, k, v, out, length, told):
    """Launches the kernel of a decoding step over caches of so many places."""
    _one, batch, heads, size = list(q._shape)
    groups = k._shape[1]
    queries = [batch, groups, max(1, heads // groups), size]
    keys = [batch, groups, length, size]
    device = q._device
    if device.position is None or not device.position._storage.alive:
        device.position = device_tensor([1], DataType.UINT32, Layout.ROW_MAJOR, None, device)
    program(name, "decode_attention", [q, k, v, device.position], [out],
            shapes=[queries, keys, keys, None], out_shapes=[queries], **told)


def _decode_attributes(seen, window, config, compute):
    """Returns what the kernel of a decoding step is told: the places that are seen, in whole tiles,
    of which it sees the last ones of a window, and how cores share them."""
    told = {"seen": -(-seen // 32) * 32}
    if window:
        told["window"] = int(window)
    if getattr(config, "k_chunk_size", None):
        told["key_chunk"] = int(config.k_chunk_size)
    if getattr(config, "max_cores_per_head_batch", None):
        told["cores_of_head"] = int(config.max_cores_per_head_batch)
    if getattr(config, "exp_approx_mode", None) is False:
        told["approximate"] = False
    if compute is not None and compute.math_fidelity is not MathFidelity.Invalid:
        told["fidelity"] = compute.math_fidelity.name
    return told


def _seen(length, is_causal, cur_pos, cur_pos_tensor):
    """Returns how many places of a cache are filled: all of them where the position is not known."""
    last = None
    if is_causal and cur_pos:
        last = max(cur_pos)
    elif is_causal and cur_pos_tensor is not None:
        last = cur_pos_tensor._storage.cell.largest
    return length if last is None else max(1, min(length, last + 1))


def _decode(name, q, k, v, is_causal, mask, cur_pos, cur_pos_tensor, scale, memory_config,
            window=None, sink=None, config=None, compute_config=None, table=None, width=None):
    """Decodes one position for each user: q [1, b, h, d], caches [b, kv, s, d], or in pages by a
    table. A user at the position -1 is left out. Values have d columns, or the first ones as `width`
    says."""
    require_device(name, q, k, v, *([table] if table is not None else []))
    require_config(name, config, q)
    _one, batch, heads, size = list(q._shape)
    width = width or size
    out = make_output([_one, batch, heads, width], q, None, Layout.TILE,
                      memory_config or DRAM_MEMORY_CONFIG)
    length = k._shape[-2] * (1 if table is None else table._shape[-1])
    seen = _seen(length, is_causal, cur_pos, cur_pos_tensor)
    _launch_decode(name, q, k, v, out, length,
                   _decode_attributes(seen, window, config, compute_config))
    others = [one for one in (cur_pos_tensor, mask, sink, table) if one is not None]
    are_there = [one is not None for one in (cur_pos_tensor, mask, sink, table)]

    def compute(x, keys, all_values, *rest):
        rest = list(rest)
        given, m, more, pages = (rest.pop(0) if one else None for one in are_there)
        more = None if more is None else more.reshape([-1, more.shape[-1]])[:heads, 0]
        places = [int(p) for p in (cur_pos or [] if given is None else given.ravel())]
        made = []
        for user in range(batch):
            one = _user(x, user, 1).reshape([1, heads, 1, size])
            last = places[user] + 1 if is_causal and user < len(places) else length
            if last == 0:
                made.append(np.zeros([1, 1, heads, width], np.float32))
                continue
            first = max(0, last - window) if window else 0
            ks, vs = (_seen_by(user, c, last, pages)[..., first:last, :] for c in (keys, all_values))
            bias = None if m is None else _user(m, user, 0).swapaxes(1, 2)[..., first:last]
            made.append(_attention(one, ks, vs[..., :width], bias, False, scale, None,
                                   more).reshape([1, 1, heads, width]))
        return np.concatenate(made, 1)

    values(compute, [q, k, v] + others, [out])
    return out


def _user(array, user, axis):
    at = user if array.shape[axis] > 1 else 0
    return array[(slice(None),) * axis + (slice(at, at + 1),)]


def _seen_by(user, cache, last, table):
    """Returns the cache of a user, up to a place at least."""
    if table is None:
        return _user(cache, user, 0)
    rows = table.reshape([-1, table.shape[-1]])
    return _paged(cache, _user(rows, user, 0)[:, :-(-last // cache.shape[2])])


def _until(array, last):
    return array[..., :last, :]


@operation("transformer.scaled_dot_product_attention_decode")
def scaled_dot_product_attention_decode(input_tensor_q, input_tensor_k, input_tensor_v, *,
                                        is_causal=True, attn_mask=None, cur_pos=(),
                                        cur_pos_tensor=None, scale=None, memory_config=None,
                                        program_config=None, compute_kernel_config=None,
                                        attention_sink=None, sliding_window_size=None):
    return _decode("scaled_dot_product_attention_decode", input_tensor_q, input_tensor_k,
                   input_tensor_v, is_causal, attn_mask, cur_pos, cur_pos_tensor, scale,
                   memory_config, sliding_window_size, attention_sink, program_config,
                   compute_kernel_config)


def _paged(cache, table):
    """Returns the pages of each user side by side: [b, kv, s, d]."""
    pages = np.maximum(table.reshape([-1, table.shape[-1]]).astype(np.int64), 0)
    found = np.swapaxes(cache[pages], 1, 2)  # A page without a number is read as the first one.
    return found.reshape([*found.shape[:2], -1, cache.shape[-1]])


@operation("transformer.paged_scaled_dot_product_attention_decode")
def paged_scaled_dot_product_attention_decode(input_tensor_q, input_tensor_k, input_tensor_v,
                                              page_table_tensor, *, is_causal=True, attn_mask=None,
                                              cur_pos_tensor=None, scale=None, memory_config=None,
                                              program_config=None, compute_kernel_config=None,
                                              attention_sink=None, sliding_window_size=None):
    return _decode("paged_scaled_dot_product_attention_decode", input_tensor_q, input_tensor_k,
                   input_tensor_v, is_causal, attn_mask, None, cur_pos_tensor, scale, memory_config,
                   sliding_window_size, attention_sink, program_config, compute_kernel_config,
                   page_table_tensor)


# Rotary embeddings.


def _rotated(x):
    half = x.shape[-1] // 2
    return np.concatenate([-x[..., half:], x[..., :half]], -1)


def _rope(x, cos, sin):
    return x * cos + _rotated(x) * sin


@operation("experimental.rotary_embedding", unread="compute_kernel_config")
def rotary_embedding(input_tensor, cos_cache, sin_cache, token_index=None, *, memory_config=None):
    rows = input_tensor._shape[-2]

    def compute(x, cos, sin):
        at = token_index or 0
        length = 1 if token_index is not None else rows
        return _rope(x, cos[..., at:at + length, :], sin[..., at:at + length, :])

    require_device("rotary_embedding", input_tensor, cos_cache, sin_cache)
    out = make_output(input_tensor._shape, input_tensor, None, None, memory_config)
    tables = [1, 1, max(rows, cos_cache._shape[-2]), input_tensor._shape[-1]]
    used = [_typed(one, out._dtype) for one in (input_tensor, cos_cache, sin_cache)]
    program("rotary_embedding", "rotary_embedding", used, [out], shapes=[None, tables, tables],
            style="halves")
    values(compute, [input_tensor, cos_cache, sin_cache], [out])
    return out


@operation("experimental.rotary_embedding_llama", unread="compute_kernel_config")
def rotary_embedding_llama(input_tensor, cos_cache, sin_cache, trans_mat, *, is_decode_mode=False,
                           memory_config=None):
    """Computes x cos + (x T) sin, where T swaps neighbours within each tile. In a decoding step the heads
    of a user have the angles of the first row."""
    return _turned_pairs(input_tensor, cos_cache, sin_cache, trans_mat, is_decode_mode, memory_config)


def _turned_pairs(input_tensor, cos_cache, sin_cache, trans_mat, is_decode_mode, memory_config, user=0):
    """Turns by the angles of the tables, in a decoding step by those from a user on."""
    def compute(x, cos, sin, matrix):
        tile = matrix.reshape([-1, 32, 32])[0]
        wide = x.reshape([x.size // 32, 32])
        turned = arrays.matmul(wide, tile).reshape(list(x.shape))
        rows = 1 if is_decode_mode else x.shape[-2]
        cos, sin = (_until(one, rows)[:, user:] for one in (cos, sin))
        if is_decode_mode and cos.shape[1] > x.shape[1]:
            cos, sin = cos[:, :x.shape[1]], sin[:, :x.shape[1]]
        return x * cos + turned * sin

    require_device("rotary_embedding_llama", input_tensor, cos_cache, sin_cache, trans_mat)
    out = make_output(input_tensor._shape, input_tensor, None, None, memory_config)
    tables = [1, 1, max(input_tensor._shape[-2], cos_cache._shape[-2]), input_tensor._shape[-1]]
    program("rotary_embedding_llama", "rotary_embedding", [input_tensor, cos_cache, sin_cache],
            [out], is_decode_mode and not input_tensor._config.is_sharded(),
            shapes=[None, tables, tables], style="pairs")
    values(compute, [input_tensor, cos_cache, sin_cache, trans_mat], [out])
    return out


@operation("experimental.rotate_half")
def rotate_half(input_tensor, *, memory_config=None):
    return _moved("rotate_half", [input_tensor], list(input_tensor._shape), _rotated, memory_config)


@operation("transformer.joint_scaled_dot_product_attention", refuses={"joint_strategy": "rear"})
def joint_scaled_dot_product_attention(q, k, v, joint_q, joint_k, joint_v, *, program_config=None,
                                       scale=None, compute_kernel_config=None):
    """Computes attention over two sequences, one behind the other, and returns the results of
    both."""
    whole = [concat.function([a, b], 2) for a, b in ((q, joint_q), (k, joint_k), (v, joint_v))]
    made = scaled_dot_product_attention.function(
        *whole, is_causal=False, scale=scale, program_config=program_config,
        compute_kernel_config=compute_kernel_config)
    cut, shape = q._shape[2], list(made._shape)
    first = slice_.function(made, [0] * 4, shape[:2] + [cut] + shape[3:])
    second = slice_.function(made, [0, 0, cut, 0], shape)
    return first, second


@operation("transformer.chunked_scaled_dot_product_attention")
def chunked_scaled_dot_product_attention(input_tensor_q, input_tensor_k, input_tensor_v,
                                         page_table_tensor, chunk_start_idx, *, scale=None,
                                         memory_config=None, program_config=None,
                                         compute_kernel_config=None):
    """Computes attention of a chunk of queries from a place on, over the keys in pages up to its
    end."""
    return _chunk("chunked_scaled_dot_product_attention", input_tensor_q, input_tensor_k, input_tensor_v,
                  page_table_tensor, chunk_start_idx, scale, memory_config, program_config,
                  compute_kernel_config)


@operation("transformer.chunked_flash_mla_prefill")
def chunked_flash_mla_prefill(input_tensor_q, input_tensor_k, head_dim_v, page_table_tensor,
                              chunk_start_idx, *, scale=None, memory_config=None, program_config=None,
                              compute_kernel_config=None):
    """Does the same where the values are the first columns of the keys."""
    return _chunk("chunked_flash_mla_prefill", input_tensor_q, input_tensor_k, input_tensor_k,
                  page_table_tensor, chunk_start_idx, scale, memory_config, program_config,
                  compute_kernel_config, head_dim_v)


def _chunk(name, q, k, v, page_table, start, scale, memory_config, program_config, compute_kernel_config,
           width=None):
    """Launches attention over pages, of whose values it takes the first `width` columns."""
    require_device(name, q, k, v, page_table)
    end, shape = start + q._shape[2], list(q._shape)
    out = make_output(shape[:-1] + [width or shape[-1]], q, None, None, memory_config or DRAM_MEMORY_CONFIG)
    keys = [shape[0], k._shape[1], end, shape[3]]
    program(name, "attention", [q, k, v], [out], start > 0 or width is not None, shapes=[None, keys, keys],
            out_shapes=[shape], causal=start == 0,
            **_attention_attributes(name, q, program_config, compute_kernel_config))

    def compute(x, keys, *rest):
        *held, table = rest
        found = _until(_paged((held or [keys])[0], table), end)
        return _attention(x, _until(_paged(keys, table), end), found[..., :width], None, True, scale)

    values(compute, [q, k, v, page_table] if width is None else [q, k, page_table], [out])
    return out


@operation("experimental.rotary_embedding_llama_fused_qk", unread="compute_kernel_config")
def rotary_embedding_llama_fused_qk(q_input_tensor, k_input_tensor, cos_cache, sin_cache, trans_mat,
                                    *, memory_config=None):
    """Turns queries and keys. Tables of both have the angles of the keys' users behind the queries'."""
    users = q_input_tensor._shape[1]
    behind = users if cos_cache._shape[1] > users else 0
    return tuple(_turned_pairs(one, cos_cache, sin_cache, trans_mat, True, memory_config, user)
                 for one, user in ((q_input_tensor, 0), (k_input_tensor, behind)))


def _latent(name):
    @operation("transformer." + name)
    def call(input_tensor_q, input_tensor_k, *rest, head_dim_v=None, page_table_tensor=None,
             is_causal=True, attn_mask=None, cur_pos=(), cur_pos_tensor=None, scale=None,
             memory_config=None, program_config=None, compute_kernel_config=None,
             attention_sink=None, sliding_window_size=None):
        """Decodes one position of each user. The values are the first head_dim_v columns of the keys, or
        of the tensor that follows these."""
        tensors = [one for one in rest if isinstance(one, Tensor)]
        if name.startswith("paged") and page_table_tensor is None:
            page_table_tensor = tensors.pop()
        width = next((one for one in rest if isinstance(one, int)), head_dim_v)
        return _decode(name, input_tensor_q, input_tensor_k, (tensors or [input_tensor_k])[0],
                       is_causal, attn_mask, cur_pos, cur_pos_tensor, scale, memory_config,
                       sliding_window_size, attention_sink, program_config, compute_kernel_config,
                       page_table_tensor, width)

    return call


_latent("flash_multi_latent_attention_decode")
_latent("paged_flash_multi_latent_attention_decode")


@operation("transformer.flash_mla_prefill")
def flash_mla_prefill(input_tensor_q, input_tensor_k, head_dim_v, *, attn_mask=None, is_causal=True,
                      scale=None, memory_config=None, program_config=None,
                      compute_kernel_config=None):
    """Computes attention whose values are the first columns of its keys."""
    name, q, k = "flash_mla_prefill", input_tensor_q, input_tensor_k
    require_device(name, q, k, tile=True)
    shape = list(q._shape)[:-1] + [head_dim_v]
    out = make_output(shape, q, None, None, memory_config or DRAM_MEMORY_CONFIG)
    inputs = [q, k, k] + ([attn_mask] if attn_mask is not None else [])
    program(name, "attention", inputs, [out], True, out_shapes=[list(q._shape)],
            causal=bool(is_causal),
            **_attention_attributes(name, q, program_config, compute_kernel_config))

    def compute(x, keys, mask=None):
        part = keys[..., :head_dim_v]
        return _attention(x, keys, part, mask, is_causal, scale)

    values(compute, [q, k] + inputs[3:], [out])
    return out
