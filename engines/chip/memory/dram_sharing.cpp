// SPDX-License-Identifier: Apache-2.0
#include "engines/chip/memory/dram_sharing.h"

#include <algorithm>
#include <numeric>

#include "base/check.h"
#include "base/wide.h"

namespace howard::chip {
DramShare share_of(SimTime busy, SimTime total) {
  HOWARD_CHECK(total > SimTime(), "a program takes time");
  const Wide share = static_cast<Wide>(busy.ps()) * kAllOfDram / total.ps();
  return static_cast<DramShare>(std::min<Wide>(share, kAllOfDram));
}

std::vector<Speed> shared_speeds(std::span<const DramShare> wanted) {
  std::vector<Speed> speeds(wanted.size(), kFullSpeed);
  std::vector<std::size_t> order(wanted.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return wanted[i]; });
  DramShare left = kAllOfDram;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const DramShare wants = wanted[order[i]];
    const DramShare fair = left / static_cast<DramShare>(order.size() - i);
    if (wants > fair) speeds[order[i]] = std::max<Speed>(1, fair * kFullSpeed / wants);
    left -= std::min(wants, fair);
  }
  return speeds;
}

SimTime work_done(SimTime elapsed, Speed speed) {
  return SimTime::picoseconds(
      static_cast<std::int64_t>(static_cast<Wide>(elapsed.ps()) * speed / kFullSpeed));
}

SimTime time_for(SimTime work, Speed speed) {
  HOWARD_CHECK(speed > 0, "a program never stands still");
  return SimTime::picoseconds(
      static_cast<std::int64_t>((static_cast<Wide>(work.ps()) * kFullSpeed + speed - 1) / speed));
}

}  // namespace howard::chip
