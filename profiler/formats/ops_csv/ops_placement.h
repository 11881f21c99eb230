// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "base/units.h"
#include "profiler/formats/log.h"
#include "profiler/formats/ops_csv/ops_order.h"

namespace howard::profiler {

/// Holds what is known of a device when its kernels are placed.
struct PlacedDevice {
  std::uint16_t id = 0;
  Frequency clock;
  int worker_cores = 0;            ///< 0: not known.
  bool knows_sub_devices = false;  ///< The ops say which sub-device they ran on.
  bool knows_starts = true;        ///< Else kernels are placed one after the other.
  bool keeps_host_ids = false;     ///< `LoggedRun::host_ids` is filled.
  std::int64_t host_origin = 0;    ///< Host times are counted from it, in nanoseconds.
};

/// Appends the kernels of a device to the programs of `run`; `ops`, which is in order by starts, is
/// emptied. The file has no kernel's start: kernels are placed within their firmware's span so that
/// the distances between them are those of the op-to-op column. Host times become `host_call`, on
/// the host's clock.
///
/// What cannot have happened is left out, and counted as dropped: firmware that took another time
/// than its cycles, a kernel that outlasts its firmware, one that ran on while a later one began,
/// or two later ones began and ended, on cores of which there are too few, and one that took a
/// thousand times the median of its call. So is a row that is there twice. An op-to-op latency that
/// the cycles contradict is not used.
void place_kernels(LoggedOps& ops, const PlacedDevice& device, LoggedRun& run, Log& log);

}  // namespace howard::profiler
