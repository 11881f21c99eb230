// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/sim_time.h"
#include "profiler/bottleneck.h"
#include "profiler/bound.h"
#include "profiler/timeline.h"

namespace howard::profiler {

/// Describes one thing on which time was spent.
struct Cost {
  std::string name;            ///< The op that ran, or why nothing ran: "host issuing".
  bool waiting = false;        ///< True if nothing ran.
  std::uint64_t programs = 0;  ///< The number of programs of the op; 0 when waiting.
  SimTime time;
};

/// Says on what one device spent a window of time, in which work was repeated. Each picosecond
/// belongs to one cost.
struct TimeAccount {
  SimTime time;  ///< What an iteration takes, on average.
  int iterations = 1;
  Span window;                 ///< Of all iterations together.
  std::vector<Cost> costs;     ///< The largest comes first; they add up to the window, exactly.
  Bottlenecks bottlenecks;     ///< Those of all programs; their time is the window's, exactly.
  SimTime host_working;        ///< The time in which host thread 0 did not wait for the device.
  SimTime dispatcher_working;  ///< The time in which queue 0's dispatcher worked.
  /// The time was not run program by program: its costs are parts, and nothing else is known of it.
  bool worked_out = false;
  std::string shortage;  ///< Why hardware could not run it: memory; empty if it could.
  std::vector<std::string> warnings;
  /// The mean error of measured times of these kinds that a fit had not seen, as a share of them;
  /// and what the time rests on.
  std::optional<double> expected_error;
  std::string known;

  /// Returns the costs of one iteration, the largest first. They add up to `time`, exactly.
  std::vector<Cost> costs_of_iteration() const;
  /// Returns who set the pace (`pace_of`); nobody did of a window without length.
  Pace pace() const;
  /// Returns what the time is bound by, in the words of `bound_by`: "host", "dispatch", the longest
  /// stage if all programs are of one op ("unpack"), or the longest op ("kernels: matmul"); or by
  /// its largest part if it was worked out.
  std::string bound() const;
  /// Returns what the time depends on. It is `dispatch_bound` whenever the host or the dispatcher
  /// sets the pace, because kernels may then fill most of the time and still not count.
  Verdict verdict() const;

 private:
  SpentTime spent(std::string_view kernel_word) const;
  std::string kernel_word() const;
};

/// Adds to a run what is known about the work of the program with that number.
using WorkOfProgram = std::function<void(std::uint64_t program, OpRun& run)>;

/// Accounts for a window of time of so many iterations. `timeline` holds the programs of one
/// device, all within the window, and what happened around them, without defects. If programs
/// overlap, the time belongs to the one that began first. Before the first program the time belongs
/// to what held it up, and after the last one to what host thread 0 did.
TimeAccount account_for(const Timeline& timeline, const Span& window, const WorkOfProgram& work,
                        int iterations = 1);

}  // namespace howard::profiler
