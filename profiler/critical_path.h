// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/sim_time.h"
#include "profiler/dependencies.h"
#include "profiler/timeline.h"

namespace howard::profiler {

/// Holds the programs that decided how long a run took. Delaying another program by its slack, or
/// making it shorter, changes nothing.
struct CriticalPath {
  std::vector<std::uint32_t> programs;  ///< The path from the first to the one that ended last.
  /// The time from the first start to the last end in which a program of the path ran.
  SimTime busy;
  SimTime idle;                ///< The rest of that time.
  std::vector<SimTime> slack;  ///< The slack of every program of the timeline; zero on the path.
};

/// Finds the critical path. A program depends on the one before it on its sub-device, by start, and
/// on `dependencies`. The time between the end of its last dependency and its start is a cost of
/// its own (dispatch, go), which it would have had at any other time too. A dependency that ended
/// earlier has slack up to the last one's end. If a program of `dependencies` does not start before
/// the one that depends on it, that is a bug and stops the process. An empty timeline has an empty
/// path.
CriticalPath critical_path(const Timeline& timeline, std::span<const Dependency> dependencies);

}  // namespace howard::profiler
