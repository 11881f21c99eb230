// SPDX-License-Identifier: Apache-2.0
#include "engines/chip/kernels/rows/rows.h"

#include "engines/chip/kernels/elementwise/elementwise.h"
#include "engines/chip/kernels/plan/plans.h"

namespace howard::chip {
namespace {

// The numbers of passes over a row of tiles follow from what the kernels do.
constexpr std::int64_t kSoftmaxBackwardPasses = 4;  // y dy; sum; difference; product

/// Each row is added up and divided. Before that come the maximum and the difference, with the
/// exponential, or the exponential alone. Scaling is a pass, and adding a mask is one where the
/// exponential cannot follow it at once.
std::int64_t softmax_passes(const SoftmaxAttributes& attributes) {
  constexpr std::int64_t kSumAndProduct = 2;
  const std::int64_t each = attributes.stable ? 2 : 1;
  return kSumAndProduct + each * (attributes.masked ? 2 : 1);
}

}  // namespace

PlannedProgram plan(const SoftmaxAttributes& attributes, const Program& program, CoreGrid grid,
                    const Profiles& profiles) {
  const TileCosts& cost = profiles.software.tiles;
  const TensorSpec& x = program.inputs[0].spec;
  // A RISC makes a mask of the columns that fill up the last tile; else it only makes the scaler.
  const bool is_masked = !stay_in_shards(program) && x.shape.columns() % kTileSide != 0;
  const SimTime exp = attributes.approximate ? profiles.software.attention.exp
                                             : eltwise_math_time({.function = Eltwise::exp}, cost);
  return plan_rows(
      program,
      {.reads = {1, 1},
       .writes = {1, 1},
       .math = softmax_passes(attributes) * pass_time(attributes.fp32_accumulation, cost) + exp,
       .per_row = cost.softmax_row,
       .set_up = is_masked ? cost.softmax_start : scalar_tile_time(profiles.software)},
      grid, profiles);
}

PlannedProgram plan(const SoftmaxBackwardAttributes&, const Program& program, CoreGrid grid,
                    const Profiles& profiles) {
  return plan_rows(program,
                   {.reads = {2, 1},
                    .writes = {1, 1},
                    .math = kSoftmaxBackwardPasses * profiles.software.tiles.pass},
                   grid, profiles);
}

}  // namespace howard::chip
