// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/sim_time.h"
#include "base/units.h"
#include "engines/wormhole/profiles/profile.h"

namespace howard::wormhole {

/// What the host has to send to the chip for one program: what dispatching it costs.
struct Footprint {
  int cores = 1;          ///< That run it.
  int kernel_groups = 1;  ///< Sets of cores with different binaries.
  int binaries = 1;       ///< Of one group: BRISC, NCRISC and three for the compute RISCs.
  Bytes binary_bytes;     ///< Of one group, all its binaries together.
  int circular_buffers = 0;
  int circular_buffer_groups = 1;  ///< Sets of cores with different circular buffers.
  int semaphores = 0;
  int unique_arguments = 0;  ///< Words a core, of all its kernels together.
  int common_arguments = 0;  ///< Words a kernel group.
};

/// Prefetch and writing the configuration, by the dispatcher.
///
/// Everything that is written to the cores shares one stream of bytes; beside it each launch
/// message, binary, group and core with arguments of its own has a price. (Method and errors:
/// docs/method.md, "Dispatch".)
SimTime dispatch_time(const Footprint& footprint, DispatchCoreType type,
                      const SoftwareProfile& software);

/// From the last core done to the program's first kernel start: counting completions, the go signal
/// and the firmware's set-up on each core.
SimTime go_time(const Footprint& footprint, const SoftwareProfile& software,
                DispatchCoreType type = DispatchCoreType::worker);

/// What it occupies of the trace region once captured: its data in whole pages. Binaries are in
/// DRAM already and only referred to.
Bytes trace_bytes(const Footprint& footprint, const SoftwareProfile& software);

/// What it occupies of a core's configuration ring.
Bytes configuration_bytes(const Footprint& footprint);

}  // namespace howard::wormhole
