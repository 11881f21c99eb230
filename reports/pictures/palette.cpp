// SPDX-License-Identifier: Apache-2.0
#include "reports/pictures/palette.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace howard::reports {
namespace {

constexpr std::array<std::string_view, kLineColors> kSeriesColors{
    "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#000000", "#E69F00", "#56B4E9"};

constexpr std::array<int, 2> kDashed{7, 4};
constexpr std::array<int, 2> kDotted{2, 3};
constexpr std::array<int, 4> kDashDotted{9, 3, 2, 3};
constexpr std::array<int, 2> kLongDashed{14, 5};

/// Returns the share of red (0), green (1) or blue (2) of a colour, up to 255.
int channel(std::string_view color, std::size_t number) {
  int value = 0;
  const char* const digits = color.data() + 1 + 2 * number;
  std::from_chars(digits, digits + 2, value, 16);
  return value;
}

}  // namespace

std::string_view series_color(std::size_t number) { return kSeriesColors[number % kLineColors]; }

std::span<const int> line_dashes(std::size_t number) {
  switch (number % kLineDashes) {
    case 1:
      return kDashed;
    case 2:
      return kDotted;
    case 3:
      return kDashDotted;
    case 4:
      return kLongDashed;
    default:
      return {};
  }
}

std::string map_color(double place) {
  std::size_t stop = 0;
  while (stop + 2 < kMapStops.size() && place > kMapStops[stop + 1].place) ++stop;
  const auto& [low, from] = kMapStops[stop];
  const auto& [high, to] = kMapStops[stop + 1];
  const double share = std::clamp((place - low) / (high - low), 0.0, 1.0);
  const auto mix = [&](std::size_t number) {
    const int begin = channel(from, number);
    return begin + static_cast<int>(share * (channel(to, number) - begin));
  };
  return fmt::format("#{:02x}{:02x}{:02x}", mix(0), mix(1), mix(2));
}

}  // namespace howard::reports
