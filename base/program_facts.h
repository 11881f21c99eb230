// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/units.h"

namespace howard {

struct TensorFacts {
  std::array<std::int64_t, 4> dimensions{1, 1, 1, 1};  ///< Logical; rows and columns last.
  std::string_view dtype;                              ///< "bfloat16".

  friend auto operator<=>(const TensorFacts&, const TensorFacts&) = default;
};

/// What a launched program is, for logs that say more than when it ran. Texts of static storage.
struct ProgramFacts {
  std::string_view operation;                ///< ttnn's device operation: "Matmul".
  std::string_view fidelity;                 ///< "HiFi2"; empty where the matrix unit has no part.
  std::string attributes;                    ///< In words: a matmul's configuration; often empty.
  std::vector<TensorFacts> inputs, outputs;  ///< In tiles, interleaved over DRAM.
  Flops flops;                               ///< Of the matrix unit.
  Bytes dram;                                ///< Read and written, by all cores together.
  std::string_view limited_by;               ///< The kernel's longest stage: "unpack".

  friend auto operator<=>(const ProgramFacts&, const ProgramFacts&) = default;
};

}  // namespace howard
