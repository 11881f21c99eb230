// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/sim_time.h"
#include "base/units.h"
#include "engines/chip/memory/dram_sharing.h"

namespace howard::chip {

struct PlannedProgram;

/// The costs of a program on its way through the chip. They are decided when it is enqueued or
/// captured.
struct Launch {
  SimTime dispatch;  ///< The time to prefetch it and write its configuration to the cores.
  SimTime go;  ///< The time from the end of all cores of the sub-device to its first kernel start.
  /// The time from the first kernel start to the last kernel end, when alone on the chip.
  SimTime kernel;
  /// The part of each core's configuration ring it takes until its kernel has ended.
  Bytes configuration;
  DramShare dram_share = 0;  ///< The part of the DRAM's bandwidth it takes when it runs alone.
  int sub_device = 0;        ///< The sub-device on whose cores it runs.
  const PlannedProgram* planned = nullptr;  ///< For observers; it outlives the simulation.
};

/// Says when a launch happened.
struct LaunchTimes {
  SimTime dispatch_start, dispatch_end;
  SimTime kernel_start, kernel_end;
};

}  // namespace howard::chip
