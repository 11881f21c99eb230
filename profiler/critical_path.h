// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/sim_time.h"
#include "profiler/dependencies.h"
#include "profiler/timeline.h"

namespace howard::profiler {

/// The programs that decided how long a run took. Delaying another one by its slack, or making it
/// shorter, changes nothing.
struct CriticalPath {
  std::vector<std::uint32_t> programs;  ///< From the first to the one that ended last.
  SimTime busy;                         ///< From the first one's start to the last one's end: a
  SimTime idle;                         ///< program of the path ran; none of it did.
  std::vector<SimTime> slack;           ///< Of every program of the timeline; zero on the path.
};

/// A program depends on the one before it on its sub-device, by start, and on `dependencies`. What
/// passed between the end of its last dependency and its start is a cost of its own (dispatch, go)
/// that it would have had at any other time too; a dependency that ended earlier has slack up to
/// the last one's end. Each program of `dependencies` must start before the one that depends on it;
/// else the program stops. An empty timeline has an empty path.
CriticalPath critical_path(const Timeline& timeline, std::span<const Dependency> dependencies);

}  // namespace howard::profiler
