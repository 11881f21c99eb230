// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engines/wormhole/kernels/planned_program.h"

namespace howard::wormhole {

// Kernels that need a whole row of tiles before they can write the first of it. Rows of tiles are
// what is dealt out: a core reads a row once, keeps it in L1 and passes over it several times; how
// many passes there are is the structure of the kernel, and what a tile takes of one is a constant.

/// ttnn's softmax along the columns.
PlannedProgram plan_softmax(const Program& program, CoreGrid grid, const Profiles& profiles);
/// moreh_softmax_backward.
PlannedProgram plan_softmax_backward(const Program& program, CoreGrid grid,
                                     const Profiles& profiles);

/// ttnn's layernorm; TTML's where the statistics are asked for.
PlannedProgram plan_layernorm(const Program& program, CoreGrid grid, const Profiles& profiles);
PlannedProgram plan_layernorm_backward(const Program& program, CoreGrid grid,
                                       const Profiles& profiles);

/// TTML's kernels.
PlannedProgram plan_cross_entropy(const Program& program, CoreGrid grid, const Profiles& profiles);
PlannedProgram plan_cross_entropy_backward(const Program& program, CoreGrid grid,
                                           const Profiles& profiles);

}  // namespace howard::wormhole
