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
  std::array<std::int64_t, 4> dimensions{1, 1, 1, 1};  ///< Logical; rows and columns last.
  std::string_view dtype;                              ///< "bfloat16".
  std::string_view layout = "tile";                    ///< Or "row_major".
  std::string_view memory = "dram";                    ///< Or "l1": interleaved over its banks.

  friend auto operator<=>(const TensorFacts&, const TensorFacts&) = default;
};

/// What a launched program does, and what its device can do at the most. Zero: not known.
struct ProgramWork {
  Flops flops;
  Bytes dram;                   ///< Read and written.
  double peak_flops = 0;        ///< FLOP/s of all cores it could be spread over, at its fidelity.
  double peak_bandwidth = 0;    ///< B/s of the DRAM.
  int cores = 0;                ///< That have work.
  std::string_view limited_by;  ///< The kernel's longest stage: "unpack"; empty: not known.

  friend auto operator<=>(const ProgramWork&, const ProgramWork&) = default;
};

/// What a launched program is, for logs that say more than when it ran. Texts of static storage.
struct ProgramFacts {
  std::string_view operation;  ///< ttnn's device operation: "Matmul".
  std::string_view fidelity;   ///< "HiFi2"; empty where the matrix unit has no part.
  int worker_cores = 0;        ///< That it could be spread over; 0: not known.
  /// What the operation was told besides its operands, as ttnn names and prints it:
  /// {"transpose_b", "true"}.
  std::vector<std::pair<std::string_view, std::string>> attributes;
  std::vector<TensorFacts> inputs, outputs;
  ProgramWork work;

  friend auto operator<=>(const ProgramFacts&, const ProgramFacts&) = default;
};

}  // namespace howard
