// SPDX-License-Identifier: Apache-2.0
#include "engines/chip/kernels/rows/rows.h"

#include "engines/chip/kernels/plan/plans.h"

namespace howard::chip {
namespace {

constexpr int kRmsNormBuffers = 6;

/// The passes are squares, their sum, scale and gamma.
constexpr std::int64_t kRmsNormPasses = 4;
/// The squares are kept as the root. The passes make the products with dy, their sum, both terms of
/// dx, and dgamma.
constexpr std::int64_t kRmsNormBackwardPasses = 8;

SimTime passes_of(SimTime layernorm, std::int64_t passes) {
  return SimTime::picoseconds(ceil_div(layernorm.ps() * passes, kLayernormPasses));
}

}  // namespace

// A core reads gamma once, if there is one, and keeps it.

PlannedProgram plan(const RmsNormAttributes& attributes, const Program& program, CoreGrid grid,
                    const Profiles& profiles) {
  const std::int64_t passes = kRmsNormPasses + (attributes.sums ? 1 : 0);
  const TileCosts& cost = profiles.software.tiles;
  const bool scaled = program.inputs.size() > 1;
  const bool again =
      attributes.rereads.value_or(cost.norm_rereads) &&
      !fits_in_l1(program, attributes.sums, attributes.fp32_accumulation, profiles.chip);
  // A row that is too long is read for the sum of its squares and for the result, and gamma with
  // it.
  const std::int64_t reads = again ? (scaled ? 3 : 2) : 1;
  // One sum of a row, where a layernorm has two.
  const SimTime of_row = SimTime::picoseconds(cost.norm_row.ps() / 2);
  return plan_rows(program,
                   {.reads = {reads, 1},
                    .writes = {1, 1},
                    .math = passes * norm_pass_time(program, attributes.fp32_accumulation, cost),
                    .per_row = stay_in_shards(program) ? SimTime() : of_row,
                    .keeps_scale = scaled && !again,
                    .circular_buffers = kRmsNormBuffers},
                   grid, profiles);
}

PlannedProgram plan(const TtmlRmsNormAttributes&, const Program& program, CoreGrid grid,
                    const Profiles& profiles) {
  const std::int64_t length = program.inputs[0].spec.shape.tile_columns();
  return plan_rows(program,
                   {.reads = {1, 1},
                    .writes = {length + 1, length},
                    .math = passes_of(profiles.software.tiles.ttml_layernorm, kRmsNormPasses),
                    .keeps_scale = true,
                    .circular_buffers = kRmsNormBuffers},
                   grid, profiles);
}

PlannedProgram plan(const RmsNormBackwardAttributes&, const Program& program, CoreGrid grid,
                    const Profiles& profiles) {
  const std::int64_t length = program.inputs[0].spec.shape.tile_columns();
  // A core reads x, dy and the root of each row, and writes dx and the component.
  return plan_rows(
      program,
      {.reads = {2 * length + 1, length},
       .writes = {2, 1},
       .math = passes_of(profiles.software.tiles.ttml_layernorm, kRmsNormBackwardPasses),
       .keeps_scale = program.inputs.size() > 1,
       .circular_buffers = kRmsNormBuffers},
      grid, profiles);
}

}  // namespace howard::chip
