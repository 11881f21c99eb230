// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <random>

#include "profiler/timeline.h"

namespace howard::profiler::testing {

/// Makes a timeline without defects in which everything that can be recorded happens by chance,
/// within `kRandomEnd` picoseconds, which are few enough for an oracle that looks at each of them.
/// There are two devices, two queues, two sub-devices and two host threads; programs overlap, and
/// may have no dispatch or call.
inline constexpr std::int64_t kRandomEnd = 150;
Timeline random_timeline(std::uint32_t seed);

/// Returns the span from `start` to `end` picoseconds.
Span picoseconds(std::int64_t start, std::int64_t end);

}  // namespace howard::profiler::testing
