// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/units.h"

namespace howard {

struct TensorFacts {
  /// Logical sizes; rows and columns are the last two.
  std::array<std::int64_t, 4> dimensions{1, 1, 1, 1};
  std::string_view dtype;            ///< "bfloat16".
  std::string_view layout = "tile";  ///< "tile" or "row_major".
  /// Or "L1_HEIGHT_SHARDED", and so on.
  std::string_view memory = "DRAM_INTERLEAVED";

  friend auto operator<=>(const TensorFacts&, const TensorFacts&) = default;
};

/// Says how much work a launched program does, and the most that its device can do. Zero means not
/// known.
struct ProgramWork {
  Flops flops;
  Bytes dram;                   ///< Bytes read and written.
  double peak_flops = 0;        ///< FLOP/s of all cores that it could use, at its fidelity.
  double peak_bandwidth = 0;    ///< B/s of the DRAM.
  int cores = 0;                ///< How many cores have work.
  std::string_view limited_by;  ///< The kernel's longest stage ("unpack"); empty if not known.

  friend auto operator<=>(const ProgramWork&, const ProgramWork&) = default;
};

/// Describes a launched program, for logs that say more than when it ran. The texts have static
/// storage.
struct ProgramFacts {
  std::string_view operation;  ///< ttnn's device operation: "Matmul".
  std::string_view fidelity;   ///< "HiFi2"; empty if the matrix unit is not used.
  int worker_cores = 0;        ///< How many cores it could use; 0 if not known.
  /// The arguments of the operation besides its operands, as ttnn names and prints them:
  /// {"transpose_b", "true"}.
  std::vector<std::pair<std::string_view, std::string>> attributes;
  std::vector<TensorFacts> inputs, outputs;
  ProgramWork work;

  friend auto operator<=>(const ProgramFacts&, const ProgramFacts&) = default;
};

}  // namespace howard
