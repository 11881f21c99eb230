// SPDX-License-Identifier: Apache-2.0
#include "engines/chip/kernels/elementwise/elementwise.h"
#include "engines/chip/kernels/plan/plans.h"

namespace howard::chip {
PlannedProgram plan(const AdamWAttributes& attributes, const Program& program, CoreGrid grid,
                    const Profiles& profiles) {
  // Each option is further short steps of the same kernel: a maximum; the four sums of a
  // compensation; a random number for each element and its sum. Nobody has published their times.
  const TileCosts& cost = profiles.software.tiles;
  const SimTime sum = fused_math_time(Eltwise::add, cost);
  SimTime math = cost.adamw;
  if (attributes.amsgrad) math += fused_math_time(Eltwise::maximum, cost);
  if (attributes.kahan) math += 4 * sum;
  if (attributes.rounding_seed) math += cost.random + sum;
  return plan_tile_for_tile(program, math, grid, profiles);
}

}  // namespace howard::chip
