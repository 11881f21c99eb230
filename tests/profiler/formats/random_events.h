// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "base/events/timeline_event.h"

namespace howard::profiler::testing {

/// Returns random events as a device may record them: tracks of every kind, and spans that follow
/// each other, lie in each other, touch, or take no time, in any order. Nothing impossible is among
/// them.
std::vector<TimelineEvent> random_events(std::uint32_t seed);

}  // namespace howard::profiler::testing
