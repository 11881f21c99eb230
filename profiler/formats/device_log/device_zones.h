// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/sim_time.h"
#include "profiler/timeline.h"

namespace howard::profiler {

struct Log;
struct LoggedRun;

/// Holds what the cores of a program spent in one zone of a device log: the kernel of a RISC
/// ("BRISC-KERNEL"), a zone of the kernel's author, or what the compute kernel waited for
/// ("CB-COMPUTE-WAIT-FRONT", "CB-COMPUTE-RESERVE-BACK").
struct ZoneTime {
  std::string risc;  ///< "BRISC", "NCRISC", "TRISC_0" to "TRISC_2", "ERISC".
  std::string zone;
  double entries = 0;  ///< The number of times that it was entered, over all cores.
  SimTime time;        ///< The sum over all cores.
  SimTime longest;     ///< The longest of one core.

  /// Returns whether it is the whole kernel of a RISC.
  bool is_kernel() const { return zone.ends_with("-KERNEL"); }
};

/// Holds the zones of a program of a device log, summed over its runs: a trace runs a program
/// again with each replay.
struct ProgramZones {
  std::uint16_t device = 0;
  std::uint32_t host_id = 0;  ///< The run host ID, which an ops CSV calls GLOBAL CALL COUNT.
  std::uint64_t runs = 0;
  SimTime time;                 ///< The kernels of all runs, from the first start to the last end.
  std::vector<ZoneTime> zones;  ///< They are sorted by RISC, then by zone.
};

/// Holds how long a core of a device log was busy.
struct CoreTime {
  std::uint16_t device = 0;
  std::int32_t x = 0, y = 0;  ///< As the log has them.
  SimTime busy;               ///< The kernels of the RISC that was busy longest.
};

/// Holds the zones of the programs of one op.
struct OpZones {
  NameId name = 0;
  std::uint64_t programs = 0;   ///< Its programs whose zones are known.
  SimTime time;                 ///< Their kernels.
  std::vector<ZoneTime> zones;  ///< The sums over these programs; sorted as above.
  /// What one entry of each zone takes in the mean, summed over the programs: those on many cores
  /// count no more than others.
  std::vector<SimTime> means;
};

/// Returns the zones of a run by op, the largest kernel time first. Each program has the mean of
/// its runs in the device log.
std::vector<OpZones> zones_by_op(const LoggedRun& run);

/// Adds the zones and the cores of a device log to the log of an ops CSV of the same run, whose
/// `host_ids` were read: the first run's to the first run, and so on. Notes say which part of the
/// programs has zones, and that the files are of different runs, where kernels take other times.
/// `name` is the device log's. Throws Error if no program of one is in the other.
void add_zones(Log& ops, Log device_log, const std::string& name);

}  // namespace howard::profiler
