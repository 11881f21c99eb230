// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/sim_time.h"
#include "base/units.h"
#include "profiler/formats/dropped_rows.h"
#include "profiler/timeline.h"

namespace howard::profiler {

/// Holds what a log says about a device.
struct LoggedDevice {
  std::uint16_t id = 0;
  std::string architecture;  ///< "wormhole_b0"; empty if the log does not say.
  Frequency clock;  ///< The clock of its cycle counter; 0 if the log has times and no cycles.
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
  std::string title;  ///< A process of a trace; empty if the log has no name for it.
  Timeline timeline;  ///< It has no defects; its losses are also among the log's dropped rows.
  std::vector<LoggedDevice> devices;  ///< By id; empty in a log without cycles.
  /// The names of the sub-devices that represent a trace's threads.
  std::vector<std::string> lanes;
  std::vector<HostOp> host_ops;  ///< By name and type.
};

/// Holds what was found in a log. Files with several runs are common: a log to which another was
/// appended, or a trace with a process for each point.
struct Log {
  std::vector<LoggedRun> runs;  ///< Each has at least one program or host op.
  DroppedRows dropped;
  std::vector<std::string> notes;  ///< What the user must know: "the file ends within a row".
};

/// At most this many programs of one log are kept, which is a gigabyte or two of its text. Rows
/// beyond are counted as dropped, so memory has a bound whatever the size of the file (10 GB of an
/// ops CSV as one run: 260 MB).
inline constexpr std::size_t kMostLoggedPrograms = 2'000'000;

/// Removes what cannot have happened (`defects_of`) and counts it, also as losses.
void remove_defects(Timeline& timeline, DroppedRows& dropped);

}  // namespace howard::profiler
