// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engines/chip/kernels/planner.h"

namespace howard::chip {

// These kernels move parts of tensors: whole tiles one by one, rows of row-major tensors, or the
// lines of faces if the rows of a tile go to different tiles.

/// Says whether ttnn slices the tiles as they are. It brings other slices into rows and back.
bool slices_whole_tiles(const Program& program, const SliceAttributes& attributes);

PlannedProgram plan_slice(const Program& program, CoreGrid grid, const Profiles& profiles);
/// Plans rows that are written into a cache. Whole tiles are moved as they are. For other rows, as
/// in ttnn's update_cache, a core reads the tiles of a head's rows and of the cache's, untilizes
/// both, replaces the rows, tilizes and writes. The latter is by analogy: no measurement of it is
/// known.
PlannedProgram plan_write_rows(const Program& program, CoreGrid grid, const Profiles& profiles);
PlannedProgram plan_pad(const Program& program, CoreGrid grid, const Profiles& profiles);
PlannedProgram plan_permute(const Program& program, const PermuteAttributes& attributes,
                            CoreGrid grid, const Profiles& profiles);

}  // namespace howard::chip
