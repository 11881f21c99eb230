// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/sim_time.h"
#include "base/units.h"
#include "engines/chip/profiles/profile.h"

namespace howard::chip {

/// Says what the host has to send to the chip for one program. This determines the cost of
/// dispatching.
struct Footprint {
  int cores = 1;          ///< The number of cores that run it.
  int kernel_groups = 1;  ///< The number of sets of cores with different binaries.
  int binaries = 1;  ///< The binaries of one group: BRISC, NCRISC and three for the compute RISCs.
  Bytes binary_bytes;  ///< The size of all binaries of one group together.
  int circular_buffers = 0;
  int circular_buffer_groups = 1;  ///< The number of sets of cores with different circular buffers.
  int semaphores = 0;
  int unique_arguments = 0;  ///< Words for each core, for all its kernels together.
  int common_arguments = 0;  ///< Words for each kernel group.
};

/// Returns the time that the dispatcher needs to prefetch and to write the configuration.
///
/// Everything that is written to the cores shares one stream of bytes. In addition, each launch
/// message, binary, group and core with arguments of its own has a fixed cost. (For the method and
/// its errors see docs/method/dispatch.md, "Dispatch".)
SimTime dispatch_time(const Footprint& footprint, DispatchCoreType type,
                      const SoftwareProfile& software);

/// Returns the time from the last core's completion to the program's first kernel start: counting
/// completions, the go signal and the firmware's set-up on each core.
SimTime go_time(const Footprint& footprint, const SoftwareProfile& software,
                DispatchCoreType type = DispatchCoreType::worker);

/// Returns how much of the trace region the program occupies once captured: its data in whole
/// pages. Its binaries are already in DRAM and are only referred to.
Bytes trace_bytes(const Footprint& footprint, const SoftwareProfile& software);

/// Returns what is left to dispatch of a program whose binaries the cores still have.
Footprint without_binaries(Footprint footprint);

/// Returns how much of a core's configuration ring the program occupies.
Bytes configuration_bytes(const Footprint& footprint);

}  // namespace howard::chip
