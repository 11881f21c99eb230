// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>

#include "base/units.h"
#include "engines/device/program.h"

namespace howard::wormhole {

/// How ttnn spreads a matrix product over cores (its matmul program configurations).
enum class MatmulKind : std::uint8_t {
  multicast_2d,      ///< A by core rows, B by core columns, both multicast.
  multicast_1d_in0,  ///< One core reads A and multicasts it; every core owns columns of B.
  multicast_1d_in1,  ///< The mirror: one core reads B; every core owns rows of A.
  reuse,             ///< Of a batch of both: each core has products of its own, no multicast.
};

/// "2D", "1D in0", "1D in1", "reuse".
std::string_view name_of(MatmulKind kind);

/// A matrix product in tiles, all operands tiled and interleaved over DRAM.
struct MatmulProblem {
  std::int64_t batch = 1;
  bool batched_a = true;             ///< With a batch: A has it.
  bool batched_b = false;            ///< With a batch: B has it.
  std::int64_t m = 1, k = 1, n = 1;  ///< Tiles of 32.
  DataType dtype = DataType::bfloat16;
  std::optional<CoreGrid> core_grid;  ///< The caller's; larger than the device: the device's.
  ComputeConfig compute;              ///< What the caller left out takes ttnn's default.
  bool transposed_a = false;          ///< A is read along its columns.
  bool transposed_b = false;          ///< B's tiles are transposed by the kernel.
  bool bias = false;                  ///< A row is added to the result.

  friend auto operator<=>(const MatmulProblem&, const MatmulProblem&) = default;
};

/// The problem that `program`, with `attributes`, asks to be solved.
MatmulProblem problem_of(const Program& program, const MatmulAttributes& attributes);

/// The configuration ttnn chooses, in tiles.
struct MatmulPlan {
  MatmulKind kind{};
  CoreGrid grid;                     ///< The grid it was planned for.
  std::int64_t batch = 1;            ///< Products, where ttnn does not fold them into m.
  std::int64_t m = 1, k = 1, n = 1;  ///< The problem, the batch folded into m where ttnn fuses.
  std::int64_t per_core_m = 1, per_core_n = 1;
  std::int64_t out_block_h = 1, out_block_w = 1;
  std::int64_t in0_block_w = 1;  ///< Tiles of K in one step.
  std::int64_t subblock_h = 1, subblock_w = 1;
  DataType dtype = DataType::bfloat16;
  MathFidelity fidelity = MathFidelity::hifi2;
  bool fp32_accumulation = false;
  bool transposed_a = false;
  bool transposed_b = false;
  bool bias = false;

  // Cores that have work: in 2D a sub-grid, in 1D a number of cores in row-major order.
  std::int64_t active_columns() const { return ceil_div(n, per_core_n); }
  std::int64_t active_rows() const { return ceil_div(m, per_core_m); }
  std::int64_t active_cores() const {
    return kind == MatmulKind::reuse ? std::min<std::int64_t>(batch, grid.cores())
                                     : active_columns() * active_rows();
  }
  /// Products that a core with the most of them runs one after the other.
  std::int64_t products() const {
    return kind == MatmulKind::reuse ? ceil_div(batch, active_cores()) : batch;
  }
  std::int64_t k_blocks() const { return k / in0_block_w; }
  std::int64_t blocks_h() const { return per_core_m / out_block_h; }
  std::int64_t blocks_w() const { return per_core_n / out_block_w; }

  /// "2D 56 cores, per core 19x16, block 19x1, k 16, sub-block 1x1, HiFi2".
  std::string text() const;
};

/// ttnn's rules as of June 2025 to June 2026 (facts: docs/method.md, "Matmul planner"): the default
/// configuration, or the one for a given core grid. Pure; the same answer for the same input.
///
/// `device_grid`: the compute grid; `circular_buffer_bytes`: L1 a core has for circular buffers.
MatmulPlan plan_matmul(const MatmulProblem& problem, CoreGrid device_grid,
                       Bytes circular_buffer_bytes);

/// L1 that its circular buffers take of each core.
Bytes circular_buffer_bytes(const MatmulPlan& plan);

}  // namespace howard::wormhole
