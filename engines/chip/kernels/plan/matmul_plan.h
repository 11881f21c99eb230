// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>

#include "base/units.h"
#include "engines/program/matmul_config.h"
#include "engines/program/program.h"

namespace howard::chip {

/// The data types of a product, which may all differ. Without a bias its type is the result's.
struct MatmulTypes {
  DataType a = DataType::bfloat16, b = DataType::bfloat16, out = DataType::bfloat16;
  DataType bias = DataType::bfloat16;

  static constexpr MatmulTypes all(DataType type) { return {type, type, type, type}; }

  friend constexpr auto operator<=>(const MatmulTypes&, const MatmulTypes&) = default;
};

/// A matrix product in tiles. All operands are tiled, and interleaved over the banks of DRAM or L1,
/// or sharded.
struct MatmulProblem {
  std::int64_t batch = 1;
  bool batched_a = true;             ///< True if A has the batch, if there is one.
  bool batched_b = false;            ///< True if B has the batch, if there is one.
  std::int64_t m = 1, k = 1, n = 1;  ///< Tiles of 32.
  MatmulTypes types;
  /// The caller's; one larger than the device means the device's.
  std::optional<CoreGrid> core_grid;
  ComputeConfig compute;               ///< ttnn's defaults stand for what the caller left out.
  bool transposed_a = false;           ///< A is read along its columns.
  bool transposed_b = false;           ///< B's tiles are transposed by the kernel.
  bool bias = false;                   ///< A row is added to the result.
  std::optional<Eltwise> activation;   ///< Applied to the result by the kernel.
  std::optional<MatmulConfig> config;  ///< The caller's, in place of ttnn's choice.
  Storage in0 = Storage::dram, in1 = Storage::dram, out = Storage::dram;
  std::optional<Sharding> in0_shards{}, in1_shards{}, out_shards{};  ///< Absent if interleaved.

  friend auto operator<=>(const MatmulProblem&, const MatmulProblem&) = default;
};

/// How a product is made, as ttnn chose it or was told.
struct MatmulPlan {
  MatmulProblem problem;  ///< Its sizes may differ from those below.
  /// A core's share of one product, on the grid that it was planned for.
  MatmulConfig config;
  std::int64_t batch = 1;  ///< The number of products, where ttnn does not fold them into m.
  /// The problem; where ttnn fuses the batch, it is folded into m.
  std::int64_t m = 1, k = 1, n = 1;
  MathFidelity fidelity = MathFidelity::hifi2;
  bool fp32_accumulation = false;
  bool packer_accumulates = true;   ///< Partial sums are added in L1, and not loaded back.
  std::int64_t batch_in_share = 1;  ///< Reuse: products of a batch that stay together.

  /// Returns whether a core with work shares what it reads with others by multicasts.
  bool is_multicast() const {
    return config.kind == MatmulKind::multicast_2d || config.kind == MatmulKind::multicast_1d_in0 ||
           config.kind == MatmulKind::multicast_1d_in1;
  }

  /// Returns how many shares a kernel without a multicast deals out to the cores: products of a
  /// batch, or parts of them.
  std::int64_t shares() const {
    return ceil_div(m, config.per_core_m) * ceil_div(n, config.per_core_n) * batch / batch_in_share;
  }
  // Cores that have work are a sub-config.grid in 2D, and a number of cores in row-major order in
  // 1D.
  std::int64_t active_columns() const { return ceil_div(n, config.per_core_n); }
  std::int64_t active_rows() const { return ceil_div(m, config.per_core_m); }
  std::int64_t active_cores() const {
    if (config.kind == MatmulKind::dram_sharded) return config.grid.cores();
    return is_multicast() ? active_columns() * active_rows()
                          : std::min<std::int64_t>(shares(), config.grid.cores());
  }
  /// Returns how many products the busiest core runs one after the other.
  std::int64_t products() const {
    return is_multicast() ? batch : ceil_div(shares(), active_cores()) * batch_in_share;
  }
  std::int64_t k_blocks() const { return k / config.in0_block_w; }
  std::int64_t blocks_h() const { return config.per_core_m / config.out_block_h; }
  std::int64_t blocks_w() const { return config.per_core_n / config.out_block_w; }

  friend bool operator==(const MatmulPlan&, const MatmulPlan&) = default;

  /// Returns "2D 56 cores, per core 19x16, block 19x1, k 16, sub-block 1x1, HiFi2".
  std::string text() const;
};

/// Returns the plan's configuration as a caller gives it, whose share is of all products that stay
/// together.
MatmulConfig config_of(const MatmulPlan& plan);

/// The tiles that the circular buffers of one core hold.
struct MatmulBuffers {
  Bytes in0_tile;
  Bytes in1_tile;
  Bytes output_tile;
  Bytes partial_tile;
  Bytes bias_tile;  ///< zero without a bias

  /// Returns the L1 for an output block of h x w tiles and `k` tiles of K in a step. Inputs are
  /// double buffered; output and partial sums are not.
  Bytes size(std::int64_t h, std::int64_t w, std::int64_t k) const {
    const Bytes inputs = 2 * k * (h * in0_tile + w * in1_tile) + w * bias_tile;
    return inputs + h * w * (output_tile + partial_tile);
  }
};

MatmulBuffers buffers_of(const MatmulPlan& plan);

/// Returns the L1 that the plan's circular buffers take on each core.
Bytes circular_buffer_bytes(const MatmulPlan& plan);

}  // namespace howard::chip
