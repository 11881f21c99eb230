// SPDX-License-Identifier: Apache-2.0
#include "engines/chip/kernels/elementwise/elementwise.h"
#include "engines/chip/kernels/plan/plans.h"

namespace howard::chip {
PlannedProgram plan(const DropoutAttributes&, const Program& program, CoreGrid grid,
                    const Profiles& profiles) {
  Program tiles = program;
  // The offset of the seed is one number, not a tile for each tile.
  tiles.inputs = {program.inputs[0]};
  return plan_tile_for_tile(tiles, profiles.software.tiles.random, grid, profiles);
}

}  // namespace howard::chip
