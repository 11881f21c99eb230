# SPDX-License-Identifier: Apache-2.0
"""Implements attention within windows and over a ring of devices, and Wan's fused normalisation."""

from .. import _arrays as arrays
from .._arrays import apply, np
from .._launch import fail, make_output, operation, program, require_device, values
from .._memory import DRAM_MEMORY_CONFIG
from .transformer import _attention, _attention_attributes


@operation("transformer.windowed_scaled_dot_product_attention")
def windowed_scaled_dot_product_attention(input_tensor_q, input_tensor_k, input_tensor_v,
                                          cu_window_seqlens, *, scale=None, memory_config=None,
                                          program_config=None, compute_kernel_config=None):
    """Lets queries and keys of the same window see each other; windows end where the numbers of
    cu_window_seqlens say."""
    name = "windowed_scaled_dot_product_attention"
    inputs = [input_tensor_q, input_tensor_k, input_tensor_v]
    require_device(name, *inputs, tile=True)
    require_device(name, input_tensor_q, cu_window_seqlens)
    out = make_output(input_tensor_q._shape, input_tensor_q, None, None,
                      memory_config or DRAM_MEMORY_CONFIG)
    program(name, "attention", inputs, [out], True, causal=False,
            **_attention_attributes(name, input_tensor_q, program_config, compute_kernel_config))

    def compute(q, k, v, ends):
        bounds = ends.reshape(-1)[1:]
        rows = np.searchsorted(bounds, np.arange(q.shape[-2]), side="right")
        columns = np.searchsorted(bounds, np.arange(k.shape[-2]), side="right")
        mask = np.where(rows[:, None] == columns[None], np.float32(0), np.float32(-1e30))
        return _attention(q, k, v, mask, False, scale)

    values(compute, [*inputs, cu_window_seqlens], [out])
    return out


@operation("transformer.ring_distributed_scaled_dot_product_attention")
def ring_distributed_scaled_dot_product_attention(
        input_tensor_q, input_tensor_k, input_tensor_v, ring_size, ring_id=None, *, scale=None,
        memory_config=None, program_config=None, compute_kernel_config=None):
    """Computes causal attention for one early and one late part of the queries on each device, so
    that all have equal work."""
    name = "ring_distributed_scaled_dot_product_attention"
    inputs = [input_tensor_q, input_tensor_k, input_tensor_v]
    require_device(name, *inputs, tile=True)
    batch, heads, rows, size = list(input_tensor_q._shape)
    if rows % (2 * ring_size):
        fail(name, f"{rows} rows cannot be divided into {2 * ring_size} parts of a ring of "
             f"{ring_size} devices")
    part = rows // (2 * ring_size)
    out = make_output([batch, heads, 2 * part, size], input_tensor_q, None, None,
                      memory_config or DRAM_MEMORY_CONFIG)
    query = [batch, heads, 2 * part, size]
    program(name, "attention", inputs, [out], True, causal=False, shapes=[query, None, None],
            out_shapes=[query],
            **_attention_attributes(name, input_tensor_q, program_config, compute_kernel_config))
    device = iter(range(10 ** 9))

    def compute(q, k, v):
        at = next(device) % ring_size if ring_id is None else ring_id
        whole = _attention(q, k, v, None, True, scale)
        late = 2 * ring_size - 1 - at
        return np.concatenate([whole[:, :, at * part:(at + 1) * part],
                               whole[:, :, late * part:(late + 1) * part]], 2)

    values(compute, inputs, [out])
    return out


@operation("experimental.wan_fused_rmsnorm_pre_allgather", unread="compute_kernel_config")
def wan_fused_rmsnorm_pre_allgather(input_tensor, *, dtype=None, memory_config=None):
    """Returns the sum of each row's squares, in the first column of a tile."""
    require_device("wan_fused_rmsnorm_pre_allgather", input_tensor, tile=True)
    shape = list(input_tensor._shape)[:-1] + [32]
    out = make_output(shape, input_tensor, dtype, None, memory_config)
    program("wan_fused_rmsnorm_pre_allgather", "move", [input_tensor], [out], True)

    def compute(x):
        made = np.zeros(shape, np.float32)
        made[..., 0] = arrays.reduce("sum", x * x, [-1], False)
        return made

    values(compute, [input_tensor], [out])
    return out


def _in_pairs(x, cos, sin, turn):
    """Turns pairs of numbers as rotary_embedding_llama does: x cos + (x T) sin."""
    size = turn.shape[-1]
    pairs = x.reshape(*x.shape[:-1], -1, size)
    turned = arrays.matmul(pairs, turn.reshape(size, size)).reshape(x.shape)
    return x * cos + turned * sin


@operation("experimental.wan_fused_rmsnorm_post_allgather", unread="compute_kernel_config")
def wan_fused_rmsnorm_post_allgather(input_tensor, stats, *, epsilon=1e-5, num_heads_per_device=1,
                                     weight=None, transformation_mat=None, rope_cos=None,
                                     rope_sin=None, memory_config=None, dtype=None):
    """Normalises rows by the sums of all devices, and splits them into heads, which may be
    turned."""
    name = "wan_fused_rmsnorm_post_allgather"
    require_device(name, input_tensor, stats, tile=True)
    batch, rows, width = input_tensor._shape[0], input_tensor._shape[-2], input_tensor._shape[-1]
    heads, devices = num_heads_per_device, stats._shape[-1] // 32
    if width % heads:
        fail(name, f"{width} columns cannot be divided into {heads} heads")
    out = make_output([batch, heads, rows, width // heads], input_tensor, dtype, None, memory_config)
    program(name, "rms_norm", [input_tensor], [out], True, shapes=[[batch, 1, rows, width]],
            out_shapes=[[batch, 1, rows, width]])
    rope = [transformation_mat, rope_cos, rope_sin]
    turns = rope_cos is not None
    is_scaled = weight is not None
    extra = ([weight] if is_scaled else []) + (rope if turns else [])

    def compute(x, sums, *rest):
        rest = list(rest)
        total = sums[..., ::32].sum(-1, keepdims=True) / (width * devices)
        made = x * apply("rsqrt", total + float(epsilon))
        if is_scaled:
            made = made * rest.pop(0).reshape(-1)
        made = made.reshape(batch, rows, heads, width // heads).transpose(0, 2, 1, 3)
        return _in_pairs(made, rest[1], rest[2], rest[0]) if turns else made

    values(compute, [input_tensor, stats, *extra], [out])
    return out
