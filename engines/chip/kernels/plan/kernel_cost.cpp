// SPDX-License-Identifier: Apache-2.0
#include "engines/chip/kernels/plan/kernel_cost.h"

#include <array>

namespace howard::chip {

std::string_view name_of(Bottleneck bottleneck) {
  constexpr std::array<std::string_view, 7> kNames{"kernel start",  "in0 reads", "in1 reads",
                                                   "math",          "unpack",    "output writes",
                                                   "DRAM bandwidth"};
  return kNames[static_cast<std::size_t>(bottleneck)];
}

}  // namespace howard::chip
