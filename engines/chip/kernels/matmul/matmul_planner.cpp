// SPDX-License-Identifier: Apache-2.0
#include "engines/chip/kernels/matmul/matmul_planner.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/error.h"
#include "engines/chip/kernels/matmul/matmul_rules.h"
#include "engines/chip/kernels/matmul/matmul_selector.h"
#include "engines/chip/kernels/pipeline/pages.h"

namespace howard::chip {
namespace {

// The letters are those of ttnn: m, n and k count tiles; h and w are the height and width of a
// block in tiles.

/// The circular buffers of one core, which decide whether a block fits in L1.
struct CircularBuffers {
  MatmulBuffers buffers;
  Bytes limit;

  /// Compares strictly, with less than, as ttnn does.
  bool hold(std::int64_t h, std::int64_t w, std::int64_t k) const {
    return buffers.size(h, w, k) < limit;
  }
};

struct Block {
  std::int64_t h = 1, w = 1, k = 1;
};

std::vector<std::int64_t> divisors(std::int64_t n) {
  std::vector<std::int64_t> result;
  for (std::int64_t d = 1; d <= n; ++d) {
    if (n % d == 0) result.push_back(d);
  }
  return result;
}

/// Returns all (h, w) that divide a core's share. The largest area comes first; among equal areas
/// the squarest; among equally square ones the wide one: 12x12 is cut to 6x12, not to 12x6.
std::vector<std::pair<std::int64_t, std::int64_t>> block_candidates(std::int64_t m,
                                                                    std::int64_t n) {
  std::vector<std::pair<std::int64_t, std::int64_t>> result;
  for (const std::int64_t h : divisors(m)) {
    for (const std::int64_t w : divisors(n)) result.emplace_back(h, w);
  }
  std::ranges::stable_sort(result, [](const auto& a, const auto& b) {
    const auto area = [](const auto& block) { return block.first * block.second; };
    const auto skew = [](const auto& block) { return std::abs(block.first - block.second); };
    return std::pair(-area(a), skew(a)) < std::pair(-area(b), skew(b));
  });
  return result;
}

/// Returns the largest block of a core's share that fits. ttnn's rule keeps K's step as long as it
/// can and reduces the block's area instead. A prime share can only be cut to a strip one tile
/// wide; this alone causes the report's cliff at 4096 on 8x7 (19 tile rows per core).
Block fit_block(std::int64_t m, std::int64_t n, std::int64_t k, bool may_shorten_k,
                const CircularBuffers& buffers) {
  if (buffers.hold(m, n, k)) return {m, n, k};
  const auto candidates = block_candidates(m, n);
  for (std::int64_t step = k; step >= (may_shorten_k ? 1 : k); --step) {
    if (k % step != 0) continue;
    for (const auto& [h, w] : candidates) {
      if (buffers.hold(h, w, step)) return {h, w, step};
    }
  }
  return {};
}

std::int64_t most_tiles(bool fp32_accumulation) { return fp32_accumulation ? 4 : 8; }

/// Says whether both factors are fp32.
bool multiplies_fp32(const MatmulTypes& types) {
  return types.a == DataType::float32 && types.b == DataType::float32;
}

/// Returns whether sums are fp32. ttnn's default is fp32 if both factors or the result are.
bool sums_in_fp32(const MatmulProblem& problem) {
  return problem.compute.fp32_accumulation.value_or(multiplies_fp32(problem.types) ||
                                                    problem.types.out == DataType::float32);
}

/// Chooses the first pair that divides the block. With fp32 accumulation half as many tiles fit.
/// `pairs_are_w_h`: the core-grid path reads the same list as (width, height).
void choose_subblock(MatmulPlan& plan, bool pairs_are_w_h) {
  const std::int64_t most = most_tiles(plan.fp32_accumulation);
  if (pairs_are_w_h) {
    std::tie(plan.config.subblock_w, plan.config.subblock_h) =
        preferred_subblock(plan.config.out_block_w, plan.config.out_block_h, most);
  } else {
    std::tie(plan.config.subblock_h, plan.config.subblock_w) =
        preferred_subblock(plan.config.out_block_h, plan.config.out_block_w, most);
  }
}

void take_block(MatmulPlan& plan, bool may_shorten_k, const CircularBuffers& buffers) {
  const Block block = fit_block(plan.config.per_core_m, plan.config.per_core_n,
                                plan.config.in0_block_w, may_shorten_k, buffers);
  plan.config.out_block_h = block.h;
  plan.config.out_block_w = block.w;
  plan.config.in0_block_w = block.k;
}

/// If the longer side is more than this many times the shorter one, ttnn calls an output narrow.
constexpr std::int64_t kNarrowRatio = 8;

/// Divides whole tiles, as ttnn does: 71 to 8 is a ratio of 8.
bool is_narrow(std::int64_t rows, std::int64_t columns) {
  return std::max(rows, columns) / std::min(rows, columns) > kNarrowRatio;
}

/// Plans the kernel without a multicast, which makes one tile of the result after the other. A step
/// reads a tile of each operand.
void plan_multi_core(MatmulPlan& plan) {
  plan.config.kind = MatmulKind::multi_core;
  plan.config.per_core_m = plan.config.per_core_n = plan.config.in0_block_w = 1;
  plan.config.out_block_h = plan.config.out_block_w = plan.config.subblock_h =
      plan.config.subblock_w = 1;
}

/// Says whether the kernel of a call without a core grid has one dimension because of its output.
/// One matrix of a batch is judged, and no shards are. A side of one tile counts only in DRAM.
bool is_narrow_by_default(const MatmulPlan& plan, bool all_in_dram) {
  const MatmulProblem& problem = plan.problem;
  if (problem.in0_shards || problem.in1_shards || problem.out_shards) return false;
  return is_narrow(plan.m, plan.n) || (all_in_dram && (plan.m <= 1 || plan.n <= 1));
}

/// Follows create_simple_matmul_program_config, for a call without a core grid. `wide_only` says
/// that A is read once for a batch of B, which only the kernel that multicasts A in one dimension
/// can do. If an operand or the result is in L1, ttnn never cuts the large blocks of a 2D multicast
/// to the grid. A kernel of one dimension has the cores of the device.
void plan_simple(MatmulPlan& plan, bool wide_only, CoreGrid device,
                 const CircularBuffers& buffers) {
  const bool all_in_dram = plan.problem.in0 == Storage::dram && plan.problem.in1 == Storage::dram &&
                           plan.problem.out == Storage::dram;
  const bool narrow = is_narrow_by_default(plan, all_in_dram);
  const bool wide = wide_only || (narrow && plan.n > plan.m);
  const bool tall = narrow && !wide;

  // Compute how many cores blocks of at most 16x16 tiles would need, if they form a grid at all.
  std::int64_t side = 16;
  while (side > 2 && !buffers.hold(side, side, 2)) side /= 2;
  std::int64_t columns = ceil_div(plan.n, side);
  std::int64_t rows = ceil_div(plan.m, side);
  const bool one_block = columns == 1 && rows == 1;
  if (one_block || columns > plan.config.grid.columns || rows > plan.config.grid.rows)
    columns = rows = 0;

  if (rows == 1 || wide || columns == 1 || tall) {
    const bool split_columns = rows == 1 || wide;
    plan.config.grid = device;
    plan.config.kind = split_columns ? MatmulKind::multicast_1d_in0 : MatmulKind::multicast_1d_in1;
    plan.config.per_core_m = split_columns ? plan.m : ceil_div(plan.m, plan.config.grid.cores());
    plan.config.per_core_n = split_columns ? ceil_div(plan.n, plan.config.grid.cores()) : plan.n;
    plan.config.in0_block_w = plan.k % 2 == 0 ? 2 : 1;
    take_block(plan, /*may_shorten_k=*/false, buffers);
  } else if (!all_in_dram && rows == 0) {
    plan_multi_core(plan);
  } else if (!all_in_dram) {
    plan.config.kind = MatmulKind::multicast_2d;
    plan.config.per_core_m = plan.config.out_block_h = side;
    plan.config.per_core_n = plan.config.out_block_w = side;
    plan.config.in0_block_w = plan.k % 2 == 0 ? 2 : 1;
  } else {
    plan.config.kind = MatmulKind::multicast_2d;
    plan.config.per_core_m = ceil_div(plan.m, plan.config.grid.rows);
    plan.config.per_core_n = ceil_div(plan.n, plan.config.grid.columns);
    plan.config.in0_block_w =
        plan.k % plan.config.grid.columns == 0 ? plan.k / plan.config.grid.columns : 1;
    take_block(plan, /*may_shorten_k=*/true, buffers);
  }
  choose_subblock(plan, /*pairs_are_w_h=*/false);
}

/// Follows create_matmul_program_config where A or the result is sharded: A's shards say which
/// kernel it is and what a core has. Returns false if they are interleaved.
bool plan_shards(MatmulPlan& plan, const CircularBuffers& buffers) {
  const bool in0 = plan.problem.in0_shards && plan.problem.in0 == Storage::l1;
  const bool out = plan.problem.out_shards && plan.problem.out == Storage::l1;
  if (!in0 && !out) return false;
  const Sharding& shards = in0 ? *plan.problem.in0_shards : *plan.problem.out_shards;
  const bool batch_of_b = plan.batch > 1 && plan.problem.batched_b;
  if (batch_of_b && (!plan.problem.batched_a || shards.layout != ShardLayout::height)) return false;
  const std::int64_t rows = std::max<std::int64_t>(1, shards.rows / kTileSide);
  if (batch_of_b) {
    plan.config.kind = MatmulKind::reuse;
    plan.batch_in_share = std::max<std::int64_t>(1, rows / plan.m);
    plan.config.per_core_m = plan.config.out_block_h = std::min(rows, plan.m);
    plan.config.per_core_n = plan.config.out_block_w = plan.n;
    plan.config.in0_block_w = plan.k;
    choose_subblock(plan, /*pairs_are_w_h=*/true);
    return true;
  }
  plan.m *= plan.batch;
  plan.batch = 1;
  plan.config.per_core_m = std::min(rows, plan.m);
  const std::int64_t columns = in0 ? std::max<std::int64_t>(1, shards.columns / kTileSide) : 1;
  if (shards.layout == ShardLayout::width) {
    plan.config.kind = MatmulKind::multicast_1d_in0;
    plan.config.per_core_n = ceil_div(plan.n, plan.config.grid.cores());
    plan.config.in0_block_w = columns;
  } else if (shards.layout == ShardLayout::height) {
    plan.config.kind = MatmulKind::multicast_1d_in1;
    plan.config.per_core_n = plan.n;
    plan.config.in0_block_w = plan.k;
  } else {
    plan.config.kind = MatmulKind::multicast_2d;
    plan.config.transpose_mcast = shards.column_major;
    const int across = shards.column_major ? shards.grid.rows : shards.grid.columns;
    plan.config.per_core_n = ceil_div(plan.n, across);
    plan.config.in0_block_w = columns;
  }
  while (plan.k % plan.config.in0_block_w != 0) --plan.config.in0_block_w;
  take_block(plan, /*may_shorten_k=*/true, buffers);
  if (out) {
    // A sub-block of a shard of the result is one of its rows of tiles, or a tile.
    const bool row = plan.config.out_block_w == plan.config.per_core_n &&
                     plan.config.per_core_n <= most_tiles(plan.fp32_accumulation);
    plan.config.subblock_h = 1;
    plan.config.subblock_w = row ? plan.config.per_core_n : 1;
    return true;
  }
  choose_subblock(plan, /*pairs_are_w_h=*/false);
  return true;
}

/// Plans the kernel for batches of both operands: a core computes whole products, with one tile of
/// K in a step. Returns false if the block of one product does not fit.
bool plan_reuse(MatmulPlan& plan, const CircularBuffers& buffers) {
  if (!buffers.hold(plan.m, plan.n, 1)) return false;
  plan.config.kind = MatmulKind::reuse;
  plan.config.per_core_m = plan.config.out_block_h = plan.m;
  plan.config.per_core_n = plan.config.out_block_w = plan.n;
  plan.config.in0_block_w = 1;
  choose_subblock(plan, /*pairs_are_w_h=*/true);
  return true;
}

/// Follows create_matmul_program_config, for a call with a core grid. The batch is folded into m
/// before the ratio of the sides is judged; a side of one tile is that of one matrix.
void plan_for_core_grid(MatmulPlan& plan, const CircularBuffers& buffers) {
  const bool one_tile = plan.m <= 1 || plan.k <= 1 || plan.n <= 1;
  plan.m *= plan.batch;
  plan.batch = 1;
  if (one_tile || is_narrow(plan.m, plan.n)) {
    const bool tall = plan.m > plan.n;
    plan.config.kind = tall ? MatmulKind::multicast_1d_in1 : MatmulKind::multicast_1d_in0;
    plan.config.per_core_m = tall ? ceil_div(plan.m, plan.config.grid.cores()) : plan.m;
    plan.config.per_core_n = tall ? plan.n : ceil_div(plan.n, plan.config.grid.cores());
    plan.config.in0_block_w = ceil_div(plan.k, plan.config.grid.cores());
    while (plan.k % plan.config.in0_block_w != 0) --plan.config.in0_block_w;
    take_block(plan, /*may_shorten_k=*/false, buffers);
    choose_subblock(plan, /*pairs_are_w_h=*/true);
    return;
  }
  plan.config.kind = MatmulKind::multicast_2d;
  plan.config.per_core_m = ceil_div(plan.m, plan.config.grid.rows);
  plan.config.per_core_n = ceil_div(plan.n, plan.config.grid.columns);
  plan.config.in0_block_w = 4;
  while (plan.k % plan.config.in0_block_w != 0) --plan.config.in0_block_w;
  take_block(plan, /*may_shorten_k=*/false, buffers);
  choose_subblock(plan, /*pairs_are_w_h=*/true);
  if (plan.config.subblock_w != plan.config.per_core_n) plan.config.subblock_h = 1;
}

/// Chooses ttnn's default compute settings, by the types of both factors:
///    two block formats            LoFi
///    fp32 by fp32                 HiFi4, with fp32 accumulation
///    others                       HiFi2, or LoFi with a core grid or a configuration
/// A result in fp32 has fp32 accumulation. The packer adds up partial sums unless both factors or
/// the result are fp32.
void choose_arithmetic(MatmulPlan& plan) {
  const MatmulProblem& problem = plan.problem;
  const bool is_told = problem.core_grid || problem.config;
  MathFidelity fidelity = is_told ? MathFidelity::lofi : MathFidelity::hifi2;
  if (is_block_format(problem.types.a) && is_block_format(problem.types.b)) {
    fidelity = MathFidelity::lofi;
  } else if (multiplies_fp32(problem.types)) {
    fidelity = MathFidelity::hifi4;
  }
  plan.fidelity = problem.compute.fidelity.value_or(fidelity);
  plan.fp32_accumulation = sums_in_fp32(problem);
  const bool fp32 = multiplies_fp32(problem.types) || problem.types.out == DataType::float32;
  plan.packer_accumulates = problem.compute.packer_accumulates.value_or(!fp32);
}

/// Plans the kernel that reads B's shards: each of the banks that hold them has a core beside it,
/// which makes the columns of its shard.
void plan_dram_sharded(MatmulPlan& plan, const MatmulConfig& config) {
  const Sharding& banks = *plan.problem.in1_shards;
  plan.config.kind = MatmulKind::dram_sharded;
  plan.config.grid = {static_cast<int>(ceil_div(plan.n * kTileSide, banks.columns)), 1};
  plan.config.per_core_m = plan.config.out_block_h = plan.config.subblock_h = 1;
  plan.config.per_core_n = config.per_core_n;
  plan.config.in0_block_w = config.in0_block_w;
  plan.config.out_block_w = banks.columns / kTileSide;
  // ttnn pads the columns of a core until the fewest sub-blocks hold them.
  const std::int64_t parts = ceil_div(plan.config.out_block_w, most_tiles(plan.fp32_accumulation));
  plan.config.subblock_w = ceil_div(plan.config.out_block_w, parts);
}

/// Takes the caller's configuration, which ttnn accepts.
void take_config(MatmulPlan& plan, const MatmulConfig& config) {
  if (config.kind == MatmulKind::multi_core) return plan_multi_core(plan);
  if (config.kind == MatmulKind::dram_sharded) return plan_dram_sharded(plan, config);
  plan.config = config;
  plan.config.only.reset();
  if (config.fuse_batch && plan.is_multicast()) {
    plan.m *= plan.batch;
    plan.batch = 1;
  }
  if (config.kind != MatmulKind::reuse) return;
  plan.batch_in_share = ceil_div(config.per_core_m, plan.m);
  plan.config.per_core_m = plan.config.out_block_h = std::min(config.per_core_m, plan.m);
  plan.config.out_block_w = config.per_core_n;
}

/// Returns what the program asks for, with ttnn's choice of a configuration.
MatmulProblem unconfigured_problem(const Program& program, const MatmulAttributes& attributes) {
  const Shape& a = program.inputs[0].spec.shape;
  const Shape& out = program.outputs[0].spec.shape;
  return {.batch = out.batch(),
          .batched_a = a.batch() > 1,
          .batched_b = program.inputs[1].spec.shape.batch() > 1,
          .m = out.tile_rows(),
          .k = attributes.transpose_a ? a.tile_rows() : a.tile_columns(),
          .n = out.tile_columns(),
          .types = types_of(program),
          .core_grid = attributes.core_grid,
          .compute = attributes.compute,
          .transposed_a = attributes.transpose_a,
          .transposed_b = attributes.transpose_b,
          .bias = program.inputs.size() > 2,
          .activation =
              attributes.activation ? std::optional(attributes.activation->function) : std::nullopt,
          .in0 = program.inputs[0].spec.storage,
          .in1 = program.inputs[1].spec.storage,
          .out = program.outputs[0].spec.storage,
          .in0_shards = program.inputs[0].spec.sharding,
          .in1_shards = program.inputs[1].spec.sharding,
          .out_shards = program.outputs[0].spec.sharding};
}

}  // namespace

MatmulTypes types_of(const Program& product) {
  const DataType out = product.outputs[0].spec.dtype;
  return {.a = product.inputs[0].spec.dtype,
          .b = product.inputs[1].spec.dtype,
          .out = out,
          .bias = product.inputs.size() > 2 ? product.inputs[2].spec.dtype : out};
}

MatmulProblem problem_of(const Program& program, const MatmulAttributes& attributes) {
  MatmulProblem problem = unconfigured_problem(program, attributes);
  const auto& config = attributes.config;
  const MatmulSize size{problem.m, problem.k, problem.n};
  if (config && config->only.value_or(size) == size) problem.config = config;
  return problem;
}

std::int64_t destination_tiles(const MatmulProblem& problem) {
  return most_tiles(sums_in_fp32(problem));
}

MatmulPlan plan_matmul(const MatmulProblem& problem, CoreGrid device_grid,
                       Bytes circular_buffer_bytes) {
  HOWARD_CHECK(problem.batch > 0 && problem.m > 0 && problem.k > 0 && problem.n > 0,
               "a matrix product has tiles");
  MatmulPlan plan{.problem = problem,
                  .config = {.grid = device_grid},
                  .batch = problem.batch,
                  .m = problem.m,
                  .k = problem.k,
                  .n = problem.n};
  if (problem.config) {
    if (auto reason = matmul_objection(problem, *problem.config, device_grid)) {
      throw Error({.attempted = fmt::format("multiply with {}", text_of(*problem.config)),
                   .value = std::move(*reason),
                   .accepted = "what ttnn accepts",
                   .hint = "run_experiment tune, which lists what it accepts"});
    }
    choose_arithmetic(plan);
    take_config(plan, *problem.config);
    return plan;
  }
  if (problem.core_grid && problem.core_grid->columns <= device_grid.columns &&
      problem.core_grid->rows <= device_grid.rows) {
    plan.config.grid = *problem.core_grid;
  }
  choose_arithmetic(plan);
  const CircularBuffers buffers{buffers_of(plan), circular_buffer_bytes};
  const bool batch_of_b = problem.batch > 1 && problem.batched_b;
  if (plan_shards(plan, buffers)) return plan;
  if (problem.core_grid && !batch_of_b) {
    plan_for_core_grid(plan, buffers);
    return plan;
  }
  if (problem.core_grid && problem.activation) {
    throw Error({.attempted = fmt::format("multiply on a core grid and compute {}",
                                          name_of(*problem.activation)),
                 .value = "B has a batch, and ttnn's kernel for that takes no activation",
                 .accepted = "an activation where B is one matrix, or where no core grid is given",
                 .hint = "the function as a call of its own"});
  }
  if (problem.core_grid && problem.batched_a && plan_reuse(plan, buffers)) return plan;
  plan_simple(plan, batch_of_b && !problem.batched_a, device_grid, buffers);
  return plan;
}

MatmulPlan plan_matmul(const Program& program, const MatmulAttributes& attributes, CoreGrid grid,
                       const Profiles& profiles) {
  const Bytes l1 = profiles.chip.l1_circular_buffers;
  MatmulProblem problem = problem_of(program, attributes);
  if (profiles.software.matmul_legacy_selection || problem.config || problem.core_grid) {
    return plan_matmul(problem, grid, l1);
  }
  MatmulPlan plan{.problem = problem};
  choose_arithmetic(plan);
  const auto config =
      select_config(problem, grid, l1, {plan.fidelity, plan.fp32_accumulation}, profiles.chip);
  if (!config || matmul_objection(problem, *config, grid)) return plan_matmul(problem, grid, l1);
  MatmulProblem told = problem;
  told.config = config;
  told.compute.fidelity = plan.fidelity;
  plan = plan_matmul(told, grid, l1);
  plan.problem = std::move(problem);
  return plan;
}

}  // namespace howard::chip
