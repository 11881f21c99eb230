// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "engines/chip/kernels/plan/launch.h"
#include "engines/chip/kernels/plan/planned_program.h"
#include "engines/chip/profiles/profile.h"
#include "engines/program/program.h"

namespace howard::chip {

/// Plans `program`, which lower() must have returned, on the cores of `grid`. `matmul` is its plan
/// if lower() has made it.
PlannedProgram plan_program(Program program, CoreGrid grid, const Profiles& profiles,
                            const std::optional<MatmulPlan>& matmul = {});

/// Returns what the simulation needs to know of `planned`, which must outlive the simulation.
Launch launch_of(const PlannedProgram& planned, DispatchCoreType type, const Profiles& profiles);

/// Makes it a launch of a program whose binaries the cores still have.
void leave_out_binaries(Launch& launch, DispatchCoreType type, const SoftwareProfile& software);

}  // namespace howard::chip
