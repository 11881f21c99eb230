// SPDX-License-Identifier: Apache-2.0
#include "engines/chip/kernels/plan/plans.h"
#include "engines/chip/kernels/rows/rows.h"

namespace howard::chip {
PlannedProgram plan(const SgdAttributes& attributes, const Program& program, CoreGrid grid,
                    const Profiles& profiles) {
  // The gradient times the rate, and the difference; decay, momentum and nesterov each add a number
  // times a tensor.
  const std::int64_t passes = 2 + std::int64_t{attributes.weight_decay != 0} +
                              std::int64_t{attributes.momentum != 0} +
                              std::int64_t{attributes.nesterov};
  return plan_rows(program,
                   {.reads = {std::ssize(program.inputs), 1},
                    .writes = {std::ssize(program.outputs), 1},
                    .math = passes * profiles.software.tiles.pass},
                   grid, profiles);
}

}  // namespace howard::chip
