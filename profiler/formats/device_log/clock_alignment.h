// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "base/sim_time.h"

namespace howard::profiler {

/// Holds when the host began a call, by its own clock, and when the device began to run it, by its
/// own.
struct ClockPair {
  SimTime host, device;
};

/// Says how the clock of a device and that of the host belong together. The two count from
/// different moments, and at rates that differ by a percent or two.
struct ClockAlignment {
  SimTime host_origin, device_origin;  ///< The same moment on both.
  double rate = 1;                     ///< Device seconds per host second.
  /// The distance by which the line may be off: in half of the log's parts, the earliest start that
  /// was seen after a call lies within this of the line.
  SimTime uncertainty;
  /// The shortest time from a call's start to its program's that is assumed, since no log tells it:
  /// with another one, all calls lie earlier or later by the difference. None where both clocks are
  /// known to count from one moment.
  SimTime assumed_latency{};
  std::size_t pairs = 0;  ///< The pairs from which it was found.

  /// Returns the moment `host` of the host's clock on the device's.
  SimTime device_time(SimTime host) const;
};

/// Finds the line below all pairs, as no program starts before the call that launched it, and as
/// near to them as the time in the middle of the log allows: programs that waited in a queue start
/// late, and those that did not are what the line touches. The shortest latency between a call and
/// its program is not in the pairs: the line is that of programs which start with their calls.
/// Pairs that lie far below the others are damage and left out.
///
/// A device that falls behind all along is taken to count alike. The result is absent for fewer
/// than three pairs at different times, and where programs would start before their calls, because
/// these are not clocks of one run.
std::optional<ClockAlignment> align_clocks(std::span<const ClockPair> pairs);

}  // namespace howard::profiler
