// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engines/wormhole/kernels/planned_program.h"

namespace howard::wormhole {

// Kernels that move data and compute little or nothing: what they cost is requests, barriers and
// copying by RISCs.

/// Dimension 1 and the rows swapped: each row of each tile goes to another tile, face by face.
PlannedProgram plan_transpose_heads(const Program& program, CoreGrid grid,
                                    const Profiles& profiles);

/// Another shape in tile layout: each output tile is put together from the tiles its rows are in.
PlannedProgram plan_reshape(const Program& program, CoreGrid grid, const Profiles& profiles);

/// Tilize and untilize: a core takes 32 rows at a time.
PlannedProgram plan_layout(const Program& program, CoreGrid grid, const Profiles& profiles);

/// Whole tiles to other places; `units` are dealt out over the cores, equal numbers of tiles each.
PlannedProgram plan_move_tiles(const Program& program, std::int64_t units, CoreGrid grid,
                               const Profiles& profiles);

/// More heads than there were: each row of a row-major tensor is read once and written as often as
/// they are more, a barrier each.
PlannedProgram plan_repeat(const Program& program, CoreGrid grid, const Profiles& profiles);

/// A row of the table for each index, one after the other, tilized 32 at a time.
PlannedProgram plan_embedding(const Program& program, CoreGrid grid, const Profiles& profiles);

/// The gradient of the table. Its time assumes indices spread over the table: it does not know
/// them.
PlannedProgram plan_embedding_backward(const Program& program, CoreGrid grid,
                                       const Profiles& profiles);

}  // namespace howard::wormhole
