// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/sim_time.h"
#include "base/units.h"
#include "profiler/formats/clock_alignment.h"
#include "profiler/formats/dropped_rows.h"
#include "profiler/formats/op_calls.h"
#include "profiler/timeline.h"

namespace howard::profiler {

/// What a log says about a device.
struct LoggedDevice {
  std::uint16_t id = 0;
  std::string architecture;  ///< "wormhole_b0"; empty when the log does not say.
  Frequency clock;           ///< Of its cycle counter; 0 when the log has times and no cycles.
  int worker_cores = 0;      ///< AVAILABLE WORKER CORE COUNT, the most of its rows; 0: not known.
  /// How the host's clock belongs to the device's, where the log has host times that fit.
  std::optional<ClockAlignment> host_clock = {};
};

/// An op that ran on the host, or a fallback to Python: summed over its calls.
struct HostOp {
  NameId name = 0;
  std::string type;  ///< "tt_dnn_cpu", "python_fallback".
  std::uint64_t calls = 0;
  SimTime time;
};

/// One run of a program, on clocks of its own: times of two runs can not be compared.
struct LoggedRun {
  std::string title;  ///< A process of a trace; empty when the log has no name for it.
  Timeline timeline;  ///< Without defects; its losses are also among the log's dropped rows.
  std::vector<LoggedDevice> devices;  ///< By id; none in a log without cycles.
  std::vector<std::string> lanes;  ///< Names of the sub-devices that stand for a trace's threads.
  std::vector<HostOp> host_ops;    ///< By name and type.
  /// The log says when each program ran. Else they stand one after the other, and only how long
  /// they took means anything.
  bool knows_starts = true;
};

/// What was found in a log. Files that hold several runs are common: a log that was appended to,
/// or a trace with a process for each point.
struct Log {
  std::vector<LoggedRun> runs;  ///< Each with at least one program or host op.
  DroppedRows dropped;
  std::vector<std::string> notes;  ///< What the reader must know: "the file ends within a row".
  OpCalls calls;                   ///< Those of its programs, where they were asked for.
};

/// Which part of a log is looked at.
struct LogRange {
  /// The name of a signpost, or a GLOBAL CALL COUNT: from there on, and up to there. Empty: from
  /// the beginning, to the end.
  std::string from, to;
  /// Nothing is left out for being warm-up.
  bool with_warmup = false;

  bool is_whole() const { return from.empty() && to.empty(); }
};

/// What is wanted of a log.
struct ReadOptions {
  Tensors tensors = Tensors::skipped;  ///< Read: `Log::calls` is filled, of an ops CSV.
  LogRange range = {};
};

/// The most programs that are kept of one log, a gigabyte or two of its text: rows beyond are
/// counted as dropped, and memory has a bound whatever the size of the file (10 GB of an ops CSV as
/// one run: 260 MB).
inline constexpr std::size_t kMostLoggedPrograms = 2'000'000;

/// Removes what can not have happened (`defects_of`) and counts it, also as losses.
void remove_defects(Timeline& timeline, DroppedRows& dropped);

}  // namespace howard::profiler
