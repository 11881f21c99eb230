// SPDX-License-Identifier: Apache-2.0
#include "engines/program/compute_config.h"

#include <array>
#include <string>

#include "base/error.h"
#include "base/text.h"

namespace howard {
namespace {

constexpr std::array<std::string_view, 4> kFidelityNames{"LoFi", "HiFi2", "HiFi3", "HiFi4"};

}  // namespace

std::string_view name_of(MathFidelity fidelity) {
  return kFidelityNames[static_cast<std::size_t>(fidelity) - 1];
}

MathFidelity parse_math_fidelity(std::string_view word) {
  for (std::size_t i = 0; i < kFidelityNames.size(); ++i) {
    if (lower_case(word) == lower_case(kFidelityNames[i])) return static_cast<MathFidelity>(i + 1);
  }
  throw Error({.attempted = "read a math fidelity",
               .value = "'" + std::string(word) + "'",
               .accepted = "LoFi, HiFi2, HiFi3, HiFi4"});
}

}  // namespace howard
