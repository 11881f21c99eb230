// SPDX-License-Identifier: Apache-2.0
#include "reports/findings/gap_names.h"

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <string_view>

namespace howard::reports {

std::string lane_name(std::span<const profiler::BusyLane> lanes, const profiler::BusyLane& lane,
                      profiler::LaneKind kind) {
  if (kind == profiler::LaneKind::device) return fmt::format("device {}", lane.device);
  const std::string name =
      fmt::format("{} {}", kind == profiler::LaneKind::queue ? "queue" : "sub-device", lane.index);
  const bool several = std::ranges::any_of(
      lanes, [&](const profiler::BusyLane& other) { return other.device != lane.device; });
  return several ? fmt::format("device {}, {}", lane.device, name) : name;
}

std::string bound_name(SimTime bound) {
  constexpr std::array<std::string_view, 5> kUnits{"ps", "ns", "us", "ms", "s"};
  std::int64_t value = bound.ps();
  if (value == std::numeric_limits<std::int64_t>::max()) return "longer";
  std::size_t unit = 0;
  while (value >= 1000 && unit + 1 < kUnits.size()) {
    value /= 1000;
    ++unit;
  }
  return fmt::format("{} {}", value, kUnits[unit]);
}

std::vector<profiler::GapCause> causes_present(const profiler::CauseTimes& causes) {
  std::vector<profiler::GapCause> present;
  for (std::size_t i = 0; i < profiler::kGapCauses; ++i) {
    const auto cause = static_cast<profiler::GapCause>(i);
    if (causes[cause] > SimTime()) present.push_back(cause);
  }
  std::ranges::stable_sort(present, std::greater(),
                           [&](profiler::GapCause cause) { return causes[cause]; });
  return present;
}

std::string_view cause_color(profiler::GapCause cause) {
  // The usual ones have the colours of palette.h; all stay apart from their neighbours in grey.
  constexpr std::array<std::string_view, profiler::kGapCauses> kColors{
      "#0072B2", "#004466", "#E69F00", "#F0E442", "#8F6BB1", "#B15928", "#66A61E",
      "#009E73", "#7F7F7F", "#CC79A7", "#56B4E9", "#D55E00", "#A6003C", "#BBBBBB"};
  return kColors.at(static_cast<std::size_t>(cause));
}

}  // namespace howard::reports
