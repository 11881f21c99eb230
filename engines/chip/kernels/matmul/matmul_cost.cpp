// SPDX-License-Identifier: Apache-2.0
#include "engines/chip/kernels/matmul/matmul_cost.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/check.h"
#include "base/wide.h"
#include "engines/chip/kernels/elementwise/elementwise.h"
#include "engines/chip/kernels/matmul/dram_sharded.h"
#include "engines/chip/kernels/pipeline/clock.h"
#include "engines/chip/kernels/pipeline/dram_banks.h"
#include "engines/chip/kernels/pipeline/pages.h"
#include "engines/chip/kernels/pipeline/tile_product.h"
#include "engines/chip/kernels/plan/plans.h"

namespace howard::chip {
namespace {

/// The numbers of a plan that every stage needs.
struct Geometry {
  std::int64_t cores;
  std::int64_t rows, columns;  // of the cores with work; one of them is 1 in the 1D kinds
  std::int64_t in0_tiles, in1_tiles, out_tiles;  // of one step, and of an output block
  std::int64_t subblocks;                        // of an output block
  std::int64_t k_steps;
  std::int64_t output_blocks;
  Bytes in0_tile, in1_tile, out_tile;
};

Geometry geometry_of(const MatmulPlan& plan) {
  const std::int64_t out_tiles = plan.config.out_block_h * plan.config.out_block_w;
  return {.cores = plan.active_cores(),
          .rows = plan.active_rows(),
          .columns = plan.active_columns(),
          .in0_tiles = plan.config.out_block_h * plan.config.in0_block_w,
          .in1_tiles = plan.config.in0_block_w * plan.config.out_block_w,
          .out_tiles = out_tiles,
          .subblocks = out_tiles / (plan.config.subblock_h * plan.config.subblock_w),
          .k_steps = plan.k_blocks(),
          .output_blocks = plan.blocks_h() * plan.blocks_w() * plan.products(),
          .in0_tile = tile_bytes(plan.problem.types.a),
          .in1_tile = tile_bytes(plan.problem.types.b),
          .out_tile = tile_bytes(plan.problem.types.out)};
}

struct Costs {
  const Profiles& profiles;
  const ChipProfile& chip = profiles.chip;
  const SoftwareProfile& software = profiles.software;

  /// Returns the time in which one core reads `tiles` in one batch while `readers` cores do the
  /// same. It is bounded by issuing requests, by the core's own port, or by its share of DRAM as
  /// that NoC can read it, or of the L1 of all cores. `crowded` is the part of what all readers
  /// fetch at once that lies in one bank, which serves nothing else meanwhile.
  SimTime read(Storage from, std::int64_t tiles, Bytes tile, std::int64_t readers, Bandwidth dram,
               TenThousandths crowded = 0) const {
    SimTime per_tile = page_time(tile, profiles);
    if (from == Storage::dram) {
      const Bytes in_one_bank(ceil_div((readers * tile).value() * crowded, kWhole) *
                              chip.dram_banks);
      // A bank's port for this NoC takes its requests one after the other.
      const SimTime requests = SimTime::picoseconds(
          ceil_div(chip.dram_request.ps() * readers, std::int64_t{chip.dram_banks}));
      const SimTime requests_in_one_bank =
          SimTime::picoseconds(ceil_div(chip.dram_request.ps() * readers * crowded, kWhole));
      per_tile = std::max({per_tile, transfer_time(readers * tile, dram), requests,
                           requests_in_one_bank, transfer_time(in_one_bank, chip.dram_bandwidth)});
      return chip.noc_read_latency + tiles * per_tile;
    }
    per_tile = std::max(per_tile, transfer_time(readers * tile, chip.l1_spread_read));
    return chip.l1_latency + tiles * per_tile;
  }

  /// Returns the time in which each core reads a tile of A and one of B, one after the other. Where
  /// one is in L1 and the other in DRAM, both memories give them to all cores as fast as they can.
  SimTime read_both(const MatmulProblem& problem, const Geometry& g) const {
    if (problem.in0 == problem.in1) {
      return read(problem.in0, g.in0_tiles, g.in0_tile, g.cores, chip.dram_read_noc0) +
             read(problem.in1, g.in1_tiles, g.in1_tile, g.cores, chip.dram_read_noc0);
    }
    const auto [near, far] = problem.in0 == Storage::l1 ? std::pair(g.in0_tile, g.in1_tile)
                                                        : std::pair(g.in1_tile, g.in0_tile);
    const SimTime alone = chip.l1_latency + chip.noc_read_latency + page_time(near, profiles) +
                          page_time(far, profiles);
    return std::max(alone, transfer_time(g.cores * near, chip.l1_spread_read) +
                               transfer_time(g.cores * far, chip.dram_read_noc0));
  }

  /// Returns the time in which one core reads `tiles` and multicasts them to `receivers` once each
  /// has told it that it has room, while `readers` do the same. Either all of them read before they
  /// send, or others read while one sends.
  SimTime read_and_multicast(Storage from, std::int64_t tiles, Bytes tile, std::int64_t readers,
                             std::int64_t receivers, Bandwidth dram,
                             TenThousandths crowded = 0) const {
    return multicast_after(read(from, tiles, tile, readers, dram, crowded),
                           tiles * page_time(tile, profiles), tiles, tile, receivers);
  }

  /// Returns the time in which one core reads and multicasts `tiles`. Reading them takes `reads`,
  /// of which the core needs `own` itself, and the rest waits for the other readers.
  SimTime multicast_after(SimTime reads, SimTime own, std::int64_t tiles, Bytes tile,
                          std::int64_t receivers) const {
    // Meanwhile the receivers say that they have room for it, one after the other.
    const SimTime room = software.dram_matmul_block + receivers * chip.noc_increment;
    const SimTime shared = std::max(reads, room);
    const SimTime sent = multicast(tiles, tile);
    if (!chip.multicasts_beside_reads) return shared + sent;
    return std::max(shared, chip.noc_read_latency + own + sent);
  }

  /// Returns the time in which one of `readers` cores reads a tile of its own columns, which lie in
  /// shards in banks of the DRAM: it goes from one bank to the next, and meets others there only
  /// where they are more than the banks.
  SimTime banked_tile(Bytes tile, std::int64_t readers) const {
    const std::int64_t streams = std::max<std::int64_t>(readers, chip.dram_banks);
    return std::max({software.noc_shard_read_issue, transfer_time(tile, chip.noc_link),
                     transfer_time(streams * tile, chip.dram_read_beside)});
  }

  /// Returns the time in which one core reads `tiles` in one batch of columns of its own, while all
  /// others do the same with theirs. The banks always have requests of some of them, so a core
  /// waits either for its own reads or for its share of what the DRAM gives. A row of the core's
  /// columns that is shorter than a row of banks leaves more of them to others.
  SimTime read_columns(std::int64_t tiles, std::int64_t width, Bytes tile,
                       std::int64_t readers) const {
    const std::int64_t spread = std::max<std::int64_t>(0, chip.dram_banks - width);
    const Bandwidth fast = chip.dram_read_columns;
    const Bandwidth slow = std::min(chip.dram_read_noc0, fast);
    const Bandwidth rate(slow.value() + (fast.value() - slow.value()) * spread / chip.dram_banks);
    // What holds the banks up for large requests does so for small ones, too.
    const auto requests = static_cast<Wide>(chip.dram_request.ps()) * readers * tiles *
                          chip.dram_bandwidth.value() / (rate.value() * chip.dram_banks);
    return std::max(
        {chip.noc_read_latency + software.dram_matmul_block + tiles * page_time(tile, profiles),
         transfer_time(readers * tiles * tile, rate),
         SimTime::picoseconds(static_cast<std::int64_t>(requests))});
  }

  SimTime multicast(std::int64_t tiles, Bytes tile) const {
    return transfer_time(tiles * tile, chip.noc_multicast) + chip.multicast_flush;
  }
};

/// Returns which part of A's reads falls on one bank. A step reads so many tiles of each of A's
/// rows; if K is a multiple of the banks and a step is one tile, they are all in one bank. (A
/// transposed A is read along K: its rows are neighbours.)
TenThousandths in0_share_of_one_bank(const MatmulPlan& plan, std::int64_t readers,
                                     const ChipProfile& chip) {
  if (plan.problem.transposed_a) return 0;
  const std::int64_t rows = std::min<std::int64_t>(plan.m, readers * plan.config.out_block_h);
  return block_share_at_busiest_bank(rows, plan.config.in0_block_w, plan.k, chip.dram_banks);
}

/// Returns the time of a step's reads of B, and of its multicasts to the other rows of cores.
SimTime in1_load_of(const MatmulPlan& plan, const Geometry& g, const Costs& costs) {
  const MatmulProblem& problem = plan.problem;
  const bool in0_shared = plan.config.kind != MatmulKind::multicast_1d_in1;
  const bool shared = plan.config.kind != MatmulKind::multicast_1d_in0;
  const std::int64_t readers = shared ? g.columns : g.cores;
  const std::int64_t receivers = (in0_shared ? g.rows : g.cores) - 1;
  const Bandwidth dram = costs.chip.dram_read_noc0;
  const bool multicasts = shared && g.rows > 1;
  if (!shared && problem.in1 == Storage::dram) {
    return costs.read_columns(g.in1_tiles, plan.config.out_block_w, g.in1_tile, readers);
  }
  if (plan.config.kind == MatmulKind::multicast_2d && problem.in1_shards &&
      problem.in1 == Storage::dram) {
    const SimTime own = g.in1_tiles * costs.banked_tile(g.in1_tile, readers);
    const SimTime reads = costs.chip.noc_read_latency + own;
    return multicasts ? costs.multicast_after(reads, own, g.in1_tiles, g.in1_tile, receivers)
                      : reads;
  }
  if (multicasts) {
    return costs.read_and_multicast(problem.in1, g.in1_tiles, g.in1_tile, readers, receivers, dram);
  }
  const bool stays = problem.in1_shards && problem.in1 == Storage::l1 && !shared;
  return stays ? SimTime() : costs.read(problem.in1, g.in1_tiles, g.in1_tile, readers, dram);
}

/// Works out which cores read what over which NoC. The same RISC reads a block and then multicasts
/// it, so the two times add. ttnn's multicast kernels read A on NoC 1 and B on NoC 0.
void load_times(const MatmulPlan& plan, const Geometry& g, const Costs& costs, MatmulCost& cost) {
  if (plan.config.kind == MatmulKind::reuse) {
    const bool in0_shards = plan.problem.in0_shards && plan.problem.in0 == Storage::l1;
    const bool in1_shards = plan.problem.in1_shards && plan.problem.in1 == Storage::l1;
    // The reader on NoC 0 fetches A, and the writer on NoC 1 fetches B as well.
    if (!in0_shards) {
      cost.in0_load =
          costs.read(plan.problem.in0, g.in0_tiles, g.in0_tile, g.cores, costs.chip.dram_read_noc0);
    }
    if (!in1_shards) {
      cost.in1_load =
          costs.read(plan.problem.in1, g.in1_tiles, g.in1_tile, g.cores, costs.chip.dram_read_noc1);
    }
    return;
  }
  if (plan.config.kind == MatmulKind::multi_core) {
    cost.in0_load = costs.read_both(plan.problem, g);
    return;
  }
  const Bandwidth in0_dram = costs.chip.dram_read_noc1;
  // A is read by the left column of cores, or by a single core, or (1D in1) by every core for
  // itself.
  const bool in0_shared = plan.config.kind != MatmulKind::multicast_1d_in1;
  const bool in1_shared = plan.config.kind != MatmulKind::multicast_1d_in0;
  const std::int64_t in0_readers = in0_shared ? g.rows : g.cores;
  const bool in0_shards = plan.problem.in0_shards && plan.problem.in0 == Storage::l1;
  const bool in0_multicast = in0_shared && g.columns > 1 && !plan.config.gather_in0;
  if (plan.config.gather_in0) {
    // Each core hands the block that it has on to the next one.
    cost.in0_load = transfer_time(g.in0_tiles * g.in0_tile, costs.chip.noc_link);
  } else if (in0_shards) {
    // A shard is there already; its core tells the others that a block of it comes.
    cost.in0_load = in0_shared ? costs.software.dram_matmul_block : SimTime();
  } else if (in0_multicast) {
    cost.in0_load = costs.read_and_multicast(plan.problem.in0, g.in0_tiles, g.in0_tile, in0_readers,
                                             (in1_shared ? g.columns : g.cores) - 1, in0_dram,
                                             in0_share_of_one_bank(plan, in0_readers, costs.chip));
  } else {
    cost.in0_load = costs.read(plan.problem.in0, g.in0_tiles, g.in0_tile, in0_readers, in0_dram,
                               in0_share_of_one_bank(plan, in0_readers, costs.chip));
  }
  cost.in1_load = in1_load_of(plan, g, costs);
  if (in0_multicast && in0_shards) cost.in0_load += costs.multicast(g.in0_tiles, g.in0_tile);
}

/// The time of one tile product is the passes of the matrix unit or the unpacking, whichever is
/// longer.
struct TileProduct {
  SimTime math, unpack;
};

TileProduct tile_product(const MatmulPlan& plan, const Geometry& g, const Costs& costs) {
  SimTime unpack = unpack_time(
      {plan.config.subblock_h, plan.config.subblock_w, g.in0_tile, g.in1_tile}, costs.chip);
  if (plan.problem.transposed_b) {
    // Every operand tile of a sub-block is unpacked once; those of B take longer because they are
    // transposed on the way.
    const Bytes a = plan.config.subblock_h * g.in0_tile;
    const Bytes b = costs.software.matmul_transposed_unpack * plan.config.subblock_w * g.in1_tile;
    const Bytes bytes = costs.chip.unpackers_share ? a + b : std::max(a, b);
    const std::int64_t products = plan.config.subblock_h * plan.config.subblock_w;
    unpack = std::max(unpack, SimTime::picoseconds(ceil_div(
                                  transfer_time(bytes, costs.chip.unpack).ps(), products)));
  }
  return {.math = costs.chip.tile_pass() * static_cast<std::int64_t>(plan.fidelity) +
                  costs.software.matmul_tile_product,
          .unpack = unpack};
}

SimTime compute_time(const MatmulPlan& plan, const Geometry& g, const Costs& costs,
                     const TileProduct& product) {
  // Partial sums stay in L1, where the packer adds to them when K takes more than two steps, or
  // they come back from there. The kernel without a multicast keeps them in the registers.
  const Bytes sum = tile_bytes(plan.fp32_accumulation ? DataType::float32 : plan.problem.types.out);
  const bool spills = !plan.packer_accumulates && plan.config.kind != MatmulKind::multi_core;
  const SimTime spilled = spills ? spill_time(plan.config.subblock_h * plan.config.subblock_w, sum,
                                              g.k_steps, costs.profiles)
                                 : SimTime();
  const std::int64_t pack_width = plan.fp32_accumulation ? 2 : 1;
  const bool adds = plan.packer_accumulates && g.k_steps > 2;
  const SimTime pack = adds ? costs.chip.pack_accumulate_tile * pack_width : SimTime();
  const SimTime per_output_tile = plan.config.in0_block_w * std::max(product.math, product.unpack) +
                                  costs.software.matmul_output_tile + spilled;
  // A transposed A is multicast as it lies, and each core transposes the tiles that it gets.
  const SimTime transposed =
      plan.problem.transposed_a ? g.in0_tiles * costs.software.tiles.transpose : SimTime();
  return transposed + g.out_tiles * std::max(per_output_tile, pack);
}

/// Returns twice the number of cores that write their output over NoC 0. In 2D, ttnn gives the
/// right half of the columns to NoC 1, except the top row, which reads B there. The 1D kernels
/// write everything over NoC 0.
std::int64_t twice_cores_on_noc0(const MatmulPlan& plan, const Geometry& g) {
  if (!plan.is_multicast()) return 0;
  const bool split = plan.config.kind == MatmulKind::multicast_2d && g.rows > 1 && g.columns > 1;
  return split ? g.cores + g.columns : 2 * g.cores;
}

/// Returns the time to add a row to an output block: each tile's partial sum and the row are
/// unpacked. The row itself is read while K's last step computes.
SimTime bias_time(const MatmulPlan& plan, const Geometry& g, const Costs& costs) {
  if (!plan.problem.bias) return {};
  return g.out_tiles *
         (transfer_time(g.out_tile + tile_bytes(plan.problem.types.bias), costs.chip.unpack) +
          costs.software.matmul_output_tile);
}

/// Returns the time of an activation. The vector unit applies it to each tile of the result before
/// that is packed; the packer clips negative numbers by itself.
SimTime activation_time(const MatmulPlan& plan, const Geometry& g, const Costs& costs) {
  if (!plan.problem.activation || *plan.problem.activation == Eltwise::relu) return {};
  return g.out_tiles * fused_math_time(*plan.problem.activation, costs.software.tiles);
}

void drain_times(const MatmulPlan& plan, const Geometry& g, const Costs& costs, MatmulCost& cost) {
  const Bytes twice_block = 2 * g.out_tiles * g.out_tile;
  const std::int64_t twice_noc0 = twice_cores_on_noc0(plan, g);
  const auto share = [&](std::int64_t twice_cores) {
    return Bytes(twice_block.value() / 4 * twice_cores);  // tiles are multiples of 64 bytes
  };
  // Both NoCs end at the same DRAM channels, so their shares add. Pages over the L1 of all cores
  // come by the NoCs of all.
  const SimTime shared =
      plan.problem.out == Storage::l1
          ? transfer_time(g.cores * g.out_tiles * g.out_tile, costs.chip.l1_spread_write)
          : transfer_time(share(twice_noc0), costs.chip.dram_write_noc0) +
                transfer_time(share(2 * g.cores - twice_noc0), costs.chip.dram_write_noc1);
  // A core that is alone waits at a barrier after every sub-block.
  const SimTime alone = g.out_tiles * page_time(g.out_tile, costs.profiles) +
                        g.subblocks * costs.chip.noc_write_latency;
  // A shard of the result is made where it stays.
  const bool stays = plan.problem.out_shards && plan.problem.out == Storage::l1;
  cost.output_drain = stays ? SimTime() : std::max(shared, alone);
  // Sub-blocks are written while the last pass over the block (the last step of K, or adding the
  // bias) still computes the following ones.
  cost.bias = bias_time(plan, g, costs);
  cost.activation = activation_time(plan, g, costs);
  const SimTime last_pass = (plan.problem.bias ? cost.bias : cost.compute) + cost.activation;
  const SimTime hidden = SimTime::picoseconds(last_pass.ps() * (g.subblocks - 1) / g.subblocks);
  const SimTime last = SimTime::picoseconds(cost.output_drain.ps() / g.subblocks);
  cost.output_exposed = cost.bias + cost.activation + std::max(last, cost.output_drain - hidden);
}

/// Computes the pipeline. Inputs are double buffered, so a step takes the slowest of its three
/// stages. The output is not, and the RISC that writes it also reads B, so the next output block
/// waits.
void pipeline(const Geometry& g, const Costs& costs, MatmulCost& cost) {
  const SimTime load = std::max(cost.in0_load, cost.in1_load);
  const auto steps = [&](SimTime slowest, std::int64_t count) { return count * slowest; };
  const SimTime first = load + cost.compute + steps(std::max(load, cost.compute), g.k_steps - 1);
  const SimTime restart = cost.output_exposed + cost.in1_load + cost.compute;
  SimTime again = std::max(g.k_steps * cost.in0_load,
                           restart + steps(std::max(cost.in1_load, cost.compute), g.k_steps - 1));
  if (g.k_steps > 1) {
    again = std::max(again,
                     restart + cost.compute + steps(std::max(load, cost.compute), g.k_steps - 2));
  }
  const SimTime start = costs.software.matmul_start;
  KernelCost& kernel = cost.kernel;
  kernel.compute_start = start + load;
  const SimTime products_end =
      start + first + (g.output_blocks - 1) * again + (cost.products - 1) * cost.restart;
  kernel.reads_end = products_end - cost.compute;
  kernel.math_end = products_end + cost.bias + cost.activation;
  kernel.total = products_end + cost.output_exposed;
  kernel.unshared = kernel.total;
  kernel.first_write =
      std::max(kernel.compute_start, start + first + cost.output_exposed - cost.output_drain);
}

/// Returns the time to restart: each core resets its loops and pointers, and the receivers of a
/// multicast have to be ready again.
SimTime restart_time(const MatmulPlan& plan, const Geometry& g, const SoftwareProfile& software) {
  const bool multicast = plan.is_multicast() && g.cores > 1;
  return software.matmul_next_product +
         (multicast ? software.matmul_next_multicast_product : SimTime());
}

/// Lets a long product fall below the clock that the chip is shipped with. The cores are busy while
/// there are products of tiles, and the unpackers for their part of each.
void slow_down(const MatmulPlan& plan, const TileProduct& product, const Costs& costs,
               KernelCost& kernel) {
  if (costs.chip.power.limit == 0) return;
  const SimTime busy = least_matmul_time(plan, costs.profiles);
  const SimTime longer = std::max(product.math, product.unpack);
  const auto part = [](SimTime of, SimTime whole) {
    return static_cast<TenThousandths>(static_cast<Wide>(of.ps()) * kWhole / whole.ps());
  };
  const PowerUse use{.cores = static_cast<int>(plan.active_cores()),
                     .busy = std::min(kWhole, part(busy, kernel.total)),
                     .unpacking = part(product.unpack, longer)};
  const SimTime total = kernel.total;
  for (SimTime* const time : {&kernel.reads_end, &kernel.math_end, &kernel.total, &kernel.unshared,
                              &kernel.first_write}) {
    *time = time_under_load(*time, total, use, costs.chip.power);
  }
}

/// Returns the bytes that the readers fetch and the writers write.
Bytes dram_traffic(const MatmulPlan& plan, const Geometry& g, const MatmulCost& cost) {
  const auto from = [](Storage storage, std::int64_t tiles, Bytes tile) {
    return storage == Storage::dram ? tiles * tile : Bytes();
  };
  if (!plan.is_multicast()) {
    return plan.shares() * plan.batch_in_share *
           (from(plan.problem.in0, g.in0_tiles * g.k_steps, g.in0_tile) +
            from(plan.problem.in1, g.in1_tiles * g.k_steps, g.in1_tile) +
            from(plan.problem.out, g.out_tiles, g.out_tile));
  }
  const bool in0_shared = plan.config.kind != MatmulKind::multicast_1d_in1;
  const bool in1_shared = plan.config.kind != MatmulKind::multicast_1d_in0;
  const std::int64_t in0 = (in0_shared ? g.rows : g.cores) * g.in0_tiles * cost.steps;
  const std::int64_t in1 = (in1_shared ? g.columns : g.cores) * g.in1_tiles * cost.steps;
  return from(plan.problem.in0, in0, g.in0_tile) + from(plan.problem.in1, in1, g.in1_tile) +
         from(plan.problem.out, g.cores * g.out_tiles * g.output_blocks, g.out_tile);
}

Bottleneck find_bottleneck(const MatmulCost& cost, const TileProduct& product) {
  const SimTime products = cost.compute * cost.steps;
  const SimTime activation = cost.activation * cost.output_blocks;
  const bool math = product.math >= product.unpack || activation >= products;
  const std::array<std::pair<SimTime, Bottleneck>, 5> candidates{{
      {products + activation, math ? Bottleneck::math : Bottleneck::unpack},
      {cost.in0_load * cost.steps, Bottleneck::in0_reads},
      {cost.in1_load * cost.steps, Bottleneck::in1_reads},
      {cost.output_exposed * cost.output_blocks - activation, Bottleneck::output_writes},
      {cost.kernel.compute_start, Bottleneck::start},
  }};
  return std::ranges::max(candidates, {}, &std::pair<SimTime, Bottleneck>::first).second;
}

int matmul_kernel_groups(const MatmulPlan& plan) {
  if (!plan.is_multicast()) return plan.shares() % plan.active_cores() == 0 ? 1 : 2;
  const bool grid_2d = plan.config.kind == MatmulKind::multicast_2d;
  const bool many_rows = plan.active_rows() > 1;
  const bool many_columns = plan.active_columns() > 1;
  if (!grid_2d) return plan.active_cores() > 1 ? 2 : 1;
  return 1 + (many_rows ? 1 : 0) + (many_columns ? 1 : 0) + (many_rows && many_columns ? 2 : 0);
}

}  // namespace

MatmulCost matmul_cost(const MatmulPlan& plan, const Profiles& profiles) {
  if (plan.config.kind == MatmulKind::dram_sharded) return dram_sharded_cost(plan, profiles);
  const Geometry g = geometry_of(plan);
  HOWARD_CHECK(g.k_steps > 0 && g.subblocks > 0 && g.output_blocks > 0, "a plan has blocks");
  const Costs costs{profiles};
  const TileProduct product = tile_product(plan, g, costs);
  MatmulCost cost{.steps = g.k_steps * g.output_blocks,
                  .output_blocks = g.output_blocks,
                  .products = plan.products()};
  cost.restart = restart_time(plan, g, profiles.software);
  load_times(plan, g, costs, cost);
  cost.compute = compute_time(plan, g, costs, product);
  drain_times(plan, g, costs, cost);
  pipeline(g, costs, cost);
  slow_down(plan, product, costs, cost.kernel);
  cost.kernel.bottleneck = find_bottleneck(cost, product);
  cost.kernel.dram = dram_traffic(plan, g, cost);
  cost.kernel.cores = static_cast<int>(g.cores);
  // 2D kinds use a sub-grid; 1D kinds fill the rows of the grid.
  const CoreGrid used{static_cast<int>(g.columns), static_cast<int>(g.rows)};
  cost.kernel.grid = plan.config.kind != MatmulKind::multicast_2d ? plan.config.grid
                     : plan.config.transpose_mcast ? CoreGrid{used.rows, used.columns}
                                                   : used;
  return cost;
}

SimTime least_matmul_time(const MatmulPlan& plan, const Profiles& profiles) {
  // The best sub-block is a row or a column of all tiles that the destination registers hold.
  MatmulPlan best = plan;
  best.config.in0_block_w = 1;
  best.problem.transposed_b = false;
  const std::int64_t most = plan.fp32_accumulation ? 4 : 8;
  const auto product_time = [&](std::int64_t h, std::int64_t w) {
    best.config.out_block_h = best.config.subblock_h = h;
    best.config.out_block_w = best.config.subblock_w = w;
    const TileProduct product = tile_product(best, geometry_of(best), {profiles});
    return std::max(product.math, product.unpack);
  };
  const SimTime per_output_tile = plan.k * std::min(product_time(1, most), product_time(most, 1)) +
                                  profiles.software.matmul_output_tile;
  return plan.products() * plan.config.per_core_m * plan.config.per_core_n * per_output_tile;
}

Footprint matmul_footprint(const MatmulPlan& plan, const SoftwareProfile& software) {
  constexpr int kBinaries = 5;         // BRISC, NCRISC and three compute RISCs
  constexpr int kCircularBuffers = 4;  // in0, in1, output, partial sums
  // There is a sender and a receiver, for in0 and in1.
  const int semaphores = plan.is_multicast() ? 4 : 0;
  return {.cores = static_cast<int>(plan.active_cores()),
          .kernel_groups = matmul_kernel_groups(plan),
          .binaries = kBinaries,
          .binary_bytes = software.ttnn_matmul_binary_bytes,
          .circular_buffers = kCircularBuffers,
          .semaphores = semaphores,
          .unique_arguments = software.ttnn_matmul_arguments};
}

PlannedProgram planned_product(const MatmulPlan& plan, const Profiles& profiles) {
  return {.footprint = matmul_footprint(plan, profiles.software),
          .kernel = matmul_cost(plan, profiles).kernel,
          .matmul = plan};
}

PlannedProgram plan(const MatmulAttributes& attributes, const Program& program, CoreGrid grid,
                    const Profiles& profiles) {
  return planned_product(plan_matmul(program, attributes, grid, profiles), profiles);
}

}  // namespace howard::chip
