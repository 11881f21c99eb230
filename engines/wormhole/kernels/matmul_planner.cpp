// SPDX-License-Identifier: Apache-2.0
#include "engines/wormhole/kernels/matmul_planner.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "base/check.h"

namespace howard::wormhole {
namespace {

// Letters as in ttnn: m, n, k count tiles; h and w are the height and width of a block in tiles.

/// What decides whether a block fits in L1: the circular buffers of one core.
struct CircularBuffers {
  Bytes limit;
  Bytes input_tile;
  Bytes output_tile;
  Bytes partial_tile;
  Bytes bias_tile;  ///< None without a bias.

  /// Inputs are double buffered; output and partial sums are not.
  Bytes size(std::int64_t h, std::int64_t w, std::int64_t k) const {
    const Bytes inputs = 2 * k * (h + w) * input_tile + w * bias_tile;
    return inputs + h * w * (output_tile + partial_tile);
  }
  /// ttnn compares strictly.
  bool hold(std::int64_t h, std::int64_t w, std::int64_t k) const { return size(h, w, k) < limit; }
};

CircularBuffers circular_buffers(const MatmulPlan& plan, Bytes limit) {
  const Bytes tile = tile_bytes(plan.dtype);
  // Partial sums are kept in the destination's format: fp32, or bf16 and never a block format.
  const Bytes partial = plan.fp32_accumulation ? tile_bytes(DataType::float32)
                                               : std::max(tile_bytes(DataType::bfloat16), tile);
  return {.limit = limit,
          .input_tile = tile,
          .output_tile = tile,
          .partial_tile = partial,
          .bias_tile = plan.bias ? tile : Bytes()};
}

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

/// All (h, w) that divide a core's share, largest area first, of equal areas the squarest, of
/// equally square ones the wide one: 12x12 is cut to 6x12, not to 12x6.
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

/// The largest block of a core's share that fits. The rule keeps K's step as long as it can and
/// gives up block area instead: a prime share can only be cut to a strip one tile wide, which is
/// the whole of the report's cliff at 4096 on 8x7 (19 tile rows a core).
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

using SubBlock = std::pair<std::int64_t, std::int64_t>;

/// ttnn's order of preference: the destination registers hold 8 tiles in bf16.
constexpr std::array<SubBlock, 20> kSubBlocks{
    {{4, 2}, {2, 4}, {8, 1}, {1, 8}, {7, 1}, {1, 7}, {3, 2}, {2, 3}, {6, 1}, {1, 6},
     {5, 1}, {1, 5}, {2, 2}, {4, 1}, {1, 4}, {3, 1}, {1, 3}, {2, 1}, {1, 2}, {1, 1}}};

/// The first pair that divides the block; half as many tiles fit with fp32 accumulation.
/// `pairs_are_w_h`: the core-grid path reads the same list as (width, height).
void choose_subblock(MatmulPlan& plan, bool pairs_are_w_h) {
  const std::int64_t most_tiles = plan.fp32_accumulation ? 4 : 8;
  for (const auto& [first, second] : kSubBlocks) {
    const std::int64_t h = pairs_are_w_h ? second : first;
    const std::int64_t w = pairs_are_w_h ? first : second;
    if (h * w > most_tiles || plan.out_block_h % h != 0 || plan.out_block_w % w != 0) continue;
    plan.subblock_h = h;
    plan.subblock_w = w;
    return;
  }
}

void take_block(MatmulPlan& plan, bool may_shorten_k, const CircularBuffers& buffers) {
  const Block block =
      fit_block(plan.per_core_m, plan.per_core_n, plan.in0_block_w, may_shorten_k, buffers);
  plan.out_block_h = block.h;
  plan.out_block_w = block.w;
  plan.in0_block_w = block.k;
}

/// Ratio of the longer to the shorter side above which ttnn calls an output narrow.
constexpr std::int64_t kNarrowRatio = 8;

bool is_narrow(std::int64_t m, std::int64_t n) {
  return std::max(m, n) / std::min(m, n) > kNarrowRatio || m <= 1 || n <= 1;
}

/// create_simple_matmul_program_config: no core grid given. `wide_only`: A is read once for a batch
/// of B, which only the kernel that multicasts A in one dimension can do.
void plan_simple(MatmulPlan& plan, bool wide_only, const CircularBuffers& buffers) {
  const bool narrow = is_narrow(plan.m, plan.n);
  const bool wide = wide_only || (narrow && plan.n > plan.m);
  const bool tall = narrow && !wide;

  // How many cores blocks of at most 16x16 tiles would need, when that is a grid at all.
  std::int64_t side = 16;
  while (side > 2 && !buffers.hold(side, side, 2)) side /= 2;
  std::int64_t columns = ceil_div(plan.n, side);
  std::int64_t rows = ceil_div(plan.m, side);
  const bool one_block = columns == 1 && rows == 1;
  if (one_block || columns > plan.grid.columns || rows > plan.grid.rows) columns = rows = 0;

  if (rows == 1 || wide || columns == 1 || tall) {
    const bool split_columns = rows == 1 || wide;
    plan.kind = split_columns ? MatmulKind::multicast_1d_in0 : MatmulKind::multicast_1d_in1;
    plan.per_core_m = split_columns ? plan.m : ceil_div(plan.m, plan.grid.cores());
    plan.per_core_n = split_columns ? ceil_div(plan.n, plan.grid.cores()) : plan.n;
    plan.in0_block_w = plan.k % 2 == 0 ? 2 : 1;
    take_block(plan, /*may_shorten_k=*/false, buffers);
  } else {
    plan.kind = MatmulKind::multicast_2d;
    plan.per_core_m = ceil_div(plan.m, plan.grid.rows);
    plan.per_core_n = ceil_div(plan.n, plan.grid.columns);
    plan.in0_block_w = plan.k % plan.grid.columns == 0 ? plan.k / plan.grid.columns : 1;
    take_block(plan, /*may_shorten_k=*/true, buffers);
  }
  choose_subblock(plan, /*pairs_are_w_h=*/false);
}

/// The kernel for batches of both operands: a core has whole products, a tile of K a step. Only
/// where one product's block fits.
bool plan_reuse(MatmulPlan& plan, const CircularBuffers& buffers) {
  if (!buffers.hold(plan.m, plan.n, 1)) return false;
  plan.kind = MatmulKind::reuse;
  plan.per_core_m = plan.out_block_h = plan.m;
  plan.per_core_n = plan.out_block_w = plan.n;
  plan.in0_block_w = 1;
  choose_subblock(plan, /*pairs_are_w_h=*/true);
  return true;
}

/// create_matmul_program_config: the caller gave a core grid. The batch is folded into m.
void plan_for_core_grid(MatmulPlan& plan, const CircularBuffers& buffers) {
  const bool narrow = is_narrow(plan.m, plan.n) || plan.k <= 1;
  plan.m *= plan.batch;
  plan.batch = 1;
  if (narrow) {
    const bool tall = plan.m > plan.n;
    plan.kind = tall ? MatmulKind::multicast_1d_in1 : MatmulKind::multicast_1d_in0;
    plan.per_core_m = tall ? ceil_div(plan.m, plan.grid.cores()) : plan.m;
    plan.per_core_n = tall ? plan.n : ceil_div(plan.n, plan.grid.cores());
    plan.in0_block_w = ceil_div(plan.k, plan.grid.cores());
    while (plan.k % plan.in0_block_w != 0) --plan.in0_block_w;
    take_block(plan, /*may_shorten_k=*/false, buffers);
    choose_subblock(plan, /*pairs_are_w_h=*/true);
    return;
  }
  plan.kind = MatmulKind::multicast_2d;
  plan.per_core_m = ceil_div(plan.m, plan.grid.rows);
  plan.per_core_n = ceil_div(plan.n, plan.grid.columns);
  plan.in0_block_w = 4;
  while (plan.k % plan.in0_block_w != 0) --plan.in0_block_w;
  take_block(plan, /*may_shorten_k=*/false, buffers);
  choose_subblock(plan, /*pairs_are_w_h=*/true);
  if (plan.subblock_w != plan.per_core_n) plan.subblock_h = 1;
}

/// ttnn's default compute settings: block formats LoFi, fp32 HiFi4 with fp32 accumulation, bf16
/// HiFi2, except that bf16 with a core grid and nothing else said runs in LoFi.
void choose_arithmetic(MatmulPlan& plan, const MatmulProblem& problem) {
  MathFidelity fidelity = problem.core_grid ? MathFidelity::lofi : MathFidelity::hifi2;
  if (plan.dtype == DataType::bfloat8_b || plan.dtype == DataType::bfloat4_b) {
    fidelity = MathFidelity::lofi;
  } else if (plan.dtype == DataType::float32) {
    fidelity = MathFidelity::hifi4;
  }
  plan.fidelity = problem.compute.fidelity.value_or(fidelity);
  plan.fp32_accumulation =
      problem.compute.fp32_accumulation.value_or(plan.dtype == DataType::float32);
}

}  // namespace

MatmulProblem problem_of(const Program& program, const MatmulAttributes& attributes) {
  const Shape& a = program.inputs[0].spec.shape;
  const Shape& out = program.outputs[0].spec.shape;
  return {.batch = out.batch(),
          .batched_a = a.batch() > 1,
          .batched_b = program.inputs[1].spec.shape.batch() > 1,
          .m = out.tile_rows(),
          .k = attributes.transpose_a ? a.tile_rows() : a.tile_columns(),
          .n = out.tile_columns(),
          .dtype = program.inputs[0].spec.dtype,
          .core_grid = attributes.core_grid,
          .compute = attributes.compute,
          .transposed_a = attributes.transpose_a,
          .transposed_b = attributes.transpose_b,
          .bias = program.inputs.size() > 2};
}

std::string_view name_of(MatmulKind kind) {
  constexpr std::array<std::string_view, 4> kNames{"2D", "1D in0", "1D in1", "reuse"};
  return kNames[static_cast<std::size_t>(kind)];
}

std::string MatmulPlan::text() const {
  return fmt::format("{} {} cores, per core {}x{}, block {}x{}, k {}, sub-block {}x{}, {}",
                     name_of(kind), active_cores(), per_core_m, per_core_n, out_block_h,
                     out_block_w, in0_block_w, subblock_h, subblock_w, name_of(fidelity));
}

Bytes circular_buffer_bytes(const MatmulPlan& plan) {
  return circular_buffers(plan, Bytes()).size(plan.out_block_h, plan.out_block_w, plan.in0_block_w);
}

MatmulPlan plan_matmul(const MatmulProblem& problem, CoreGrid device_grid,
                       Bytes circular_buffer_bytes) {
  HOWARD_CHECK(problem.batch > 0 && problem.m > 0 && problem.k > 0 && problem.n > 0,
               "a matrix product has tiles");
  MatmulPlan plan{.grid = device_grid,
                  .batch = problem.batch,
                  .m = problem.m,
                  .k = problem.k,
                  .n = problem.n,
                  .dtype = problem.dtype,
                  .transposed_a = problem.transposed_a,
                  .transposed_b = problem.transposed_b,
                  .bias = problem.bias};
  if (problem.core_grid && problem.core_grid->columns <= device_grid.columns &&
      problem.core_grid->rows <= device_grid.rows) {
    plan.grid = *problem.core_grid;
  }
  choose_arithmetic(plan, problem);
  const CircularBuffers buffers = circular_buffers(plan, circular_buffer_bytes);
  const bool batch_of_b = problem.batch > 1 && problem.batched_b;
  if (problem.core_grid && !batch_of_b) {
    plan_for_core_grid(plan, buffers);
    return plan;
  }
  if (problem.core_grid && problem.batched_a && plan_reuse(plan, buffers)) return plan;
  plan.grid = device_grid;
  plan_simple(plan, batch_of_b && !problem.batched_a, buffers);
  return plan;
}

}  // namespace howard::wormhole
