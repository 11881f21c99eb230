// SPDX-License-Identifier: Apache-2.0
#include "engines/chip/kernels/rows/rows.h"

#include "engines/chip/kernels/elementwise/elementwise.h"

namespace howard::chip {
namespace {

// The numbers of passes over a row of tiles follow from what the kernels do.
constexpr std::int64_t kSoftmaxPasses = 4;          // maximum; difference and exp; sum; product
constexpr std::int64_t kSoftmaxBackwardPasses = 4;  // y dy; sum; difference; product

}  // namespace

PlannedProgram plan_softmax(const Program& program, CoreGrid grid, const Profiles& profiles) {
  const TileCosts& cost = profiles.software.tiles;
  return plan_rows(
      program,
      {.reads = {1, 1},
       .writes = {1, 1},
       .math = kSoftmaxPasses * cost.pass + eltwise_math_time({.function = Eltwise::exp}, cost),
       .per_row = cost.softmax_row,
       .set_up = cost.softmax_start},
      grid, profiles);
}

PlannedProgram plan_softmax_backward(const Program& program, CoreGrid grid,
                                     const Profiles& profiles) {
  return plan_rows(program,
                   {.reads = {2, 1},
                    .writes = {1, 1},
                    .math = kSoftmaxBackwardPasses * profiles.software.tiles.pass},
                   grid, profiles);
}

}  // namespace howard::chip
