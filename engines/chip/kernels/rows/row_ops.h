// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engines/chip/kernels/planner.h"

namespace howard::chip {

// These kernels need a whole row of tiles before they can write the first tile of it. The cores
// share the rows of tiles: a core reads a row once, keeps it in L1 and passes over it several
// times. The math time of the passes is a constant per tile.

/// Plans ttnn's softmax along the columns.
PlannedProgram plan_softmax(const Program& program, CoreGrid grid, const Profiles& profiles);
/// Plans moreh_softmax_backward.
PlannedProgram plan_softmax_backward(const Program& program, CoreGrid grid,
                                     const Profiles& profiles);

/// Plans ttnn's layernorm, or TTML's if the statistics are asked for.
PlannedProgram plan_layernorm(const Program& program, CoreGrid grid, const Profiles& profiles);
PlannedProgram plan_layernorm_backward(const Program& program, CoreGrid grid,
                                       const Profiles& profiles);

/// These plan TTML's kernels.
PlannedProgram plan_cross_entropy(const Program& program, CoreGrid grid, const Profiles& profiles);
PlannedProgram plan_cross_entropy_backward(const Program& program, CoreGrid grid,
                                           const Profiles& profiles);
PlannedProgram plan_nll_loss(const Program& program, CoreGrid grid, const Profiles& profiles);
PlannedProgram plan_nll_loss_backward(const Program& program, CoreGrid grid,
                                      const Profiles& profiles);

/// Plans TTML's SGD of 2026, which deals rows of tiles out although it needs no whole row.
PlannedProgram plan_sgd(const Program& program, const SgdAttributes& attributes, CoreGrid grid,
                        const Profiles& profiles);

}  // namespace howard::chip
