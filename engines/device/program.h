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

/// C[batch, m, n] = A[batch, m, k] B[k, n], either operand taken with rows and columns swapped
/// where it says so. The planner of the device chooses the rest.
struct MatmulAttributes {
  bool transpose_a = false;           ///< A is stored as [batch, k, m].
  bool transpose_b = false;           ///< B is stored as [n, k].
  std::optional<CoreGrid> core_grid;  ///< ttnn's core_grid argument: a size, placed at (0,0).
  ComputeConfig compute;

  friend constexpr auto operator<=>(const MatmulAttributes&, const MatmulAttributes&) = default;
};

/// What an elementwise op computes of its operands x and, for two, y.
enum class Eltwise : std::uint8_t {
  add,
  subtract,
  multiply,  ///< x op y, y being a tensor or the scalar
  relu,
  gtz,
  square,  ///< max(x, 0); 1 where x > 0, else 0; x x
  exp,
  erf,
  gelu,
  sqrt,
  rsqrt,
  reciprocal,
  fill,  ///< the scalar, of no operand
};

/// "add", "subtract", "relu", ...
std::string_view name_of(Eltwise function);
/// How many values it takes: 0 (fill), 1 or 2.
int arity_of(Eltwise function);

/// out = function(x, y) for each element. Two tensors broadcast as ttnn does it: a dimension of
/// one fits any other.
struct EltwiseAttributes {
  Eltwise function{};
  std::optional<float> scalar;  ///< y of a function of two values, or what fill writes.

  friend auto operator<=>(const EltwiseAttributes&, const EltwiseAttributes&) = default;
};

enum class Reduction : std::uint8_t { sum, mean, max };

/// "sum", "mean", "max".
std::string_view name_of(Reduction reduction);

/// The dimension an op works along: columns is the last one, batch all that come before the rows.
enum class Dimension : std::uint8_t { columns, rows, batch };

/// out[..., 1] and so on: `dimension` shrinks to one.
struct ReduceAttributes {
  Reduction reduction{};
  Dimension dimension{};

  friend auto operator<=>(const ReduceAttributes&, const ReduceAttributes&) = default;
};

/// Swaps rows and columns.
struct TransposeAttributes {
  friend auto operator<=>(const TransposeAttributes&, const TransposeAttributes&) = default;
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
  std::variant<MatmulAttributes, EltwiseAttributes, ReduceAttributes, TransposeAttributes>
      attributes;
  std::vector<Operand> inputs;
  Operand output;
  Flops flops;
  int sub_device = 0;  ///< Whose cores it runs on, where the device is divided.
};

}  // namespace howard
