# SPDX-License-Identifier: Apache-2.0
"""Bundle 5: sharded memory and the configurations of programs."""

import ttnn

device = ttnn.CreateDevice(0)
assert device.compute_with_storage_grid_size() == ttnn.CoreCoord(8, 8)
values = [float(i % 61) for i in range(256 * 128)]
x = ttnn.Tensor(values, [256, 128], ttnn.bfloat16, ttnn.TILE_LAYOUT, device)
config = ttnn.create_sharded_memory_config(
    [256, 128], ttnn.CoreGrid(y=8, x=1), ttnn.ShardStrategy.HEIGHT)
assert config.shard_spec.shape == [32, 128] and config.is_sharded()
sharded = ttnn.to_memory_config(x, config)
assert sharded.is_sharded() and sharded.memory_config() == config
assert ttnn.to_memory_config(sharded, config) is sharded
block = ttnn.create_sharded_memory_config(
    [256, 128], ttnn.CoreGrid(y=4, x=4), ttnn.ShardStrategy.BLOCK)
assert block.shard_spec.shape == [64, 32]
again = ttnn.sharded_to_interleaved(ttnn.reshard(sharded, block), ttnn.DRAM_MEMORY_CONFIG)
assert again.to_list() == x.to_list()
spec = ttnn.ShardSpec(ttnn.CoreRangeSet({ttnn.CoreRange(ttnn.CoreCoord(0, 0),
                                                        ttnn.CoreCoord(3, 1))}), [32, 128],
                      ttnn.ShardOrientation.ROW_MAJOR)
assert spec.grid.num_cores() == 8
other = ttnn.interleaved_to_sharded(
    x, ttnn.MemoryConfig(ttnn.TensorMemoryLayout.HEIGHT_SHARDED, ttnn.BufferType.L1, spec))
assert ttnn.relu(other).to_list() == x.to_list()

weights = ttnn.Tensor([1.0 if i // 64 == i % 64 else 0.0 for i in range(128 * 64)], [128, 64],
                      ttnn.bfloat16, ttnn.TILE_LAYOUT, device)
compute = ttnn.WormholeComputeKernelConfig(
    math_fidelity=ttnn.MathFidelity.HiFi4, fp32_dest_acc_en=True, packer_l1_acc=True)
program = ttnn.MatmulMultiCoreReuseMultiCastProgramConfig(
    compute_with_storage_grid_size=(2, 8), in0_block_w=2, out_subblock_h=1, out_subblock_w=1,
    per_core_M=1, per_core_N=1, transpose_mcast=False, fused_activation=None)
made = ttnn.matmul(x, weights, program_config=program, compute_kernel_config=compute)
assert made.to_list() == [row[:64] for row in x.to_list()]
for wrong in (dict(in0_block_w=3), dict(out_subblock_h=2), dict(compute_with_storage_grid_size=(9, 9)),
              dict(compute_with_storage_grid_size=(1, 1))):
    fields = {name: getattr(program, name) for name in
              ("compute_with_storage_grid_size", "in0_block_w", "out_subblock_h", "out_subblock_w",
               "per_core_M", "per_core_N", "transpose_mcast", "fused_activation")}
    fields.update(wrong)
    try:
        ttnn.matmul(x, weights,
                    program_config=ttnn.MatmulMultiCoreReuseMultiCastProgramConfig(**fields))
    except RuntimeError:
        continue
    raise AssertionError(f"a configuration that cannot be was taken: {wrong}")
for grid, strategy in ((ttnn.CoreGrid(y=7, x=1), ttnn.ShardStrategy.HEIGHT),
                       (ttnn.CoreGrid(y=1, x=3), ttnn.ShardStrategy.WIDTH)):
    try:
        ttnn.create_sharded_memory_config([256, 128], grid, strategy)
    except RuntimeError:
        continue
    raise AssertionError("shards that do not divide were made")
norm = ttnn.LayerNormShardedMultiCoreProgramConfig(
    compute_with_storage_grid_size=(1, 8), subblock_w=4, block_h=1, block_w=4, inplace=False)
assert ttnn.layer_norm(sharded, epsilon=1e-5, program_config=norm).shape == [256, 128]
ttnn.close_device(device)
