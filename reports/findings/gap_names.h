// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/sim_time.h"
#include "profiler/dispatch_gaps.h"

namespace howard::reports {

/// "queue 0", "sub-device 1", "device 0"; with the device before it when `lanes` has several.
std::string lane_name(std::span<const profiler::BusyLane> lanes, const profiler::BusyLane& lane,
                      profiler::LaneKind kind);

/// "10 us": the bound of a bin, which is a whole number of some unit. The end of time is "longer".
std::string bound_name(SimTime bound);

/// The causes that have any time, the largest first.
std::vector<profiler::GapCause> causes_present(const profiler::CauseTimes& causes);

}  // namespace howard::reports
