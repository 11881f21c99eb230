// SPDX-License-Identifier: Apache-2.0
#include "engines/device/compute_config.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string>

#include "base/error.h"

namespace howard {
namespace {

constexpr std::array<std::string_view, 4> kFidelityNames{"LoFi", "HiFi2", "HiFi3", "HiFi4"};

bool same_letters(std::string_view a, std::string_view b) {
  return std::ranges::equal(
      a, b, [](unsigned char x, unsigned char y) { return std::tolower(x) == std::tolower(y); });
}

}  // namespace

std::string_view name_of(MathFidelity fidelity) {
  return kFidelityNames[static_cast<std::size_t>(fidelity) - 1];
}

MathFidelity parse_math_fidelity(std::string_view word) {
  for (std::size_t i = 0; i < kFidelityNames.size(); ++i) {
    if (same_letters(word, kFidelityNames[i])) return static_cast<MathFidelity>(i + 1);
  }
  throw Error({.attempted = "read a math fidelity",
               .value = "'" + std::string(word) + "'",
               .accepted = "LoFi, HiFi2, HiFi3, HiFi4",
               .hint = ""});
}

}  // namespace howard
