// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engines/wormhole/planned_program.h"

namespace howard::wormhole {

// How ttnn splits its ops on tiles over the cores, and what they cost. Work units (tiles, tile rows
// or tile columns) are dealt out evenly; the first cores get one more where they do not divide, and
// the busiest core decides.

PlannedProgram plan_eltwise(const Program& program, const EltwiseAttributes& attributes,
                            CoreGrid grid, const Profiles& profiles);

PlannedProgram plan_reduce(const Program& program, const ReduceAttributes& attributes,
                           CoreGrid grid, const Profiles& profiles);

PlannedProgram plan_transpose(const Program& program, CoreGrid grid, const Profiles& profiles);

}  // namespace howard::wormhole
