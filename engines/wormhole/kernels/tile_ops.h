// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engines/wormhole/kernels/planned_program.h"

namespace howard::wormhole {

// Kernels whose step is a tile: elementwise ops, reductions and transpositions within tiles, and
// what they cost (tile_pipeline.h).

/// What the matrix or the vector unit needs for one tile of the result.
SimTime eltwise_math_time(const EltwiseAttributes& attributes, const TileCosts& cost);

PlannedProgram plan_eltwise(const Program& program, const EltwiseAttributes& attributes,
                            CoreGrid grid, const Profiles& profiles);

/// Random numbers beside the product.
PlannedProgram plan_dropout(const Program& program, CoreGrid grid, const Profiles& profiles);

/// TTML's kernel of one launch.
PlannedProgram plan_gelu_backward(const Program& program, CoreGrid grid, const Profiles& profiles);

/// MorehAdamW: four tensors in, three out.
PlannedProgram plan_adamw(const Program& program, CoreGrid grid, const Profiles& profiles);

/// Along columns, rows or the batch.
PlannedProgram plan_reduce(const Program& program, const ReduceAttributes& attributes,
                           CoreGrid grid, const Profiles& profiles);

/// Rows and columns swapped: tiles change places and are transposed.
PlannedProgram plan_transpose(const Program& program, CoreGrid grid, const Profiles& profiles);

}  // namespace howard::wormhole
