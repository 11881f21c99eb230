// SPDX-License-Identifier: Apache-2.0
#include "engines/device/attributes.h"

#include <array>
#include <cstddef>

namespace howard {

std::string_view name_of(Reduction reduction) {
  constexpr std::array<std::string_view, 3> kNames{"sum", "mean", "max"};
  return kNames[static_cast<std::size_t>(reduction)];
}

}  // namespace howard
