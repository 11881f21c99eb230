// SPDX-License-Identifier: Apache-2.0
#include "engines/chip/kernels/rows/rows.h"

#include "engines/chip/kernels/plan/plans.h"

namespace howard::chip {

bool fits_in_l1(const Program& program, bool sums, bool fp32_accumulation,
                const ChipProfile& chip) {
  const TensorSpec& x = program.inputs[0].spec;
  const auto inner = tile_bytes(fp32_accumulation ? DataType::float32 : DataType::bfloat16);
  // The operand, what remains of it without the mean, its squares, gamma and beta; a tensor that is
  // added first has a row of its own.
  const Bytes tile = (sums ? 2 : 1) * tile_bytes(x.dtype) + 2 * inner +
                     2 * tile_bytes(DataType::bfloat16) + (sums ? tile_bytes(x.dtype) : Bytes());
  return x.shape.tile_columns() * tile < chip.l1_circular_buffers;
}

PlannedProgram plan(const LayernormAttributes& attributes, const Program& program, CoreGrid grid,
                    const Profiles& profiles) {
  const std::int64_t passes = kLayernormPasses + (attributes.sums ? 1 : 0);
  const TileCosts& cost = profiles.software.tiles;
  // A row that is too long is read for the mean, for the variance and for the result, and gamma and
  // beta with it.
  const bool fits =
      fits_in_l1(program, attributes.sums, attributes.fp32_accumulation, profiles.chip);
  constexpr std::int64_t kRereads = 5;
  return plan_rows(program,
                   {.reads = {fits ? 1 : kRereads, 1},
                    .writes = {1, 1},
                    .math = passes * norm_pass_time(program, attributes.fp32_accumulation, cost),
                    .per_row = stay_in_shards(program) ? SimTime() : cost.norm_row,
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
