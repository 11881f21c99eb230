// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/sim_time.h"
#include "profiler/bottleneck.h"
#include "profiler/timeline.h"

namespace howard::profiler {

/// One thing that a time was spent on.
struct Cost {
  std::string name;            ///< The op that ran, or what nothing ran for: "host issuing".
  bool waiting = false;        ///< Nothing ran.
  std::uint64_t programs = 0;  ///< Of the op; 0 when waiting.
  SimTime time;
};

/// Who was busy all the time, so that nothing else could have made the window shorter.
enum class Pace : std::uint8_t { host, dispatcher, neither };

/// What one device spent a window of time on: each picosecond belongs to one cost.
struct TimeAccount {
  Span window;
  std::vector<Cost> costs;     ///< The largest first; they add up to the window, exactly.
  Bottlenecks bottlenecks;     ///< Of all programs; their time is the window's, exactly.
  SimTime host_working;        ///< Host thread 0 did not wait for the device.
  SimTime dispatcher_working;  ///< Of queue 0.

  /// Busy for 97 % of the window: the rest is the beginning and the end of a repeated step.
  Pace pace() const;
  /// Which part of the time is the largest; `dispatch_bound` whenever host or dispatcher set the
  /// pace, as kernels may then fill most of the time and still not count.
  Verdict verdict() const;
};

/// Adds to a run what is known of the work of the program with that number.
using WorkOfProgram = std::function<void(std::uint64_t program, OpRun& run)>;

/// `timeline` holds the programs of one device, all within the window, and what happened around
/// them; no defects. Where programs overlap, the one that began first has the time. Before the
/// first program the time belongs to what held it up, after the last one to what host thread 0 did.
TimeAccount account_for(const Timeline& timeline, const Span& window, const WorkOfProgram& work);

}  // namespace howard::profiler
