// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engines/chip/kernels/plan/planned_program.h"
#include "engines/chip/profiles/profile.h"
#include "engines/program/program.h"

namespace howard::chip {

/// Plans the multiplication with the random numbers that it needs.
PlannedProgram plan_dropout(const Program& program, CoreGrid grid, const Profiles& profiles);

/// Plans MorehAdamW, which reads four tensors and writes three.
PlannedProgram plan_adamw(const Program& program, const AdamWAttributes& attributes, CoreGrid grid,
                          const Profiles& profiles);

/// Plans TTML's SGD of 2026, which deals rows of tiles out although it needs no whole row.
PlannedProgram plan_sgd(const Program& program, const SgdAttributes& attributes, CoreGrid grid,
                        const Profiles& profiles);

}  // namespace howard::chip
