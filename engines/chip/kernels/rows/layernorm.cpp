// SPDX-License-Identifier: Apache-2.0
#include "engines/chip/kernels/rows/rows.h"

#include "engines/chip/kernels/plan/plans.h"

namespace howard::chip {
PlannedProgram plan(const LayernormAttributes& attributes, const Program& program, CoreGrid grid,
                    const Profiles& profiles) {
  const std::int64_t passes = kLayernormPasses + (attributes.sums ? 1 : 0);
  return plan_rows(
      program,
      {.reads = {1, 1},
       .writes = {1, 1},
       .math = passes * pass_time(attributes.fp32_accumulation, profiles.software.tiles),
       .gathers = 2},  // the mean, then the variance
      grid, profiles);
}

PlannedProgram plan(const TtmlLayernormAttributes&, const Program& program, CoreGrid grid,
                    const Profiles& profiles) {
  return plan_rows(
      program, {.reads = {1, 1}, .writes = {1, 1}, .math = profiles.software.tiles.ttml_layernorm},
      grid, profiles);
}

PlannedProgram plan(const LayernormBackwardAttributes&, const Program& program, CoreGrid grid,
                    const Profiles& profiles) {
  // The kernel reads x and dy and writes dx and two components; it has about twice the arithmetic
  // of the forward pass.
  return plan_rows(
      program,
      {.reads = {2, 1}, .writes = {3, 1}, .math = 2 * profiles.software.tiles.ttml_layernorm}, grid,
      profiles);
}

}  // namespace howard::chip
