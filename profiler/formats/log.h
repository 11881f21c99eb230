// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/sim_time.h"
#include "base/units.h"
#include "profiler/formats/csv/dropped_rows.h"
#include "profiler/formats/device_log/clock_alignment.h"
#include "profiler/formats/device_log/device_zones.h"
#include "profiler/formats/ops_csv/op_calls.h"
#include "profiler/timeline.h"

namespace howard::profiler {

/// Holds what a log says about a device.
struct LoggedDevice {
  std::uint16_t id = 0;
  std::string architecture;  ///< "wormhole_b0"; empty when the log does not say.
  Frequency clock;           ///< Its cycle counter's; 0 when the log has times and no cycles.
  int worker_cores = 0;      ///< AVAILABLE WORKER CORE COUNT, the most of its rows; 0: not known.
  int used_cores = 0;        ///< CORE COUNT, the most of its rows; 0: not known.
  /// The relation of the host's clock to the device's, where the log has host times that fit.
  std::optional<ClockAlignment> host_clock = {};
};

/// Describes an op that ran on the host, or a fallback to Python, summed over its calls.
struct HostOp {
  NameId name = 0;
  std::string type;  ///< "tt_dnn_cpu", "python_fallback".
  std::uint64_t calls = 0;
  SimTime time;
};

/// Holds one run of a program. Each run has clocks of its own, so times of two runs cannot be
/// compared.
struct LoggedRun {
  std::string title;  ///< A process of a trace; empty when the log has no name for it.
  Timeline timeline;  ///< It has no defects; its losses are also among the dropped rows.
  std::vector<LoggedDevice> devices;  ///< They are sorted by id; a log without cycles has none.
  std::vector<std::string> lanes;  ///< Names of the sub-devices that stand for a trace's threads.
  std::vector<HostOp> host_ops;    ///< They are sorted by name and type.
  /// What tt-metal calls each of the timeline's programs: the run host ID of a device log, the
  /// GLOBAL CALL COUNT of an ops CSV (0: none), if it was asked for; else it is empty.
  std::vector<std::uint32_t> host_ids = {};
  std::vector<ProgramZones> zones = {};  ///< Of a device log; sorted by device, then by host ID.
  std::vector<CoreTime> cores = {};      ///< Of a device log; sorted by device, row and column.
  /// True if the log says when each program ran. Otherwise they stand one after the other, and only
  /// how long they took means anything.
  bool knows_starts = true;
};

/// Holds what was found in a log. Files with several runs are common: a log to which another was
/// appended, or a trace with a process for each point.
struct Log {
  std::vector<LoggedRun> runs;  ///< Each has at least one program or host op.
  DroppedRows dropped;
  std::vector<std::string> notes;  ///< What the reader must know: "the file ends within a row".
  OpCalls calls;                   ///< Those of its programs, where they were asked for.
};

/// Returns what the reader of anything that is said of a log must know: what was left out of it and
/// its notes, a sentence each.
std::vector<std::string> warnings_of(const Log& log);

/// Says which part of a log is looked at.
struct LogRange {
  /// The name of a signpost, or a GLOBAL CALL COUNT, from which on and up to which the log is read.
  /// If they are empty, it is read from the beginning and to the end.
  std::string from, to;
  /// If true, nothing is left out for being warm-up.
  bool with_warmup = false;

  bool is_whole() const { return from.empty() && to.empty(); }
};

/// Says what is wanted of a log.
struct ReadOptions {
  Tensors tensors = Tensors::skipped;  ///< Read: `Log::calls` is filled, of an ops CSV.
  LogRange range = {};
  const ToldCalls* told = nullptr;  ///< What is known besides of the calls of an ops CSV.
  bool host_ids = false;            ///< Whether `LoggedRun::host_ids` is filled of an ops CSV.
};

/// At most this many programs of one log are kept, which is a gigabyte or two of its text. Rows
/// beyond are counted as dropped, so memory has a bound whatever the size of the file (10 GB of an
/// ops CSV as one run: 260 MB).
inline constexpr std::size_t kMostLoggedPrograms = 2'000'000;

/// Removes what cannot have happened (`defects_of`) and counts it, also as losses.
void remove_defects(Timeline& timeline, DroppedRows& dropped);

}  // namespace howard::profiler
