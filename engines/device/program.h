// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string_view>
#include <variant>
#include <vector>

#include "base/units.h"
#include "engines/device/tensor_spec.h"

namespace howard {

/// Cores by columns (x) and rows (y), as tt-metal writes a CoreGrid: 8x7 is 8 columns, 7 rows.
struct CoreGrid {
  int columns = 0;
  int rows = 0;

  constexpr int cores() const { return columns * rows; }
  friend constexpr auto operator<=>(const CoreGrid&, const CoreGrid&) = default;
};

/// How many passes the matrix unit makes over the mantissa bits of its operands; the value is the
/// number of passes (Wormhole's matrix unit: LoFi 1 to HiFi4 4).
enum class MathFidelity : std::uint8_t { lofi = 1, hifi2 = 2, hifi3 = 3, hifi4 = 4 };

/// "LoFi", "HiFi2", "HiFi3", "HiFi4".
std::string_view name_of(MathFidelity fidelity);

/// The inverse of name_of, in any letter case. Error for any other word.
MathFidelity parse_math_fidelity(std::string_view word);

/// What a caller may say about the arithmetic; what is left out takes ttnn's default for the case.
struct ComputeConfig {
  std::optional<MathFidelity> fidelity;
  std::optional<bool> fp32_accumulation;  ///< ttnn's fp32_dest_acc_en.

  friend constexpr auto operator<=>(const ComputeConfig&, const ComputeConfig&) = default;
};

/// C[batch, m, n] = A[batch, m, k] B[k, n]. The planner of the device chooses the rest.
struct MatmulAttributes {
  std::optional<CoreGrid> core_grid;  ///< ttnn's core_grid argument: a size, placed at (0,0).
  ComputeConfig compute;

  friend constexpr auto operator<=>(const MatmulAttributes&, const MatmulAttributes&) = default;
};

enum class BufferId : std::uint64_t {};

struct Operand {
  BufferId buffer{};
  TensorSpec spec;
};

/// One launch: what is to be computed from what into what. Pure data: a WormholeDevice plans and
/// times it, a HostDevice computes it. Made by the functions of engines/ops, which check shapes.
struct Program {
  std::string_view name;  ///< The op, static storage: "matmul".
  std::variant<MatmulAttributes> attributes;
  std::vector<Operand> inputs;
  Operand output;
  Flops flops;
  int sub_device = 0;  ///< Whose cores it runs on, where the device is divided.
};

}  // namespace howard
