# SPDX-License-Identifier: Apache-2.0
"""Shards of all three layouts: moves, elementwise ops, products, and what ttnn refuses."""

import ttnn

device = ttnn.open_device(device_id=0)
ROWS, COLUMNS = 256, 512
x = ttnn.rand((1, 1, ROWS, COLUMNS), device, low=-1.0)
plain = ttnn.add(ttnn.relu(x), ttnn.exp(x)).to_list()
grids = {ttnn.ShardStrategy.HEIGHT: ttnn.CoreGrid(y=1, x=8),
         ttnn.ShardStrategy.WIDTH: ttnn.CoreGrid(y=2, x=8),
         ttnn.ShardStrategy.BLOCK: ttnn.CoreGrid(y=4, x=8)}
configs = {strategy: ttnn.create_sharded_memory_config((1, 1, ROWS, COLUMNS), core_grid=grid,
                                                       strategy=strategy)
           for strategy, grid in grids.items()}
for config in configs.values():
    shards = ttnn.to_memory_config(x, config)
    assert shards.is_sharded() and shards.memory_config() == config
    made = ttnn.add(ttnn.relu(shards), ttnn.exp(shards))
    assert made.memory_config() == config
    assert ttnn.sharded_to_interleaved(made, ttnn.DRAM_MEMORY_CONFIG).to_list() == plain

block = ttnn.interleaved_to_sharded(x, configs[ttnn.ShardStrategy.BLOCK])
assert ttnn.reshard(block, configs[ttnn.ShardStrategy.HEIGHT]).to_list() == x.to_list()
weight = ttnn.rand((COLUMNS, 256), device, low=-0.1, high=0.1)
config = ttnn.MatmulMultiCoreReuseMultiCastProgramConfig(
    compute_with_storage_grid_size=(8, 4), in0_block_w=2, out_subblock_h=2, out_subblock_w=1,
    per_core_M=2, per_core_N=1, transpose_mcast=False,
    fused_activation=ttnn.UnaryWithParam(ttnn.UnaryOpType.RELU))
product = ttnn.matmul(block, weight, program_config=config,
                      memory_config=ttnn.L1_BLOCK_SHARDED_MEMORY_CONFIG)
assert min(map(min, product.to_list()[0][0])) == 0.0

rows = ttnn.to_layout(x, ttnn.ROW_MAJOR_LAYOUT)
sticks = ttnn.create_sharded_memory_config(
    (ROWS // 8, COLUMNS), core_grid=ttnn.CoreGrid(y=1, x=8), strategy=ttnn.ShardStrategy.HEIGHT,
    use_height_and_width_as_shard_shape=True)
assert ttnn.to_memory_config(rows, sticks).to_list() == x.to_list()


def refused(shape, cores, strategy, words):
    wrong = ttnn.create_sharded_memory_config(
        shape, core_grid=ttnn.CoreGrid(y=1, x=cores), strategy=strategy,
        use_height_and_width_as_shard_shape=True)
    try:
        ttnn.to_memory_config(x, wrong)
    except RuntimeError as failure:
        assert words in str(failure), failure
    else:
        raise AssertionError(f"{shape} on {cores} cores was taken")


refused((ROWS, 500), 8, ttnn.ShardStrategy.HEIGHT, "tile")
refused((32, COLUMNS // 2), 8, ttnn.ShardStrategy.HEIGHT, "Shard width")
refused((32, COLUMNS), 4, ttnn.ShardStrategy.HEIGHT, "must not exceed")
ttnn.close_device(device)
