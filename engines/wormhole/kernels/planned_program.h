// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>

#include "base/program_facts.h"
#include "engines/device/program.h"
#include "engines/wormhole/dispatch/footprint.h"
#include "engines/wormhole/dispatch/launch.h"
#include "engines/wormhole/kernels/kernel_cost.h"
#include "engines/wormhole/kernels/matmul_planner.h"
#include "engines/wormhole/profiles/profile.h"

namespace howard::wormhole {

/// One launch as the chip will run it: planned, and with its price at every stage.
struct PlannedProgram {
  std::string_view name;
  Footprint footprint;
  KernelCost kernel;
  std::optional<MatmulPlan> matmul;  ///< Of a matrix product.
  ProgramFacts facts;                ///< For logs.
};

/// L1 that its circular buffers take of each core.
Bytes circular_buffer_bytes(const PlannedProgram& planned);

/// Plans `program`, one of those that lower() gives, on a compute grid of `grid`.
PlannedProgram plan_program(const Program& program, CoreGrid grid, const Profiles& profiles);

/// What the simulation needs of it. `planned` must outlive the simulation.
Launch launch_of(const PlannedProgram& planned, DispatchCoreType type, const Profiles& profiles);

}  // namespace howard::wormhole
