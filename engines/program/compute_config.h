// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string_view>

namespace howard {

/// A number of cores as columns (x) by rows (y), in the notation of tt-metal's CoreGrid: 8x7 means
/// 8 columns and 7 rows.
struct CoreGrid {
  int columns = 0;
  int rows = 0;

  constexpr int cores() const { return columns * rows; }
  friend constexpr auto operator<=>(const CoreGrid&, const CoreGrid&) = default;
};

/// The number of passes that the matrix unit makes over the mantissa bits of its operands. The
/// value is this number (on Wormhole, from 1 for LoFi to 4 for HiFi4).
enum class MathFidelity : std::uint8_t { lofi = 1, hifi2 = 2, hifi3 = 3, hifi4 = 4 };

/// Returns "LoFi", "HiFi2", "HiFi3" or "HiFi4".
std::string_view name_of(MathFidelity fidelity);

/// Parses a word of name_of(), in any letter case. Throws Error for any other word.
MathFidelity parse_math_fidelity(std::string_view word);

/// Holds what a caller may say about the arithmetic. ttnn's default for the case applies to what is
/// left out.
struct ComputeConfig {
  std::optional<MathFidelity> fidelity;
  std::optional<bool> fp32_accumulation;  ///< Called fp32_dest_acc_en in ttnn.
  /// Whether the packer adds partial sums to those in L1 where there are more than two; else they
  /// are packed and loaded back. Called packer_l1_acc in ttnn.
  std::optional<bool> packer_accumulates;

  friend constexpr auto operator<=>(const ComputeConfig&, const ComputeConfig&) = default;
};

}  // namespace howard
