# SPDX-License-Identifier: Apache-2.0
"""Implements attention: heads, scores, rotary embeddings."""

import math


from .. import _arrays as arrays
from .._arrays import np
from .._launch import fail, make_output, operation, program, require_device, values
from .._tensor import device_tensor
from .._memory import DRAM_MEMORY_CONFIG
from .._types import DataType, Layout, MathFidelity
from .data_movement import _moved, concat, slice_
from .normalization import _softmax, causal_mask


def _heads_of(columns, heads):
    """Returns [.., s, heads d] as [.., heads, s, d], of four dimensions."""
    batch, rows = columns.shape[0], columns.shape[-2]
    return columns.reshape([batch, rows, heads, columns.shape[-1] // heads]).swapaxes(1, 2)


def _columns(array, start, end):
    return array[..., start:end]


def _split(name, x, kv, heads, kv_heads, transpose_key, memory_config):
    inputs = [x] + ([kv] if kv is not None else [])
    require_device(name, *inputs)
    if x._layout is not Layout.TILE:
        fail(name, "the input must be in TILE layout")
    kv_heads = kv_heads or heads
    width = x._shape[-1]
    size = width // heads if kv is not None else width // (heads + 2 * kv_heads)
    if size * (heads if kv is not None else heads + 2 * kv_heads) != width:
        fail(name, f"{width} columns are not those of {heads} heads of queries and {kv_heads} of "
             "keys and values each")
    if size % 32:
        fail(name, f"the head size {size} must be a multiple of 32, the width of a tile: pad the "
             "heads")
    batch, rows = x._shape[0], x._shape[-2]
    key_rows = kv._shape[-2] if kv is not None else rows
    shapes = [[batch, heads, rows, size], [batch, kv_heads, key_rows, size],
              [batch, kv_heads, key_rows, size]]
    if transpose_key:
        shapes[1] = [batch, kv_heads, size, key_rows]
    outs = [make_output(shape, x, None, None, memory_config) for shape in shapes]
    folded = [[batch, 1, one._shape[-2], one._shape[-1]] for one in inputs]
    program(name, "split_heads" if kv is None else "split_groups", inputs, outs, shapes=folded,
            heads=heads, groups=kv_heads, transpose_k=bool(transpose_key))

    def compute(q, other=None):
        ends = [heads * size, (heads + kv_heads) * size, (heads + 2 * kv_heads) * size]
        if other is None:
            parts = [_columns(q, 0, ends[0]), _columns(q, ends[0], ends[1]),
                     _columns(q, ends[1], ends[2])]
        else:
            half = kv_heads * size
            parts = [q, _columns(other, 0, half), _columns(other, half, 2 * half)]
        made = [_heads_of(p, h) for p, h in zip(parts, (heads, kv_heads, kv_heads))]
        if transpose_key:
            made[1] = made[1].swapaxes(-1, -2)
        return made

    values(compute, inputs, outs)
    return tuple(outs)


@operation("transformer.split_query_key_value_and_split_heads")
def split_query_key_value_and_split_heads(input_tensor, kv_input_tensor=None, *, num_heads,
                                          num_kv_heads=None, transpose_key=True,
                                          memory_config=None):
    if len(input_tensor._shape) != 3:
        fail("transformer.split_query_key_value_and_split_heads",
             f"the input must have rank 3, not {input_tensor._shape}")
    return _split("split_query_key_value_and_split_heads", input_tensor, kv_input_tensor, num_heads,
                  num_kv_heads, transpose_key, memory_config)


@operation("experimental.nlp_create_qkv_heads")
def nlp_create_qkv_heads(input_tensor, kv_input_tensor=None, *, num_heads, num_kv_heads=None,
                         transpose_k_heads=True, memory_config=None, output_tensors=None):
    return _split("nlp_create_qkv_heads", input_tensor, kv_input_tensor, num_heads, num_kv_heads,
                  transpose_k_heads, memory_config)


@operation("experimental.create_qkv_heads")
def create_qkv_heads(input_tensor, *, num_heads, num_kv_heads=None, transpose_k_heads=True,
                     memory_config=None, output_tensors=None):
    return _split("create_qkv_heads", input_tensor, None, num_heads, num_kv_heads,
                  transpose_k_heads, memory_config)


@operation("experimental.nlp_create_qkv_heads_decode", refuses=("batch_offset", "slice_size"))
def nlp_create_qkv_heads_decode(input_tensor, *, num_heads, num_kv_heads=None, memory_config=None,
                                overlap_qk_coregrid=True, batch_offset=None, slice_size=None,
                                output_tensors=None):
    """Splits [1, 1, b, (h + 2 kv) d] into q, k and v, [1, b, h, d] each."""
    name = "nlp_create_qkv_heads_decode"
    require_device(name, input_tensor)
    kv_heads = num_kv_heads or num_heads
    batch = input_tensor._shape[-2]
    size = input_tensor._shape[-1] // (num_heads + 2 * kv_heads)
    counts = (num_heads, kv_heads, kv_heads)
    outs = [make_output([1, batch, h, size], input_tensor, None, Layout.TILE, memory_config)
            for h in counts]
    program(name, "split_heads", [input_tensor], outs, True,
            out_shapes=[[1, h, batch, size] for h in counts], heads=num_heads, groups=kv_heads)

    def compute(x):
        made, at = [], 0
        for heads in counts:
            part = _columns(x, at, at + heads * size)
            made.append(part.reshape([1, batch, heads, size]))
            at += heads * size
        return made

    values(compute, [input_tensor], outs)
    return tuple(outs)


def _joined(name, tensor, shape, memory_config):
    require_device(name, tensor)
    out = make_output(shape, tensor, None, None, memory_config)
    batch, heads, rows, size = tensor._shape
    program(name, "concat_heads", [tensor], [out], out_shapes=[[batch, 1, rows, heads * size]])
    values(lambda x: x.swapaxes(1, 2).reshape(shape), [tensor], [out])
    return out


@operation("transformer.concatenate_heads")
def concatenate_heads(input_tensor, *, memory_config=None):
    b, h, s, d = list(input_tensor._shape)
    return _joined("concatenate_heads", input_tensor, [b, s, h * d], memory_config)


@operation("experimental.nlp_concat_heads")
def nlp_concat_heads(input_tensor, *, memory_config=None):
    b, h, s, d = list(input_tensor._shape)
    return _joined("nlp_concat_heads", input_tensor, [b, 1, s, h * d], memory_config)


@operation("experimental.concatenate_heads")
def experimental_concatenate_heads(input_tensor, compute_with_storage_grid_size=None, *,
                                   memory_config=None):
    b, h, s, d = list(input_tensor._shape)
    return _joined("concatenate_heads", input_tensor, [b, 1, s, h * d], memory_config)


@operation("experimental.nlp_concat_heads_decode")
def nlp_concat_heads_decode(input_tensor, *, num_heads, memory_config=None, sub_core_grids=None):
    """Joins the heads of [1, b, h, d] to [1, 1, b, h d]."""
    _one, batch, heads, size = list(input_tensor._shape)
    shape = [1, 1, batch, num_heads * size]

    def compute(x):
        kept = x[:, :, :num_heads]
        return kept.reshape(shape)

    return _moved("nlp_concat_heads_decode", [input_tensor], shape, compute, memory_config)


# Scores.


@operation("transformer.attention_softmax")
def attention_softmax(tensor, *, head_size=None, attention_mask=None, program_config=None,
                      causal_mask=False, memory_config=None):
    scale = None if head_size is None else 1 / math.sqrt(head_size)
    return _softmax("attention_softmax", tensor, -1, memory_config, None, scale, attention_mask)


@operation("transformer.attention_softmax_")
def attention_softmax_(tensor, *, head_size=None, attention_mask=None, program_config=None,
                       causal_mask=False, memory_config=None):
    scale = None if head_size is None else 1 / math.sqrt(head_size)
    return _softmax("attention_softmax_", tensor, -1, None, tensor, scale, attention_mask)


def _attention(q, k, v, mask, causal, scale, window=None):
    """Computes softmax(q k^T scale + mask) v; heads of keys and values may be fewer."""
    heads, groups = q.shape[1], k.shape[1]
    if heads != groups:
        k, v = (_spread_heads(one, heads // groups) for one in (k, v))
    scale = scale if scale is not None else 1 / math.sqrt(q.shape[-1])
    scores = arrays.matmul(q, k.swapaxes(-1, -2)) * scale
    if mask is not None:
        scores = scores + mask
    elif causal:
        scores = (scores + causal_mask(q.shape[-2], k.shape[-2]))
    if window:
        scores = (scores + _window_mask(q.shape[-2], k.shape[-2], window))
    return arrays.matmul(arrays.softmax(scores, -1), v)


def _window_mask(rows, columns, window):
    row = ((float(columns - rows) + np.arange(rows))).reshape([rows, 1])
    column = np.arange(columns).reshape([1, columns])
    near = column + window > row
    return np.where(near, 0.0, -1e30)


def _spread_heads(array, times):
    b, h, s, d = array.shape
    wide = np.broadcast_to(array.reshape([b, h, 1, s, d]), [b, h, times, s, d])
    return wide.reshape([b, h * times, s, d])


def _attention_attributes(config, compute):
    """Returns what the kernel is told: chunks of 32 rows and HiFi2 where the caller says
    nothing."""
    attributes = {}
    for word, field in (("query_chunk", "q_chunk_size"), ("key_chunk", "k_chunk_size")):
        size = getattr(config, field, None)
        if size:
            attributes[word] = int(size)
    if compute is not None and compute.math_fidelity is not MathFidelity.Invalid:
        attributes["fidelity"] = compute.math_fidelity.name
    return attributes


@operation("transformer.scaled_dot_product_attention", refuses=("attention_sink",))
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
    inputs += [attn_mask] if attn_mask is not None else []
    told = _attention_attributes(program_config, compute_kernel_config)
    program(name, "attention", inputs, [out], sliding_window_size is not None,
            causal=bool(is_causal), **told)
    values(lambda q, k, v, m=None: _attention(q, k, v, m, is_causal, scale, sliding_window_size),
           inputs, [out])
    return out


def _launch_decode(name, q, k, v, out, seen):
    """Launches the kernel of a decoding step over the `seen` places of the keys."""
    _one, batch, heads, size = list(q._shape)
    groups = k._shape[1]
    queries = [batch, groups, max(1, heads // groups), size]
    keys = [batch, groups, seen, size]
    device = q._device
    if device.position is None or not device.position._storage.alive:
        device.position = device_tensor([1], DataType.UINT32, Layout.ROW_MAJOR, None, device)
    program(name, "decode_attention", [q, k, v, device.position], [out],
            shapes=[queries, keys, keys, None], out_shapes=[queries])


def _decode(name, q, k, v, is_causal, mask, cur_pos, cur_pos_tensor, scale, memory_config):
    """Decodes one position for each user: q [1, b, h, d], caches [b, kv, s, d]."""
    require_device(name, q, k, v)
    out = make_output(q._shape, q, None, Layout.TILE, memory_config or DRAM_MEMORY_CONFIG)
    _one, batch, heads, size = list(q._shape)
    length = k._shape[-2]
    seen = min(length, max(cur_pos) + 1) if is_causal and cur_pos else length
    _launch_decode(name, q, k, v, out, seen)
    inputs = [q, k, v] + ([cur_pos_tensor] if cur_pos_tensor is not None else []) + (
        [mask] if mask is not None else [])

    def compute(x, keys, all_values, *rest):
        rest = list(rest)
        places = [int(p) for p in cur_pos or []]
        if cur_pos_tensor is not None:
            given = rest.pop(0)
            places = [int(given.item(i)) for i in range(given.size)]
        m = rest.pop(0) if rest else None
        made = []
        for user in range(batch):
            one = _user(x, user, 1).reshape([1, heads, 1, size])
            last = places[user] + 1 if is_causal and user < len(places) else length
            ks, vs = (_until(_user(c, user, 0), last) for c in (keys, all_values))
            bias = None if m is None else _user(m, user, 0).swapaxes(1, 2)
            if bias is not None and bias.shape[-1] != last:
                bias = bias[..., :last]
            made.append(_attention(one, ks, vs, bias, False, scale).reshape([1, 1, heads, size]))
        return np.concatenate(made, 1)

    values(compute, inputs, [out])
    return out


def _user(array, user, axis):
    return np.take(array, [user if array.shape[axis] > 1 else 0], axis)


def _until(array, last):
    return array[..., :last, :]


_REFUSED = ("attention_sink", "sliding_window_size")


@operation("transformer.scaled_dot_product_attention_decode", refuses=_REFUSED)
def scaled_dot_product_attention_decode(input_tensor_q, input_tensor_k, input_tensor_v, *,
                                        is_causal=True, attn_mask=None, cur_pos=(),
                                        cur_pos_tensor=None, scale=None, memory_config=None,
                                        program_config=None, compute_kernel_config=None,
                                        attention_sink=None, sliding_window_size=None):
    return _decode("scaled_dot_product_attention_decode", input_tensor_q, input_tensor_k,
                   input_tensor_v, is_causal, attn_mask, cur_pos, cur_pos_tensor, scale,
                   memory_config)


def _paged(cache, table):
    """Returns the pages of each user side by side: [b, kv, s, d]."""
    blocks, heads, size, width = cache.shape
    users, pages = table.shape[-2], table.shape[-1]
    made = []
    for user in range(users):
        parts = [_user(cache, int(max(0, table.item(user * pages + p))), 0) for p in range(pages)]
        made.append(np.concatenate(parts, 2))
    return np.concatenate(made, 0)


@operation("transformer.paged_scaled_dot_product_attention_decode", refuses=_REFUSED)
def paged_scaled_dot_product_attention_decode(input_tensor_q, input_tensor_k, input_tensor_v,
                                              page_table_tensor, *, is_causal=True, attn_mask=None,
                                              cur_pos_tensor=None, scale=None, memory_config=None,
                                              program_config=None, compute_kernel_config=None,
                                              attention_sink=None, sliding_window_size=None):
    pages = page_table_tensor._shape[-1]
    shape = [input_tensor_q._shape[1], input_tensor_k._shape[1], pages * input_tensor_k._shape[2],
             input_tensor_k._shape[3]]
    joined = []
    for cache in (input_tensor_k, input_tensor_v):
        made = make_output(shape, cache)
        values(_paged, [cache, page_table_tensor], [made])
        joined.append(made)
    return _decode("paged_scaled_dot_product_attention_decode", input_tensor_q, joined[0], joined[1],
                   is_causal, attn_mask, None, cur_pos_tensor, scale, memory_config)


# Rotary embeddings.


def _rotated(x):
    half = x.shape[-1] // 2
    return np.concatenate([-x[..., half:], x[..., :half]], -1)


def _rope(x, cos, sin):
    return x * cos + _rotated(x) * sin


@operation("experimental.rotary_embedding")
def rotary_embedding(input_tensor, cos_cache, sin_cache, token_index=None, *, memory_config=None,
                     compute_kernel_config=None):
    rows = input_tensor._shape[-2]

    def compute(x, cos, sin):
        at = token_index or 0
        length = 1 if token_index is not None else rows
        return _rope(x, cos[..., at:at + length, :], sin[..., at:at + length, :])

    require_device("rotary_embedding", input_tensor, cos_cache, sin_cache)
    out = make_output(input_tensor._shape, input_tensor, None, None, memory_config)
    tables = [1, 1, max(rows, cos_cache._shape[-2]), input_tensor._shape[-1]]
    program("rotary_embedding", "rotary_embedding", [input_tensor, cos_cache, sin_cache], [out],
            shapes=[None, tables, tables], style="halves")
    values(compute, [input_tensor, cos_cache, sin_cache], [out])
    return out


@operation("experimental.rotary_embedding_llama")
def rotary_embedding_llama(input_tensor, cos_cache, sin_cache, trans_mat, *, is_decode_mode=False,
                           memory_config=None, compute_kernel_config=None):
    """Computes x cos + (x T) sin, where T swaps neighbours within each tile."""
    def compute(x, cos, sin, matrix):
        tile = matrix.reshape([-1, 32, 32])[0]
        wide = x.reshape([x.size // 32, 32])
        turned = arrays.matmul(wide, tile).reshape(list(x.shape))
        if not is_decode_mode:
            cos, sin = _until(cos, x.shape[-2]), _until(sin, x.shape[-2])
        return x * cos + turned * sin

    require_device("rotary_embedding_llama", input_tensor, cos_cache, sin_cache, trans_mat)
    out = make_output(input_tensor._shape, input_tensor, None, None, memory_config)
    tables = [1, 1, max(input_tensor._shape[-2], cos_cache._shape[-2]), input_tensor._shape[-1]]
    program("rotary_embedding_llama", "rotary_embedding", [input_tensor, cos_cache, sin_cache],
            [out], is_decode_mode, shapes=[None, tables, tables], style="pairs")
    values(compute, [input_tensor, cos_cache, sin_cache, trans_mat], [out])
    return out


@operation("experimental.rotate_half")
def rotate_half(input_tensor, *, memory_config=None):
    return _moved("rotate_half", [input_tensor], list(input_tensor._shape), _rotated, memory_config)


@operation("transformer.joint_scaled_dot_product_attention")
def joint_scaled_dot_product_attention(q, k, v, joint_q, joint_k, joint_v, *, joint_strategy="rear",
                                       program_config=None, scale=None, compute_kernel_config=None):
    """Computes attention over two sequences, one behind the other, and returns the results of
    both."""
    whole = [concat.function([a, b], 2) for a, b in ((q, joint_q), (k, joint_k), (v, joint_v))]
    made = scaled_dot_product_attention.function(*whole, is_causal=False, scale=scale)
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
    name = "chunked_scaled_dot_product_attention"
    q = input_tensor_q
    require_device(name, q, input_tensor_k, input_tensor_v, page_table_tensor)
    end = chunk_start_idx + q._shape[2]
    out = make_output(q._shape, q, None, None, memory_config or DRAM_MEMORY_CONFIG)
    keys = [q._shape[0], input_tensor_k._shape[1], end, q._shape[3]]
    program(name, "attention", [q, input_tensor_k, input_tensor_v], [out],
            chunk_start_idx > 0, shapes=[None, keys, keys], causal=chunk_start_idx == 0,
            **_attention_attributes(program_config, compute_kernel_config))

    def compute(x, k, v, table):
        return _attention(x, _until(_paged(k, table), end), _until(_paged(v, table), end), None, True,
                         scale)

    values(compute, [q, input_tensor_k, input_tensor_v, page_table_tensor], [out])
    return out


@operation("experimental.rotary_embedding_llama_fused_qk")
def rotary_embedding_llama_fused_qk(q_input_tensor, k_input_tensor, cos_cache, sin_cache, trans_mat,
                                    *, memory_config=None, compute_kernel_config=None):
    return tuple(rotary_embedding_llama.function(one, cos_cache, sin_cache, trans_mat,
                                                 is_decode_mode=True)
                 for one in (q_input_tensor, k_input_tensor))


def _fixed_heads(name, heads, kv_heads, transposes):
    @operation("experimental." + name)
    def call(input_tensor, kv_input_tensor=None, *, memory_config=None):
        return nlp_create_qkv_heads.function(
            input_tensor, kv_input_tensor, num_heads=heads, num_kv_heads=kv_heads,
            transpose_k_heads=transposes, memory_config=memory_config)

    return call


_fixed_heads("nlp_create_qkv_heads_falcon7b", 71, 1, False)
_fixed_heads("nlp_create_qkv_heads_vit", 12, 12, True)


@operation("experimental.nlp_create_qkv_heads_segformer")
def nlp_create_qkv_heads_segformer(input_tensor, *, memory_config=None):
    """Brings [b, 1, s, h 32] to [b, h, s, 32], three times, because ttnn returns three tensors."""
    b, _one, s, columns = list(input_tensor._shape)
    heads = columns // 32

    def compute(x):
        return x.reshape([b, s, heads, 32]).transpose([0, 2, 1, 3])

    made = _moved("nlp_create_qkv_heads_segformer", [input_tensor], [b, heads, s, 32], compute,
                  memory_config)
    return made, made, made


@operation("experimental.create_qkv_heads_from_separate_tensors")
def create_qkv_heads_from_separate_tensors(input_tensor, kv_input_tensor, *, num_heads,
                                           num_kv_heads=None, transpose_k_heads=True,
                                           memory_config=None, output_tensors=None):
    return _split("create_qkv_heads_from_separate_tensors", input_tensor, kv_input_tensor, num_heads,
                  num_kv_heads, transpose_k_heads, memory_config)


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
            causal=bool(is_causal), **_attention_attributes(program_config, compute_kernel_config))

    def compute(x, keys, mask=None):
        part = keys[..., :head_dim_v]
        return _attention(x, keys, part, mask, is_causal, scale)

    values(compute, [q, k] + inputs[3:], [out])
    return out
