// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string>

#include "base/events/timeline_event.h"

namespace howard::profiler {

/// Says what took most of an interval.
struct LiveBound {
  std::string name;  ///< A gap's cause, "host issuing", or the longest op: "kernels: matmul".
  /// The share of the time from the first program's start to the last one's end.
  double share = 0;
};

/// Returns what bounds a run, from the events of its last moment on one device. It is the longest
/// op if kernels decide the time (`kernels_decide`), and otherwise the cause for which nothing ran
/// for longest. The result is absent if no program ran, or only for no time. It takes about 0.1 us
/// an event.
std::optional<LiveBound> live_bound(std::span<const TimelineEvent> events);

}  // namespace howard::profiler
