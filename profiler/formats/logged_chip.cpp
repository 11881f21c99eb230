// SPDX-License-Identifier: Apache-2.0
#include "profiler/formats/logged_chip.h"

#include <array>
#include <cstdlib>

namespace howard::profiler {
namespace {

struct Chip {
  std::string_view architecture;
  Frequency clock;
  std::int64_t most_cores;  ///< The cores that compute: its whole grid.
};
constexpr std::array kChips{Chip{"wormhole_b0", Frequency(1'000'000'000), 80},
                            Chip{"blackhole", Frequency(1'350'000'000), 140}};

}  // namespace

std::string_view architecture_of(Frequency clock, std::int64_t worker_cores) {
  for (const Chip& chip : kChips) {
    const std::int64_t difference = std::abs(clock.value() - chip.clock.value());
    const bool by_clock = difference <= chip.clock.value() / 50;  // the rows are rounded
    if (by_clock && worker_cores <= chip.most_cores) return chip.architecture;
  }
  if (clock > Frequency()) return {};
  return worker_cores > kChips[0].most_cores ? kChips[1].architecture : std::string_view{};
}

Frequency usual_clock(std::string_view architecture) {
  for (const Chip& chip : kChips) {
    if (chip.architecture == architecture) return chip.clock;
  }
  return kChips[0].clock;
}

}  // namespace howard::profiler
