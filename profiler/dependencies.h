// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "profiler/timeline.h"

namespace howard::profiler {

/// Says that `after` could not start before `before` had ended, because of an event, a finish or
/// data. Both are indices into the timeline's programs.
struct Dependency {
  std::uint32_t before = 0;
  std::uint32_t after = 0;
};

/// Returns who waited for whom, as far as a timeline tells, in the order of the activities. When a
/// dispatcher's wait for an event, a finish or a transfer was over, it had waited for the program
/// that had ended last. The next program of that queue, or the next one that this host thread
/// called, waited with it. Data that went from one queue's programs to another's without any of
/// these are not known.
std::vector<Dependency> dependencies_of(const Timeline& timeline);

}  // namespace howard::profiler
