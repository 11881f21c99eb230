// SPDX-License-Identifier: Apache-2.0
#include "profiler/formats/logged_chip.h"

#include <algorithm>
#include <array>
#include <cstdlib>

namespace howard::profiler {
namespace {

// Between them are DRAM (columns 0 and 5, or 0 and 9) and Ethernet (rows 0 and 6, or 0 and 1), as
// tt_metal/soc_descriptors of tt-metal has them: wormhole_b0_80_arch.yaml, blackhole_140_arch.yaml.
constexpr std::array kWormholeColumns{1, 2, 3, 4, 6, 7, 8, 9};
constexpr std::array kWormholeRows{1, 2, 3, 4, 5, 7, 8, 9, 10, 11};
constexpr std::array kBlackholeColumns{1, 2, 3, 4, 5, 6, 7, 10, 11, 12, 13, 14, 15, 16};
constexpr std::array kBlackholeRows{2, 3, 4, 5, 6, 7, 8, 9, 10, 11};

struct Chip {
  std::string_view architecture;
  Frequency clock;
  TensixPlaces places;

  /// Returns how many cores compute: the whole grid.
  constexpr std::int64_t most_cores() const {
    return static_cast<std::int64_t>(places.columns.size() * places.rows.size());
  }
};
constexpr std::array kChips{
    Chip{"wormhole_b0", Frequency(1'000'000'000), {kWormholeColumns, kWormholeRows}},
    Chip{"blackhole", Frequency(1'350'000'000), {kBlackholeColumns, kBlackholeRows}}};

const Chip& chip_of(std::string_view architecture) {
  const auto found = std::ranges::find(kChips, architecture, &Chip::architecture);
  return found != kChips.end() ? *found : kChips.front();
}

}  // namespace

std::string_view architecture_of(Frequency clock, std::int64_t worker_cores) {
  for (const Chip& chip : kChips) {
    const std::int64_t difference = std::abs(clock.value() - chip.clock.value());
    const bool by_clock = difference <= chip.clock.value() / 50;  // the rows are rounded
    if (by_clock && worker_cores <= chip.most_cores()) return chip.architecture;
  }
  if (clock > Frequency()) return {};
  return worker_cores > kChips[0].most_cores() ? kChips[1].architecture : std::string_view{};
}

TensixPlaces tensix_places(std::string_view architecture) { return chip_of(architecture).places; }

Frequency usual_clock(std::string_view architecture) { return chip_of(architecture).clock; }

}  // namespace howard::profiler
