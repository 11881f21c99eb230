// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>

#include "base/program_facts.h"
#include "engines/chip/kernels/matmul/matmul_planner.h"
#include "engines/chip/kernels/plan/footprint.h"
#include "engines/chip/kernels/plan/kernel_cost.h"
#include "engines/chip/kernels/plan/launch.h"
#include "engines/chip/profiles/profile.h"
#include "engines/device/program.h"

namespace howard::chip {

/// One launch as the chip will run it: planned, with its cost at every stage.
struct PlannedProgram {
  std::string_view name;
  Footprint footprint;
  KernelCost kernel;
  std::optional<MatmulPlan> matmul;  ///< Only for a matrix product.
  ProgramFacts facts;                ///< Used by logs.
};

/// Returns the L1 that its circular buffers take on each core.
Bytes circular_buffer_bytes(const PlannedProgram& planned);

/// Plans `program`, which lower() must have returned, on the cores of `grid`.
PlannedProgram plan_program(const Program& program, CoreGrid grid, const Profiles& profiles);

/// Returns what the simulation needs to know of `planned`, which must outlive the simulation.
Launch launch_of(const PlannedProgram& planned, DispatchCoreType type, const Profiles& profiles);

}  // namespace howard::chip
