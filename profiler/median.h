// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "base/sim_time.h"

namespace howard::profiler {

/// Returns the median of at least one time: of an even number the mean of the middle two, as files
/// and tables of samples have it.
inline SimTime median(std::vector<SimTime> times) {
  const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
  std::ranges::nth_element(times, middle);
  if (times.size() % 2 == 1) return *middle;
  const SimTime below = *std::max_element(times.begin(), middle);
  return SimTime::picoseconds((below.ps() + middle->ps()) / 2);
}

}  // namespace howard::profiler
