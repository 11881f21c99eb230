// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "base/sim_time.h"
#include "base/units.h"

namespace howard::wormhole {

struct PlannedProgram;

/// DRAM bandwidth in millionths of what the chip can deliver: an integer, so that sharing it among
/// programs gives the same picoseconds everywhere.
using DramShare = std::int64_t;
inline constexpr DramShare kAllOfDram = 1'000'000;

/// What a program costs on its way through the chip, decided when it is enqueued or captured.
struct Launch {
  SimTime dispatch;          ///< Prefetch and writing its configuration to the cores.
  SimTime go;                ///< All cores of the sub-device done to its first kernel start.
  SimTime kernel;            ///< First kernel start to last kernel end, alone on the chip.
  Bytes configuration;       ///< Of each core's configuration ring, until its kernel has ended.
  DramShare dram_share = 0;  ///< What it takes of the DRAM's bandwidth while it runs alone.
  int sub_device = 0;        ///< Whose cores it runs on.
  const PlannedProgram* planned = nullptr;  ///< For observers; outlives the simulation.
};

/// When it happened.
struct LaunchTimes {
  SimTime dispatch_start, dispatch_end;
  SimTime kernel_start, kernel_end;
};

}  // namespace howard::wormhole
