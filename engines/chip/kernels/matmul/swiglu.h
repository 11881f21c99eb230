// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engines/chip/kernels/plan/planned_program.h"
#include "engines/chip/profiles/profile.h"
#include "engines/program/program.h"

namespace howard::chip {

/// Plans TTML's swiglu_fw, which deals out the rows of tiles of x. A core streams all three weights
/// for each of its rows and shares what it reads with nobody, four tiles at a time; products have
/// HiFi4. The hidden row stays in L1. If it does not fit beside the row of x, the core computes it
/// again for every four columns of the result.
PlannedProgram plan_swiglu(const Program& program, CoreGrid grid, const Profiles& profiles);

}  // namespace howard::chip
