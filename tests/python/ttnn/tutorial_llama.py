# SPDX-License-Identifier: Apache-2.0
"""A Llama block: prefill with rotary embeddings and grouped keys, then a decode step on shards.

Needs torch.
"""

import torch

import ttnn

WIDTH, HIDDEN, HEADS, GROUPS, LENGTH, USERS = 256, 512, 8, 2, 64, 32
SIZE = WIDTH // HEADS
HIGH = ttnn.WormholeComputeKernelConfig(math_fidelity=ttnn.MathFidelity.HiFi4,
                                        math_approx_mode=False, fp32_dest_acc_en=True)
LOW = ttnn.WormholeComputeKernelConfig(math_fidelity=ttnn.MathFidelity.LoFi, packer_l1_acc=True)

torch.manual_seed(1)
device = ttnn.open_mesh_device(
    ttnn.MeshShape(1, 1),
    dispatch_core_config=ttnn.DispatchCoreConfig(ttnn.DispatchCoreType.WORKER))


def weight(tensor, dtype=ttnn.bfloat8_b, layout=ttnn.TILE_LAYOUT):
    return ttnn.as_tensor(tensor, dtype=dtype, layout=layout, device=device,
                          memory_config=ttnn.DRAM_MEMORY_CONFIG,
                          mesh_mapper=ttnn.ReplicateTensorToMesh(device))


sizes = {"qkv": (WIDTH, (HEADS + 2 * GROUPS) * SIZE), "out": (WIDTH, WIDTH),
         "gate": (WIDTH, HIDDEN), "up": (WIDTH, HIDDEN), "down": (HIDDEN, WIDTH)}
matrices = {name: torch.randn(shape) * 0.03 for name, shape in sizes.items()}
on_chip = {name: weight(matrix) for name, matrix in matrices.items()}
gamma = torch.rand(WIDTH)
gamma_ = weight(gamma.reshape(1, 1, WIDTH // 32, 32), ttnn.bfloat16, ttnn.ROW_MAJOR_LAYOUT)
angles = torch.outer(torch.arange(LENGTH).float(), 1e4 ** (-torch.arange(0, SIZE, 2) / SIZE))
cos, sin = (f(angles).repeat_interleave(2, -1) for f in (torch.cos, torch.sin))
swap = torch.zeros(1, 1, 32, 32)
even = torch.arange(0, 32, 2)
swap[..., even, even + 1], swap[..., even + 1, even] = 1, -1
tables = [weight(t, ttnn.bfloat16) for t in (cos[None, None], sin[None, None], swap)]


def attention(x, keys, values):
    config = ttnn.MatmulMultiCoreReuseMultiCastProgramConfig(
        compute_with_storage_grid_size=(4, 2), in0_block_w=2, out_subblock_h=1, out_subblock_w=3,
        per_core_M=1, per_core_N=3, transpose_mcast=False, fused_activation=None)
    joined = ttnn.linear(x, on_chip["qkv"], dtype=ttnn.bfloat16, program_config=config)
    query, key, value = ttnn.experimental.nlp_create_qkv_heads(
        joined, num_heads=HEADS, num_kv_heads=GROUPS, transpose_k_heads=False)
    query, key = (ttnn.experimental.rotary_embedding_llama(one, *tables) for one in (query, key))
    ttnn.fill_cache(keys, key, 0)
    ttnn.fill_cache(values, value, 0)
    made = ttnn.transformer.scaled_dot_product_attention(
        query, key, value, is_causal=True, compute_kernel_config=HIGH,
        program_config=ttnn.SDPAProgramConfig(compute_with_storage_grid_size=(8, 7),
                                              q_chunk_size=32, k_chunk_size=32))
    return ttnn.linear(ttnn.experimental.nlp_concat_heads(made), on_chip["out"])


def feed_forward(x):
    gate = ttnn.linear(x, on_chip["gate"], dtype=ttnn.bfloat8_b, compute_kernel_config=LOW)
    up = ttnn.linear(x, on_chip["up"], dtype=ttnn.bfloat8_b, compute_kernel_config=LOW)
    gated = ttnn.mul(gate, up, input_tensor_a_activations=[ttnn.UnaryOpType.SILU],
                     dtype=ttnn.bfloat8_b)
    return ttnn.linear(gated, on_chip["down"], dtype=ttnn.bfloat16)


def norm(x):
    return ttnn.rms_norm(x, epsilon=1e-5, weight=gamma_, compute_kernel_config=HIGH)


hidden = torch.randn(1, 1, LENGTH, WIDTH)
x = weight(hidden, ttnn.bfloat16)
caches = [ttnn.zeros([USERS, GROUPS, 128, SIZE], dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT,
                     device=device) for _ in range(2)]
h = ttnn.add(x, attention(norm(x), *caches))
y = ttnn.add(h, feed_forward(norm(h)))


def reference(t):
    def normal(one):
        return one * torch.rsqrt(one.pow(2).mean(-1, keepdim=True) + 1e-5) * gamma

    def heads(one, count):
        return one.view(1, LENGTH, count, SIZE).transpose(1, 2)

    def turned(one):
        return one * cos + torch.stack((-one[..., 1::2], one[..., ::2]), -1).flatten(-2) * sin

    q, k, v = (normal(t) @ matrices["qkv"]).split([WIDTH, GROUPS * SIZE, GROUPS * SIZE], -1)
    q, k, v = turned(heads(q, HEADS)), turned(heads(k, GROUPS)), heads(v, GROUPS)
    k, v = (one.repeat_interleave(HEADS // GROUPS, 1) for one in (k, v))
    scores = q @ k.transpose(-1, -2) / SIZE**0.5
    scores = scores + torch.triu(torch.full((LENGTH, LENGTH), -1e9), 1)
    made = (scores.softmax(-1) @ v).transpose(1, 2).reshape(1, 1, LENGTH, WIDTH)
    t = t + made @ matrices["out"]
    n = normal(t)
    gate = torch.nn.functional.silu(n @ matrices["gate"])
    return t + (gate * (n @ matrices["up"])) @ matrices["down"]


close = ttnn.pearson_correlation_coefficient(reference(hidden), ttnn.to_torch(y).float())
assert close > 0.999, close

# One token for each of 32 users, on shards.
row = ttnn.create_sharded_memory_config(
    (32, WIDTH // 8), core_grid=ttnn.CoreGrid(x=8, y=1), strategy=ttnn.ShardStrategy.WIDTH,
    use_height_and_width_as_shard_shape=True)
x = ttnn.to_memory_config(weight(torch.randn(1, 1, USERS, WIDTH), ttnn.bfloat16), row)
x = ttnn.rms_norm(
    x, epsilon=1e-5, weight=gamma_, memory_config=row,
    program_config=ttnn.LayerNormShardedMultiCoreProgramConfig(
        compute_with_storage_grid_size=[8, 1], subblock_w=1, block_h=1, block_w=1, inplace=False))
banks = ttnn.CoreRangeSet({ttnn.CoreRange(ttnn.CoreCoord(0, 0),
                                          ttnn.CoreCoord(device.dram_grid_size().x - 1, 0))})
sharded = ttnn.MemoryConfig(ttnn.TensorMemoryLayout.WIDTH_SHARDED, ttnn.BufferType.DRAM,
                            ttnn.ShardSpec(banks, [WIDTH, 32], ttnn.ShardOrientation.ROW_MAJOR))
in_banks = ttnn.as_tensor(matrices["qkv"], dtype=ttnn.bfloat8_b, layout=ttnn.TILE_LAYOUT,
                          device=device, memory_config=sharded)
joined = ttnn.linear(
    x, in_banks, dtype=ttnn.bfloat16, memory_config=ttnn.L1_WIDTH_SHARDED_MEMORY_CONFIG,
    program_config=ttnn.MatmulMultiCoreReuseMultiCastDRAMShardedProgramConfig(
        in0_block_w=1, per_core_M=1, per_core_N=2, fused_activation=None))
joined = ttnn.sharded_to_interleaved(joined, ttnn.L1_MEMORY_CONFIG)
query, key, value = ttnn.experimental.nlp_create_qkv_heads_decode(
    joined, num_heads=HEADS, num_kv_heads=GROUPS,
    memory_config=ttnn.L1_HEIGHT_SHARDED_MEMORY_CONFIG)
places = ttnn.from_torch(torch.full((USERS,), 7), dtype=ttnn.int32, device=device)
for cache, one in zip(caches, (key, value)):
    ttnn.experimental.paged_update_cache(cache, one, update_idxs_tensor=places)
made = ttnn.transformer.scaled_dot_product_attention_decode(
    query, *caches, cur_pos_tensor=places, scale=SIZE**-0.5)
made = ttnn.experimental.nlp_concat_heads_decode(made, num_heads=HEADS)
assert list(made.shape) == [1, 1, USERS, WIDTH]
ttnn.close_mesh_device(device)
