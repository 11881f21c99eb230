// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string>

#include "base/trace_event.h"

namespace howard::profiler {

/// What most of an interval went to.
struct LiveBound {
  std::string name;  ///< A gap's cause, "host issuing", or the longest op: "kernels: matmul".
  double share = 0;  ///< Of the time from the first program's start to the last one's end.
};

/// What bounds a run, from the events of its last moment on one device: the largest of the time in
/// which programs ran and of each cause for which none did. Absent when no program ran, or for no
/// time. About 0.1 us an event.
std::optional<LiveBound> live_bound(std::span<const TraceEvent> events);

}  // namespace howard::profiler
