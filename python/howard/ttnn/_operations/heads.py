# SPDX-License-Identifier: Apache-2.0
"""Implements what splits rows into heads and joins heads to rows."""

import math

from .._arrays import np
from .._launch import fail, make_output, operation, program, require_device, values
from .._cores import num_cores_to_corerangeset
from .._memory import MemoryConfig, ShardSpec
from .._types import BufferType, Layout, TensorMemoryLayout
from .data_movement import _moved


def _heads_of(columns, heads):
    """Returns [.., s, heads d] as [.., heads, s, d], of four dimensions."""
    batch, rows = columns.shape[0], columns.shape[-2]
    return columns.reshape([batch, rows, heads, columns.shape[-1] // heads]).swapaxes(1, 2)


def _parts(x, other, heads, kv_heads, size, groups):
    """Returns the columns of queries, keys and values. Where there are groups, each has its own
    queries, then its keys, then its values; in a tensor of keys and values these two."""
    whole = x if other is None else other
    if groups:
        every = whole.reshape([*whole.shape[:-1], groups, -1, size])
        each = kv_heads // groups
        parts = [every[..., :-2 * each, :], every[..., -2 * each:-each, :], every[..., -each:, :]]
    else:
        first = heads * size if other is None else 0
        parts = np.split(whole, [first, first + kv_heads * size], -1)
    parts = [one.reshape([*whole.shape[:-1], -1]) if one.size else one for one in parts]
    return parts if other is None else [x, *parts[1:]]


def _split(name, x, kv, heads, kv_heads, transpose_key, memory_config, groups=0, given=None):
    inputs = [x] + ([kv] if kv is not None else [])
    require_device(name, *inputs)
    if x._layout is not Layout.TILE:
        fail(name, "the input must be in TILE layout")
    kv_heads = kv_heads or heads
    size = _head_size(name, x, kv, heads, kv_heads)
    batch, rows = x._shape[0], x._shape[-2]
    key_rows = kv._shape[-2] if kv is not None else rows
    shapes = [[batch, heads, rows, size], [batch, kv_heads, key_rows, size],
              [batch, kv_heads, key_rows, size]]
    if transpose_key:
        shapes[1] = [batch, kv_heads, size, key_rows]
    outs = _results(name, shapes, x, memory_config, given)
    folded = [[batch, 1, one._shape[-2], one._shape[-1]] for one in inputs]
    program(name, "split_heads" if kv is None else "split_groups", inputs, outs, shapes=folded,
            heads=heads, groups=kv_heads, transpose_k=bool(transpose_key))

    def compute(q, other=None):
        parts = _parts(q, other, heads, kv_heads, size, groups)
        made = [_heads_of(p, h) for p, h in zip(parts, (heads, kv_heads, kv_heads))]
        if transpose_key:
            made[1] = made[1].swapaxes(-1, -2)
        return made

    values(compute, inputs, outs)
    return tuple(outs)


def _head_size(name, x, kv, heads, kv_heads):
    count, width = heads if kv is not None else heads + 2 * kv_heads, x._shape[-1]
    if width % count or heads % kv_heads:
        fail(name, f"{width} columns are not those of {heads} heads of queries and {kv_heads} of "
             "keys and values each")
    if width // count % 32:
        fail(name, f"the head size {width // count} must be a multiple of 32, the width of a tile: "
             "pad the heads")
    return width // count


def _results(name, shapes, like, memory_config, given):
    """Returns tensors for results: those that the caller gives, or new ones."""
    given = list(given or [None] * len(shapes))
    for one, shape in zip(given, shapes):
        if one is not None and one._shape != tuple(shape):
            fail(name, f"an output tensor has the shape {one._shape}, the result has {shape}")
    return [make_output(shape, like, None, Layout.TILE, _head_shards(shape, like, memory_config), one)
            for shape, one in zip(shapes, given)]


def _head_shards(shape, like, config):
    """Returns where heads go that are made of shards: if the caller names none, the cores that have
    the shards keep as many rows of whole heads each."""
    if config is None or config.shard_spec is not None or like._config.shard_spec is None or \
            config.memory_layout is not TensorMemoryLayout.HEIGHT_SHARDED:
        return config
    spec = like._config.shard_spec
    rows, columns = math.prod(shape[:-2]) * -(-shape[-2] // 32), -(-shape[-1] // 32)
    cores = spec.grid.num_cores()
    if rows % cores:
        return config
    return config.with_shard_spec(ShardSpec(spec.grid, [32 * rows // cores, 32 * columns]))


def _row_shards(heads, config):
    """Returns where rows go that are made of shards of heads: if the caller names no shards, the
    cores that have the heads of a sequence keep their columns."""
    spec = heads._config.shard_spec
    if config is None or config.shard_spec is not None or spec is None or \
            config.memory_layout is not TensorMemoryLayout.BLOCK_SHARDED:
        return config
    batch, count, rows, size = heads._shape
    grid = spec.grid.bounding_box().grid_size()
    tiles = batch * -(-rows // 32)
    if tiles % grid.y or count * size % (32 * grid.x) or grid.x * grid.y != spec.grid.num_cores():
        return config
    return config.with_shard_spec(ShardSpec(spec.grid, [32 * tiles // grid.y, count * size // grid.x]))


@operation("transformer.split_query_key_value_and_split_heads")
def split_query_key_value_and_split_heads(input_tensor, kv_input_tensor=None, *, num_heads,
                                          num_kv_heads=None, transpose_key=True,
                                          memory_config=None):
    if len(input_tensor._shape) != 3:
        fail("transformer.split_query_key_value_and_split_heads",
             f"the input must have rank 3, not {input_tensor._shape}")
    grouped = kv_input_tensor is None and input_tensor.is_sharded()
    return _split("split_query_key_value_and_split_heads", input_tensor, kv_input_tensor, num_heads,
                  num_kv_heads, transpose_key, memory_config,
                  (num_kv_heads or num_heads) if grouped else 0)


@operation("experimental.split_query_key_value_and_split_heads",
           unread={"compute_with_storage_grid_size": 1})
def experimental_split_query_key_value_and_split_heads(input_tensor, *, memory_config=None,
                                                       num_heads=16, output_tensors=None):
    """Splits [b, 1, s, 3 h d] into q, k and v, and transposes k. Where the input is in blocks, each column
    of cores has the queries, keys and values of its own heads."""
    config, groups = input_tensor._config, 0
    if config.shard_spec is not None:
        groups = max(1, input_tensor._shape[-1] // config.shard_spec.shape[-1])
    return _split("split_query_key_value_and_split_heads", input_tensor, None, num_heads, None, True,
                  memory_config, groups, output_tensors)


@operation("experimental.nlp_create_qkv_heads")
def nlp_create_qkv_heads(input_tensor, kv_input_tensor=None, *, num_heads, num_kv_heads=None,
                         transpose_k_heads=True, memory_config=None, output_tensors=None):
    return _split("nlp_create_qkv_heads", input_tensor, kv_input_tensor, num_heads, num_kv_heads,
                  transpose_k_heads, memory_config, given=output_tensors)


@operation("experimental.create_qkv_heads")
def create_qkv_heads(input_tensor, *, num_heads, num_kv_heads=None, transpose_k_heads=True,
                     memory_config=None, output_tensors=None):
    return _split("create_qkv_heads", input_tensor, None, num_heads, num_kv_heads,
                  transpose_k_heads, memory_config, num_kv_heads or num_heads, output_tensors)


@operation("experimental.nlp_create_qkv_heads_decode", unread="overlap_qk_coregrid")
def nlp_create_qkv_heads_decode(input_tensor, *, num_heads, num_kv_heads=None, memory_config=None,
                                batch_offset=None, slice_size=None, output_tensors=None):
    """Splits [1, 1, b, (h + 2 kv) d] into q, k and v, [1, b, h, d] each; of some users, where their
    first one is given and how many they are."""
    name = "nlp_create_qkv_heads_decode"
    others = [batch_offset] if batch_offset is not None else []
    require_device(name, input_tensor, *others)
    if (batch_offset is None) != (slice_size is None):
        fail(name, "batch_offset and slice_size must be given together")
    kv_heads = num_kv_heads or num_heads
    batch = slice_size or input_tensor._shape[-2]
    size = input_tensor._shape[-1] // (num_heads + 2 * kv_heads)
    counts = (num_heads, kv_heads, kv_heads)
    outs = _results(name, [[1, batch, h, size] for h in counts], input_tensor, memory_config,
                    output_tensors)
    program(name, "split_heads_decode", [input_tensor], outs,
            shapes=[[1, 1, batch, input_tensor._shape[-1]]], heads=num_heads, groups=kv_heads)

    def compute(x, offset=None):
        first = 0 if offset is None else int(offset.item(0))
        parts = np.split(x[..., first:first + batch, :], [num_heads * size,
                                                          (num_heads + kv_heads) * size], -1)
        return [part.reshape([1, batch, heads, size]) for part, heads in zip(parts, counts)]

    values(compute, [input_tensor] + others, outs)
    return tuple(outs)


def _joined(name, tensor, shape, memory_config):
    require_device(name, tensor)
    out = make_output(shape, tensor, None, None, _row_shards(tensor, memory_config))
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


@operation("experimental.concatenate_heads", unread={"compute_with_storage_grid_size": 1})
def experimental_concatenate_heads(input_tensor, *, memory_config=None):
    b, h, s, d = list(input_tensor._shape)
    return _joined("concatenate_heads", input_tensor, [b, 1, s, h * d], memory_config)


@operation("experimental.nlp_concat_heads_decode")
def nlp_concat_heads_decode(input_tensor, *, num_heads, memory_config=None):
    """Joins the heads of [1, b, h, d] to [1, 1, b, h d]. Of shards the result has the columns of each
    head on a core."""
    _one, batch, heads, size = list(input_tensor._shape)
    shape = [1, 1, batch, num_heads * size]
    if memory_config is None and input_tensor.is_sharded():
        cores = num_cores_to_corerangeset(num_heads, input_tensor._device.core_grid, True)
        memory_config = MemoryConfig(TensorMemoryLayout.WIDTH_SHARDED, BufferType.L1,
                                     ShardSpec(cores, [32, size]))

    def compute(x):
        kept = x[:, :, :num_heads]
        return kept.reshape(shape)

    return _moved("nlp_concat_heads_decode", [input_tensor], shape, compute, memory_config,
                  analogy=False, kernel="concat_heads_decode", heads=num_heads)


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
                  num_kv_heads, transpose_k_heads, memory_config, num_kv_heads or num_heads,
                  output_tensors)
