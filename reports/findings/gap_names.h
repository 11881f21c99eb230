// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/sim_time.h"
#include "profiler/dispatch_gaps.h"

namespace howard::reports {

/// Returns "queue 0", "sub-device 1" or "device 0", preceded by the device if `lanes` has several.
std::string lane_name(std::span<const profiler::BusyLane> lanes, const profiler::BusyLane& lane,
                      profiler::LaneKind kind);

/// Returns "10 us", the bound of a bin, which is a whole number of some unit. The end of time is
/// "longer".
std::string bound_name(SimTime bound);

/// Returns "#d55e00", the colour of a cause: the same in every picture and on the page.
std::string_view cause_color(profiler::GapCause cause);

/// Returns the causes that have any time, the largest first.
std::vector<profiler::GapCause> causes_present(const profiler::CauseTimes& causes);

}  // namespace howard::reports
