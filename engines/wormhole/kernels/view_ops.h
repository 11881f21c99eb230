// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engines/wormhole/kernels/planned_program.h"

namespace howard::wormhole {

// Kernels that move parts of tensors: whole tiles one by one, rows of row-major tensors, or the
// lines of faces where the rows of a tile go to different tiles.

/// Whether ttnn slices the tiles as they are; it brings other slices into rows and back first.
bool slices_whole_tiles(const Program& program, const SliceAttributes& attributes);

PlannedProgram plan_slice(const Program& program, CoreGrid grid, const Profiles& profiles);
/// Rows that are written into a cache: whole tiles as they are. Other rows, as ttnn's update_cache
/// does it: a core reads the tiles of a head's rows and of the cache's, untilizes both, replaces
/// the rows, tilizes and writes. By analogy: no measurement of it is known.
PlannedProgram plan_write_rows(const Program& program, CoreGrid grid, const Profiles& profiles);
PlannedProgram plan_pad(const Program& program, CoreGrid grid, const Profiles& profiles);
PlannedProgram plan_permute(const Program& program, const PermuteAttributes& attributes,
                            CoreGrid grid, const Profiles& profiles);

}  // namespace howard::wormhole
