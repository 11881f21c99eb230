// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engines/chip/kernels/plan/planned_program.h"
#include "engines/chip/profiles/profile.h"
#include "engines/program/program.h"

namespace howard::chip {

// Products that exchange their operand or their result while they compute, in one program. The
// shares of the chips are the stages of a pipeline of links and cores. Throws Error, with ttnn's
// reason, for a program_config that ttnn refuses.

/// A chip's own share of A is there at once; it multiplies the others as they come.
PlannedProgram plan_all_gather_matmul(const Program& program,
                                      const AllGatherMatmulAttributes& attributes, CoreGrid grid,
                                      const Profiles& profiles);

/// A share of the product leaves as soon as it is computed; nothing hides the way of the last one.
PlannedProgram plan_matmul_reduce_scatter(const Program& program,
                                          const MatmulReduceScatterAttributes& attributes,
                                          CoreGrid grid, const Profiles& profiles);

}  // namespace howard::chip
