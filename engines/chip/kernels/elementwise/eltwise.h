// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engines/chip/kernels/planner.h"

namespace howard::chip {

// These kernels take one tile in a step: elementwise ops, reductions, and transpositions within
// tiles. tile_pipeline.h computes their cost.

/// Returns the time for a tile of the function, of those that follow it on the same registers, and
/// of those that an operand goes through before, which unpack and pack it once more. A relu that
/// alone follows a function of several values is done by the packer and takes no time.
SimTime eltwise_math_time(const EltwiseAttributes& attributes, const TileCosts& cost);
/// Returns the time that the function takes beyond a copy, for a tile that is in the registers
/// already.
SimTime fused_math_time(Eltwise function, const TileCosts& cost);
/// Returns the time to fill a tile with a scalar, before the first step.
SimTime scalar_tile_time(const SoftwareProfile& software);

PlannedProgram plan_eltwise(const Program& program, const EltwiseAttributes& attributes,
                            CoreGrid grid, const Profiles& profiles);

/// Plans the multiplication with the random numbers that it needs.
PlannedProgram plan_dropout(const Program& program, CoreGrid grid, const Profiles& profiles);

/// Plans TTML's kernel, which is one launch.
PlannedProgram plan_gelu_backward(const Program& program, CoreGrid grid, const Profiles& profiles);

/// Plans MorehAdamW, which reads four tensors and writes three.
PlannedProgram plan_adamw(const Program& program, const AdamWAttributes& attributes, CoreGrid grid,
                          const Profiles& profiles);

/// Plans a reduction along columns, rows or the batch.
PlannedProgram plan_reduce(const Program& program, const ReduceAttributes& attributes,
                           CoreGrid grid, const Profiles& profiles);

/// Plans the swap of rows and columns, in which tiles change places and are transposed.
PlannedProgram plan_transpose(const Program& program, CoreGrid grid, const Profiles& profiles);

}  // namespace howard::chip
