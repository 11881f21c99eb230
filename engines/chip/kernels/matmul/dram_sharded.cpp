// SPDX-License-Identifier: Apache-2.0
#include "engines/chip/kernels/matmul/dram_sharded.h"

#include <algorithm>
#include <utility>

#include "engines/chip/kernels/elementwise/elementwise.h"
#include "engines/chip/kernels/matmul/matmul_rules.h"
#include "engines/chip/kernels/pipeline/tile_product.h"

namespace howard::chip {
namespace {

/// Returns the time in which a core computes a tile of its result in one block of K.
SimTime tile_time(const MatmulPlan& plan, const Profiles& profiles) {
  const ChipProfile& chip = profiles.chip;
  const SimTime math = chip.tile_pass() * static_cast<std::int64_t>(plan.fidelity) +
                       profiles.software.matmul_tile_product;
  const SimTime unpack =
      unpack_time({plan.config.subblock_h, plan.config.subblock_w, tile_bytes(plan.problem.types.a),
                   tile_bytes(plan.problem.types.b)},
                  chip);
  const SimTime products =
      plan.config.in0_block_w * std::max(math, unpack) + profiles.software.matmul_output_tile;
  if (!plan.packer_accumulates) {
    const Bytes sum =
        tile_bytes(plan.fp32_accumulation ? DataType::float32 : plan.problem.types.out);
    return products + spill_time(plan.config.subblock_h * plan.config.subblock_w, sum,
                                 plan.k_blocks(), profiles);
  }
  // The packer adds to the sums in L1.
  return std::max(products, chip.pack_accumulate_tile * (plan.fp32_accumulation ? 2 : 1));
}

/// Returns the least time from a block of A to the next, where a core with a shard of A waits until
/// its block has left: the receivers say that they are ready, and the block and its flag follow.
SimTime turn_time(const MatmulPlan& plan, const Profiles& profiles) {
  const ChipProfile& chip = profiles.chip;
  if (chip.multicast_flush == SimTime()) return {};
  const Bytes block = plan.config.in0_block_w * tile_bytes(plan.problem.types.a);
  return profiles.software.dram_matmul_block + chip.l1_latency +
         transfer_time(block, chip.noc_multicast) + chip.multicast_flush;
}

}  // namespace

std::optional<PricedMatmul> best_dram_sharded(const MatmulProblem& problem, CoreGrid grid, Bytes l1,
                                              const Profiles& profiles) {
  MatmulProblem sharded = problem;
  sharded.core_grid.reset();
  sharded.in0 = sharded.out = Storage::l1;
  sharded.in1 = Storage::dram;
  const std::int64_t banks = profiles.chip.dram_banks;
  sharded.in1_shards = Sharding{.layout = ShardLayout::width,
                                .grid = {static_cast<int>(banks), 1},
                                .rows = problem.k * kTileSide,
                                .columns = ceil_div(problem.n, banks) * kTileSide};
  std::optional<PricedMatmul> best;
  for (int cores = 1; cores <= grid.cores(); ++cores) {
    if (problem.k % cores != 0 || (cores > grid.columns && cores % grid.columns != 0)) continue;
    const CoreGrid holders{std::min(cores, grid.columns),
                           (cores + grid.columns - 1) / grid.columns};
    const std::int64_t per_core_n = ceil_div(problem.n, cores);
    sharded.in0_shards =
        Sharding{ShardLayout::width, holders, kTileSide, problem.k / cores * kTileSide};
    sharded.out_shards = Sharding{ShardLayout::width, holders, kTileSide, per_core_n * kTileSide};
    for (std::int64_t width = 1; width <= problem.k / cores; ++width) {
      if (problem.k / cores % width != 0) continue;
      sharded.config = MatmulConfig{
          .kind = MatmulKind::dram_sharded, .per_core_n = per_core_n, .in0_block_w = width};
      if (matmul_objection(sharded, *sharded.config, grid)) return std::nullopt;
      PricedMatmul priced = price(plan_matmul(sharded, grid, l1), profiles);
      const Bytes shards = problem.k / cores * tile_bytes(problem.types.a) +
                           per_core_n * tile_bytes(problem.types.out);
      if (priced.l1 + shards >= l1) continue;
      if (!best || ranks_before(priced, *best)) best = std::move(priced);
    }
  }
  return best;
}

MatmulCost dram_sharded_cost(const MatmulPlan& plan, const Profiles& profiles) {
  const ChipProfile& chip = profiles.chip;
  const SoftwareProfile& software = profiles.software;
  const std::int64_t width = plan.config.out_block_w;
  const std::int64_t blocks = plan.k_blocks();
  const Bytes block = plan.config.in0_block_w * width * tile_bytes(plan.problem.types.b);
  MatmulCost cost{.steps = blocks, .output_blocks = 1, .products = 1};
  cost.in0_load = software.dram_matmul_block;
  cost.in1_load = transfer_time(block * chip.dram_banks, chip.dram_read_beside);
  cost.compute = software.dram_matmul_block + width * tile_time(plan, profiles);
  if (plan.problem.activation && *plan.problem.activation != Eltwise::relu) {
    cost.activation = width * fused_math_time(*plan.problem.activation, software.tiles);
  }
  const SimTime slowest = std::max({cost.in1_load, cost.compute, turn_time(plan, profiles)});
  KernelCost& kernel = cost.kernel;
  kernel.compute_start = software.matmul_start + cost.in1_load;
  kernel.reads_end = software.matmul_start + cost.in1_load + (blocks - 1) * slowest;
  kernel.math_end = software.matmul_start + cost.in1_load + cost.compute + (blocks - 1) * slowest +
                    cost.activation;
  cost.output_exposed = software.dram_matmul_start - software.matmul_start;
  kernel.first_write = kernel.math_end;
  kernel.total = kernel.math_end + cost.output_exposed;
  kernel.unshared = kernel.total;
  kernel.dram = blocks * plan.config.grid.cores() * block;
  kernel.cores = plan.config.grid.cores();
  kernel.grid = plan.config.grid;
  kernel.bottleneck = cost.in1_load >= cost.compute ? Bottleneck::in1_reads : Bottleneck::math;
  return cost;
}

}  // namespace howard::chip
