// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/events/timeline_event.h"
#include "profiler/formats/log.h"
#include "profiler/formats/traces/trace_process.h"

namespace howard::profiler {

/// Holds a device of a logged run as a process of a trace.
struct LogTrace {
  std::string name;  ///< "run 1, device 0".
  std::vector<TimelineEvent> events;
  std::uint64_t losses = 0;

  /// Returns the process, which must not outlive this.
  TraceProcess process() const { return {.name = name, .events = events, .losses = losses}; }
};

/// Returns the programs of a log for a viewer: each device of each run is a process, each
/// sub-device a track, and the host's calls, where the log tells them, another. Programs that
/// overlap on a sub-device, which no viewer can show on one track, have further tracks, beyond
/// those of the sub-devices. The events' names live as long as the log.
std::vector<LogTrace> traces_of(const Log& log);

}  // namespace howard::profiler
