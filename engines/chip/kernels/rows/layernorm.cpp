// SPDX-License-Identifier: Apache-2.0
#include "engines/chip/kernels/rows/rows.h"

namespace howard::chip {
PlannedProgram plan_layernorm(const Program& program, const LayernormAttributes& attributes,
                              CoreGrid grid, const Profiles& profiles) {
  const std::int64_t passes = kLayernormPasses + (attributes.sums ? 1 : 0);
  return plan_rows(
      program,
      {.reads = {1, 1},
       .writes = {1, 1},
       .math = passes * pass_time(attributes.fp32_accumulation, profiles.software.tiles),
       .gathers = 2},  // the mean, then the variance
      grid, profiles);
}

PlannedProgram plan_ttml_layernorm(const Program& program, CoreGrid grid,
                                   const Profiles& profiles) {
  return plan_rows(
      program, {.reads = {1, 1}, .writes = {1, 1}, .math = profiles.software.tiles.ttml_layernorm},
      grid, profiles);
}

PlannedProgram plan_layernorm_backward(const Program& program, CoreGrid grid,
                                       const Profiles& profiles) {
  // The kernel reads x and dy and writes dx and two components; it has about twice the arithmetic
  // of the forward pass.
  return plan_rows(
      program,
      {.reads = {2, 1}, .writes = {3, 1}, .math = 2 * profiles.software.tiles.ttml_layernorm}, grid,
      profiles);
}

}  // namespace howard::chip
