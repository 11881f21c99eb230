// SPDX-License-Identifier: Apache-2.0
#include "engines/chip/kernels/matmul/matmul_selector.h"

#include <algorithm>
#include <array>
#include <optional>
#include <tuple>
#include <utility>

namespace howard::chip {
namespace {

// The letters are those of ttnn: m, n and k count tiles; h and w are the sides of a block in tiles.

constexpr std::int64_t kStep = 8;         ///< Tiles of K in a step.
constexpr std::int64_t kLongStep = 16;    ///< The same where blocks are large.
constexpr std::int64_t kSubblock = 8;     ///< The widest sub-block.
constexpr std::int64_t kLargeBlock = 96;  ///< Tiles of a large block.
constexpr Bytes kReserve{16 * 1024};      ///< L1 that the selector leaves.

std::int64_t largest_divisor(std::int64_t of, std::int64_t most) {
  std::int64_t divisor = std::clamp<std::int64_t>(most, 1, of);
  while (of % divisor != 0) --divisor;
  return divisor;
}

class Selector {
 public:
  Selector(const MatmulProblem& problem, CoreGrid grid, Bytes l1,
           const SelectedArithmetic& arithmetic, const ChipProfile& chip)
      : problem_(problem),
        grid_(grid),
        budget_(l1 - kReserve),
        arithmetic_(arithmetic),
        alignment_(chip.architecture == "blackhole" ? 64 : 32),
        loops_(problem.batched_b ? problem.batch : 1),
        rows_(problem.batched_b ? problem.m : problem.batch * problem.m) {}

  std::optional<MatmulConfig> select() const {
    if (problem_.in0_shards && problem_.in0 == Storage::l1) return of_shards(*problem_.in0_shards);
    if (problem_.out_shards && problem_.out == Storage::l1) return of_result(*problem_.out_shards);
    std::optional<MatmulConfig> best;
    std::optional<Rank> rank;
    for (const auto& candidate : {multicast_2d(), shared_a(), shared_b(), reuse()}) {
      if (!candidate) continue;
      const Rank own = rank_of(*candidate);
      // Of equal rooflines, one that keeps clearly more cores busy is better, else the earlier.
      if (!rank || own.cycles < rank->cycles ||
          (own.cycles == rank->cycles && 2 * own.cores > 3 * rank->cores)) {
        best = candidate;
        rank = own;
      }
    }
    return best;
  }

 private:
  using Candidate = std::optional<MatmulConfig>;
  struct Rank {
    std::int64_t cycles = 0, cores = 0;
  };

  Bytes tile(DataType type) const {
    return ceil_div(tile_bytes(type).value(), alignment_.value()) * alignment_;
  }

  /// Returns whether a core's buffers fit: inputs are doubled if there are several steps.
  bool fits(std::int64_t h, std::int64_t w, std::int64_t k) const {
    const std::int64_t copies = problem_.k / k > 1 || loops_ > 1 ? 2 : 1;
    const std::int64_t a_copies = problem_.transposed_a ? copies + 1 : copies;
    const DataType sums = arithmetic_.fp32_accumulation ? DataType::float32 : DataType::bfloat16;
    Bytes need =
        a_copies * h * k * tile(problem_.types.a) + copies * k * w * tile(problem_.types.b);
    need += h * w * tile(problem_.types.out);
    if (sums != problem_.types.out) need += h * w * tile(sums);
    if (problem_.bias) need += w * tile(problem_.types.bias);
    return need <= budget_;
  }

  /// Sets the sub-block: the largest that the registers hold, wide rather than high.
  void set_subblock(MatmulConfig& config) const {
    const std::int64_t most = arithmetic_.fp32_accumulation ? 4 : 8;
    const bool rows_only =
        problem_.types.a == DataType::bfloat16 && problem_.types.b == DataType::bfloat8_b;
    const auto order = [&](std::int64_t h, std::int64_t w) {
      const bool liked = rows_only ? h == 1 : std::min(h, w) > 1;
      return std::tuple(h * w, liked, w);
    };
    config.subblock_h = config.subblock_w = 1;
    for (std::int64_t h = 1; h <= most; ++h) {
      for (std::int64_t w = 1; h * w <= most; ++w) {
        if (config.out_block_h % h != 0 || config.out_block_w % w != 0) continue;
        if (order(h, w) > order(config.subblock_h, config.subblock_w)) {
          config.subblock_h = h;
          config.subblock_w = w;
        }
      }
    }
  }

  Candidate finished(MatmulConfig config) const {
    config.fuse_batch = loops_ == 1;
    if (config.kind == MatmulKind::reuse) config.fuse_batch = true;
    set_subblock(config);
    return config;
  }

  std::int64_t longest_step(std::int64_t area) const {
    const std::int64_t most = area >= kLargeBlock ? kLongStep : kStep;
    return std::max<std::int64_t>(1, std::min(most, problem_.k / 2));
  }

  /// Sets the block of the share: the largest volume that fits, the larger area of equal ones.
  bool set_block(MatmulConfig& config) const {
    std::tuple<std::int64_t, std::int64_t> best{0, 0};
    for (std::int64_t h = 1; h <= config.per_core_m; ++h) {
      if (config.per_core_m % h != 0) continue;
      for (std::int64_t w = 1; w <= config.per_core_n; ++w) {
        if (config.per_core_n % w != 0) continue;
        std::int64_t k = largest_divisor(problem_.k, longest_step(h * w));
        while (k > 1 && !fits(h, w, k)) k = largest_divisor(problem_.k, k - 1);
        const std::tuple own{h * w * k, h * w};
        if (!fits(h, w, k) || own <= best) continue;
        best = own;
        config.out_block_h = h;
        config.out_block_w = w;
        config.in0_block_w = k;
      }
    }
    return std::get<0>(best) > 0;
  }

  Candidate multicast_2d() const {
    MatmulConfig config{.kind = MatmulKind::multicast_2d, .grid = grid_};
    config.per_core_m = ceil_div(rows_, grid_.rows);
    config.per_core_n = ceil_div(problem_.n, grid_.columns);
    return set_block(config) ? finished(config) : std::nullopt;
  }

  /// Sets the block of a share that is whole along the side `whole`; the other side is cut only if
  /// it must be, into blocks as wide as a sub-block. Returns whether it fits.
  bool set_strip(MatmulConfig& config, bool cut_rows) const {
    std::int64_t& cut = cut_rows ? config.out_block_h : config.out_block_w;
    config.out_block_h = config.per_core_m;
    config.out_block_w = config.per_core_n;
    const std::int64_t all = cut;
    for (std::int64_t k = largest_divisor(problem_.k, kLongStep); k >= 1; --k) {
      if (problem_.k % k != 0) continue;
      for (const std::int64_t side : {all, largest_divisor(all, kSubblock)}) {
        cut = side;
        if (k > longest_step(config.out_block_h * config.out_block_w)) continue;
        if (!fits(config.out_block_h, config.out_block_w, k)) continue;
        config.in0_block_w = k;
        return true;
      }
    }
    return false;
  }

  Candidate shared_a() const {
    if (loops_ > 1) return std::nullopt;
    MatmulConfig config{.kind = MatmulKind::multicast_1d_in0, .grid = grid_};
    config.per_core_m = rows_;
    config.per_core_n = ceil_div(problem_.n, grid_.cores());
    return set_strip(config, false) ? finished(config) : std::nullopt;
  }

  Candidate shared_b() const {
    if (loops_ > 1) return std::nullopt;
    MatmulConfig config{.kind = MatmulKind::multicast_1d_in1, .grid = grid_};
    config.per_core_m = ceil_div(rows_, grid_.cores());
    config.per_core_n = problem_.n;
    return set_strip(config, true) ? finished(config) : std::nullopt;
  }

  Candidate reuse() const {
    if (loops_ == 1 || !problem_.batched_a) return std::nullopt;
    MatmulConfig config{.kind = MatmulKind::reuse, .grid = grid_};
    config.per_core_n = config.out_block_w = problem_.n;
    // Rows of a product are shared out only while there are cores without one.
    std::int64_t parts = 1;
    while (parts * 2 * problem_.batch <= grid_.cores() && problem_.m % (parts * 2) == 0) parts *= 2;
    config.per_core_m = config.out_block_h = problem_.m / parts;
    std::int64_t k = largest_divisor(problem_.k, kStep);
    while (k > 1 && !fits(config.per_core_m, config.per_core_n, k)) {
      k = largest_divisor(problem_.k, k - 1);
    }
    config.in0_block_w = k;
    return fits(config.per_core_m, config.per_core_n, k) ? finished(config) : std::nullopt;
  }

  /// The most of arithmetic, of bytes that a core receives, and of bytes of DRAM.
  Rank rank_of(const MatmulConfig& config) const {
    constexpr std::int64_t kTileCycles = 16, kNocBytes = 32, kDramBytes = 288;
    const Bytes a = tile_bytes(problem_.types.a), b = tile_bytes(problem_.types.b);
    const std::int64_t m = config.per_core_m, n = config.per_core_n, k = problem_.k;
    std::int64_t products = loops_;
    std::int64_t cores = ceil_div(rows_, m) * ceil_div(problem_.n, n);
    if (config.kind == MatmulKind::reuse) {
      cores = std::min<std::int64_t>(cores * problem_.batch, grid_.cores());
      products = ceil_div(ceil_div(rows_, m) * problem_.batch, grid_.cores());
    }
    const std::int64_t passes = static_cast<std::int64_t>(arithmetic_.fidelity);
    const std::int64_t compute = products * m * n * k * kTileCycles * passes;
    const Bytes received = products * k * (m * a + n * b);
    const std::int64_t of_a = problem_.batched_a ? problem_.batch : 1;
    const Bytes all = of_a * problem_.m * k * a + loops_ * k * problem_.n * b +
                      problem_.batch * problem_.m * problem_.n * tile_bytes(problem_.types.out);
    return {std::max({compute, ceil_div(received.value(), kNocBytes),
                      ceil_div(all.value(), kDramBytes)}),
            cores};
  }

  /// Shards of A say the family, the grid and a core's share.
  Candidate of_shards(const Sharding& shards) const {
    const std::int64_t high = std::max<std::int64_t>(1, shards.rows / kTileSide);
    const std::int64_t wide = std::max<std::int64_t>(1, shards.columns / kTileSide);
    MatmulConfig config{.grid = grid_};
    std::int64_t step = wide;
    if (shards.layout == ShardLayout::width) {
      config.kind = MatmulKind::multicast_1d_in0;
      config.per_core_m = rows_;
      config.per_core_n = ceil_div(problem_.n, grid_.cores());
    } else if (shards.layout == ShardLayout::height) {
      config.kind = MatmulKind::multicast_1d_in1;
      config.per_core_m = high;
      config.per_core_n = problem_.n;
      step = problem_.k;
    } else {
      config.kind = MatmulKind::multicast_2d;
      config.transpose_mcast = shards.column_major;
      config.grid = shards.grid;
      config.per_core_m = high;
      config.per_core_n =
          ceil_div(problem_.n, shards.column_major ? shards.grid.rows : shards.grid.columns);
    }
    return pinned(config, step);
  }

  /// Shards of the result alone do so too.
  Candidate of_result(const Sharding& shards) const {
    const std::int64_t high = std::max<std::int64_t>(1, shards.rows / kTileSide);
    const std::int64_t wide = std::max<std::int64_t>(1, shards.columns / kTileSide);
    MatmulConfig config{.grid = shards.grid, .per_core_m = high, .per_core_n = wide};
    config.kind = shards.layout == ShardLayout::width    ? MatmulKind::multicast_1d_in0
                  : shards.layout == ShardLayout::height ? MatmulKind::multicast_1d_in1
                                                         : MatmulKind::multicast_2d;
    config.transpose_mcast = config.kind == MatmulKind::multicast_2d && shards.column_major;
    return pinned(config, longest_step(high * wide));
  }

  Candidate pinned(MatmulConfig config, std::int64_t step) const {
    config.out_block_h = config.per_core_m;
    config.out_block_w = config.per_core_n;
    std::int64_t k = largest_divisor(problem_.k, step);
    while (k > 1 && !fits(config.out_block_h, config.out_block_w, k)) {
      k = largest_divisor(k, k - 1);
    }
    config.in0_block_w = k;
    return finished(config);
  }

  const MatmulProblem& problem_;
  CoreGrid grid_;
  Bytes budget_;
  SelectedArithmetic arithmetic_;
  Bytes alignment_;
  std::int64_t loops_;  ///< Products of a batch that are made one after the other.
  std::int64_t rows_;   ///< Tiles of rows of one of them.
};

}  // namespace

std::optional<MatmulConfig> select_config(const MatmulProblem& problem, CoreGrid grid, Bytes l1,
                                          const SelectedArithmetic& arithmetic,
                                          const ChipProfile& chip) {
  return Selector(problem, grid, l1, arithmetic, chip).select();
}

}  // namespace howard::chip
