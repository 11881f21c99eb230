// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engines/chip/kernels/pipeline/tile_pipeline.h"
#include "engines/chip/kernels/plan/work_split.h"
#include "engines/chip/kernels/planner.h"

namespace howard::chip {

// These kernels move data and compute little or nothing. Their cost is requests, barriers and
// copying by RISCs.

/// Plans a program whose cores go through `pipeline`, with its steps dealt out as `work` says. The
/// caller gives the steps of the busiest core if they are not those of `work`, and neither the
/// cores nor the last write: nothing of the last step's writing is hidden.
PlannedProgram plan_steps(const Program& program, const WorkSplit& work, StepPipeline pipeline,
                          CoreGrid grid, const Profiles& profiles, int circular_buffers = 4);

/// Swaps dimension 1 and the rows: each row of each tile goes to another tile, face by face.
PlannedProgram plan_transpose_heads(const Program& program, CoreGrid grid,
                                    const Profiles& profiles);

/// Changes the shape in tile layout: each output tile is put together from the tiles that hold its
/// rows.
PlannedProgram plan_reshape(const Program& program, CoreGrid grid, const Profiles& profiles);

/// Tilizes or untilizes: a core takes 32 rows at a time.
PlannedProgram plan_layout(const Program& program, CoreGrid grid, const Profiles& profiles);

/// Copies whole tiles to other places. The cores share `units`, which have equal numbers of tiles.
PlannedProgram plan_move_tiles(const Program& program, std::int64_t units, CoreGrid grid,
                               const Profiles& profiles);

/// Plans the repetition of heads: each row of a row-major tensor is read once and written as often
/// as there are copies, with a barrier each.
PlannedProgram plan_repeat(const Program& program, CoreGrid grid, const Profiles& profiles);

/// Plans the look-up of a row of the table for each index, one after the other, tilized 32 at a
/// time.
PlannedProgram plan_embedding(const Program& program, CoreGrid grid, const Profiles& profiles);

/// Computes the gradient of the table. The planner does not know the indices; its time assumes that
/// they are spread over the table.
PlannedProgram plan_embedding_backward(const Program& program, CoreGrid grid,
                                       const Profiles& profiles);

}  // namespace howard::chip
