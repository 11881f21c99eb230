# SPDX-License-Identifier: Apache-2.0
"""Attention step by step, with fused helpers, and by one kernel: the same numbers. Needs torch."""

import torch

import ttnn

BATCH, LENGTH, HEADS, SIZE = 2, 64, 4, 32
WIDTH = HEADS * SIZE


def step_by_step(x, weights, biases, mask):
    def heads(weight, bias, order):
        y = ttnn.to_layout(x @ weight + bias, ttnn.ROW_MAJOR_LAYOUT)
        y = ttnn.reshape(y, (BATCH, LENGTH, HEADS, SIZE))
        return ttnn.permute(ttnn.to_layout(y, ttnn.TILE_LAYOUT), order)

    query = heads(weights[0], biases[0], (0, 2, 1, 3))
    key = heads(weights[1], biases[1], (0, 2, 3, 1))
    value = heads(weights[2], biases[2], (0, 2, 1, 3))
    scores = query @ key * (1 / SIZE**0.5)
    scores += mask
    context = ttnn.permute(ttnn.softmax(scores, dim=-1) @ value, (0, 2, 1, 3))
    return ttnn.reshape(context, (BATCH, LENGTH, WIDTH))


def fused(x, weight, bias, mask):
    grid = ttnn.CoreGrid(y=BATCH, x=6)
    joined = ttnn.linear(x, weight, bias=bias, memory_config=ttnn.L1_MEMORY_CONFIG, core_grid=grid)
    query, key, value = ttnn.transformer.split_query_key_value_and_split_heads(
        joined, num_heads=HEADS, memory_config=ttnn.L1_MEMORY_CONFIG)
    ttnn.deallocate(joined)
    scores = ttnn.matmul(query, key, memory_config=ttnn.L1_MEMORY_CONFIG, core_grid=grid)
    shares = ttnn.transformer.attention_softmax_(scores, attention_mask=mask, head_size=SIZE)
    context = ttnn.matmul(shares, value, memory_config=ttnn.L1_MEMORY_CONFIG, core_grid=grid)
    return ttnn.transformer.concatenate_heads(context)


def in_one_kernel(x, weight, bias, mask):
    joined = ttnn.linear(x, weight, bias=bias)
    query, key, value = ttnn.transformer.split_query_key_value_and_split_heads(
        joined, num_heads=HEADS, transpose_key=False)
    config = ttnn.SDPAProgramConfig(compute_with_storage_grid_size=(8, 7), q_chunk_size=32,
                                    k_chunk_size=64)
    wide = ttnn.repeat(mask, (1, 1, LENGTH, 1))
    context = ttnn.transformer.scaled_dot_product_attention(
        query, key, value, attn_mask=wide, is_causal=False, program_config=config)
    return ttnn.transformer.concatenate_heads(context)


torch.manual_seed(0)
device = ttnn.open_device(device_id=0)
device.enable_program_cache()


def on_device(tensor):
    return ttnn.from_torch(tensor, dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device)


hidden = torch.randn(BATCH, LENGTH, WIDTH)
parts = [torch.randn(WIDTH, WIDTH) * 0.1 for _ in range(3)]
offsets = [torch.randn(WIDTH) for _ in range(3)]
hides = torch.zeros(BATCH, 1, 1, LENGTH)
hides[1, ..., LENGTH // 2:] = -1e4
q, k, v = (
    (hidden @ w + b).view(BATCH, LENGTH, HEADS, SIZE).transpose(1, 2) for w, b in zip(parts, offsets))
shares_ = (q @ k.transpose(-1, -2) / SIZE**0.5 + hides).softmax(-1)
expected = (shares_ @ v).transpose(1, 2).reshape(BATCH, LENGTH, WIDTH)

x_, mask_ = on_device(hidden), on_device(hides)
together = on_device(torch.cat(parts, -1)), on_device(torch.cat(offsets).unsqueeze(0))
made = [step_by_step(x_, [on_device(w) for w in parts], [on_device(b) for b in offsets], mask_),
        fused(x_, *together, mask_), in_one_kernel(x_, *together, mask_)]
for one in made:
    close = ttnn.pearson_correlation_coefficient(expected, ttnn.to_torch(one).float())
    assert close > 0.999, close
entries = device.num_program_cache_entries()
fused(x_, *together, mask_)
assert device.num_program_cache_entries() == entries
ttnn.close_device(device)
