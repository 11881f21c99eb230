# SPDX-License-Identifier: Apache-2.0
"""A layer of Llama-3.1-8B's decoding step for 32 users, as tt_transformers calls it on one chip: sharded
operands, DRAM-sharded weights and a paged cache at a position."""

import ttnn

DIM, HEADS, GROUPS, SIZE, HIDDEN, USERS = 4096, 32, 8, 128, 14336, 32
device = ttnn.open_device(device_id=0)


def cores(columns, rows=1):
    return ttnn.CoreRangeSet({ttnn.CoreRange(ttnn.CoreCoord(0, 0),
                                             ttnn.CoreCoord(columns - 1, rows - 1))})


def shards(layout, grid, shape, buffer=ttnn.BufferType.L1):
    spec = ttnn.ShardSpec(grid, shape, ttnn.ShardOrientation.ROW_MAJOR)
    return ttnn.MemoryConfig(layout, buffer, spec)


def width(columns, rows, n):
    return shards(ttnn.TensorMemoryLayout.WIDTH_SHARDED, cores(columns, rows),
                  [32, n // (columns * rows)])


def heads_config():
    return shards(ttnn.TensorMemoryLayout.HEIGHT_SHARDED, cores(8, 4), [32, SIZE])


def empty(shape, dtype=ttnn.bfloat16, config=ttnn.DRAM_MEMORY_CONFIG, layout=ttnn.TILE_LAYOUT):
    return ttnn.empty(shape, dtype=dtype, layout=layout, device=device, memory_config=config)


def weight(k, n, dtype):
    padded = -(-n // (32 * 12)) * 32
    config = shards(ttnn.TensorMemoryLayout.WIDTH_SHARDED, cores(12), [k, padded],
                    ttnn.BufferType.DRAM)
    return empty([1, 1, k, n], dtype, config)


def product(x, w, n, block, count, dtype=ttnn.bfloat16, fidelity=ttnn.MathFidelity.HiFi2, wide=True):
    config = ttnn.MatmulMultiCoreReuseMultiCastDRAMShardedProgramConfig(
        in0_block_w=block, per_core_M=1, per_core_N=n // 32 // count, fused_activation=None)
    return ttnn.linear(
        x, w, program_config=config, memory_config=ttnn.L1_WIDTH_SHARDED_MEMORY_CONFIG, dtype=dtype,
        compute_kernel_config=ttnn.WormholeComputeKernelConfig(
            math_fidelity=fidelity, fp32_dest_acc_en=wide, packer_l1_acc=True))


wqkv, wo = weight(DIM, (HEADS + 2 * GROUPS) * SIZE, ttnn.bfloat8_b), weight(DIM, DIM, ttnn.bfloat8_b)
w1, w3 = (weight(DIM, HIDDEN, ttnn.bfloat4_b) for _ in range(2))
w2 = weight(HIDDEN, DIM, ttnn.bfloat8_b)
gamma = empty([1, 1, DIM // 32, 32], layout=ttnn.ROW_MAJOR_LAYOUT)
tables = [empty([1, USERS, 32, SIZE], config=heads_config()) for _ in range(2)]
signs = empty([1, 1, 32 * 32, 32], config=shards(ttnn.TensorMemoryLayout.HEIGHT_SHARDED, cores(8, 4),
                                               [32, 32]))
caches = [empty([USERS * 4, GROUPS, 32, SIZE], ttnn.bfloat8_b) for _ in range(2)]
pages = ttnn.from_torch([[4 * user + page for page in range(4)] for user in range(USERS)],
                        dtype=ttnn.int32, device=device)
places = ttnn.from_torch([31] * USERS, dtype=ttnn.int32, device=device)
x = empty([1, 1, USERS, DIM], config=width(8, 4, DIM))


def layer(x):
    normed = ttnn.rms_norm(x, epsilon=1e-5, weight=gamma)
    qkv = product(normed, wqkv, 6144, 4, 32)
    qkv = ttnn.sharded_to_interleaved(qkv, ttnn.L1_MEMORY_CONFIG)
    q, k, v = ttnn.experimental.nlp_create_qkv_heads_decode(
        qkv, num_heads=HEADS, num_kv_heads=GROUPS, memory_config=heads_config())
    q, k = (ttnn.experimental.rotary_embedding_llama(one, *tables, signs, is_decode_mode=True)
            for one in (q, k))
    for cache, new in zip(caches, (k, v)):
        ttnn.experimental.paged_update_cache(cache, new, update_idxs_tensor=places, page_table=pages)
    seen = ttnn.transformer.paged_scaled_dot_product_attention_decode(
        q, *caches, pages, cur_pos_tensor=places, scale=SIZE**-0.5,
        program_config=ttnn.SDPAProgramConfig(compute_with_storage_grid_size=(8, 8),
                                              q_chunk_size=0, k_chunk_size=0))
    seen = ttnn.to_memory_config(seen, heads_config())
    seen = ttnn.experimental.nlp_concat_heads_decode(seen, num_heads=HEADS)
    assert seen.memory_config() == width(8, 4, DIM), seen.memory_config()
    seen = ttnn.to_memory_config(seen, width(8, 4, DIM))
    x = ttnn.add(x, product(seen, wo, DIM, 4, 32), memory_config=width(8, 4, DIM))
    wide = ttnn.to_memory_config(x, width(8, 8, DIM))
    normed = ttnn.rms_norm(wide, epsilon=1e-5, weight=gamma)
    low = dict(fidelity=ttnn.MathFidelity.LoFi, wide=False)
    gate, up = (product(normed, w, HIDDEN, 2, 64, **low) for w in (w1, w3))
    hidden = ttnn.mul(gate, up, input_tensor_a_activations=[ttnn.UnaryOpType.SILU],
                      dtype=ttnn.bfloat8_b, memory_config=gate.memory_config())
    down = ttnn.to_memory_config(product(hidden, w2, DIM, 7, 64), width(8, 4, DIM))
    return ttnn.add(x, down, memory_config=width(8, 4, DIM))


made = layer(x)
assert made.shape == [1, 1, USERS, DIM] and made.memory_config() == x.memory_config()
try:
    product(x, wqkv, 6144, 3, 32)
except RuntimeError as refusal:
    assert "in0_block_w" in str(refusal), refusal
else:
    raise AssertionError("a block that K does not have was taken")
try:
    product(x, empty([1, 1, DIM, DIM], ttnn.bfloat8_b), DIM, 4, 32)
except RuntimeError as refusal:
    assert "WIDTH_SHARDED, in DRAM" in str(refusal), refusal
else:
    raise AssertionError("interleaved weights were taken as DRAM-sharded")
ttnn.close_device(device)
