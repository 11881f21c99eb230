// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engines/chip/kernels/plan/planned_program.h"
#include "engines/chip/profiles/profile.h"

namespace howard::chip {

/// Plans ttnn's minimal_matmul. M is dealt out over the rows of the grid and N over its columns, or
/// the other way round if M is larger. The first core of a line reads a block from DRAM and hands
/// it to the next one, which hands it on; every core computes on what it has. The times come from
/// that chain, core by core and block by block. Throws Error when the grid is smaller than 2x2.
PlannedProgram plan_minimal_matmul(const Program& program,
                                   const MinimalMatmulAttributes& attributes, CoreGrid grid,
                                   const Profiles& profiles);

}  // namespace howard::chip
