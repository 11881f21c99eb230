// SPDX-License-Identifier: Apache-2.0
#include "harness/what_if.h"

#include <algorithm>

namespace howard::harness {

Parameters changed(Parameters point, const Parameters& changes) {
  for (const auto& [axis, value] : changes) {
    const auto found = std::ranges::find(point, axis, &Parameters::value_type::first);
    if (found == point.end()) {
      point.emplace_back(axis, value);
    } else {
      found->second = value;
    }
  }
  return point;
}

}  // namespace howard::harness
