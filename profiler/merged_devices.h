// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string_view>
#include <vector>

#include "base/sim_time.h"
#include "profiler/timeline.h"

namespace howard::profiler {

/// Holds an op of several devices that ran the same programs, as one device would have it.
struct MergedOp {
  NameId name = 0;
  std::uint64_t runs = 0;   ///< Those that all devices have.
  bool collective = false;  ///< Devices wait for each other within it.
  /// The sum over its runs of the longest time of the devices; for a collective, of their mean
  /// time, because the device that comes last waits least.
  SimTime time;
  SimTime shortest;    ///< The sum of the shortest of the devices.
  SimTime worst_skew;  ///< The most by which the devices' starts of one run lie apart.
};

/// Holds what several devices did together.
struct MergedDevices {
  std::size_t devices = 0;
  std::vector<MergedOp> ops;    ///< They are sorted by time, the largest first.
  std::uint64_t unmatched = 0;  ///< Programs that not all devices have.
  SimTime time;                 ///< The sum over the ops.
  /// The distances between the devices' starts of one program, over all programs. Each start is
  /// counted from the device's first matched program, because the devices' clocks do not begin
  /// together.
  SimTime median_skew, worst_skew;
};

/// Returns whether the op of that name is a collective: devices exchange data within it.
bool is_collective(std::string_view name);

/// Holds the runs of one op on each device, in the order in which they started. The k-th runs of
/// all devices belong together, on however many cores each of them ran.
using DeviceRuns = std::map<std::uint16_t, std::vector<const ProgramRun*>>;
std::map<NameId, DeviceRuns> runs_by_op(const Timeline& timeline);

/// Matches the programs of a timeline's devices: the k-th run of an op on one device with the k-th
/// on the others. Skews are zero unless `knows_starts`. There are no ops with fewer than two
/// devices.
MergedDevices merge_devices(const Timeline& timeline, bool knows_starts);

}  // namespace howard::profiler
