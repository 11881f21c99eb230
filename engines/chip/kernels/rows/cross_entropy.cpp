// SPDX-License-Identifier: Apache-2.0
#include "engines/chip/kernels/rows/rows.h"

#include "engines/chip/kernels/elementwise/elementwise.h"
#include "engines/chip/kernels/pipeline/pages.h"
#include "engines/chip/kernels/plan/plans.h"

namespace howard::chip {
namespace {

// As all kernels of TTML they compute in float32, whose exponential is that of its attention.
constexpr std::int64_t kCrossEntropyPasses = 2;  // maximum; exp and sum
constexpr std::int64_t kCrossEntropyBackwardPasses =
    3;  // those, and exp times what the sum makes of it

/// Returns how often a kernel of so many passes reads a tile: once if a row of tiles fits L1, and
/// else in each pass.
std::int64_t reads_of_tile(const Program& program, std::int64_t passes, const ChipProfile& chip) {
  const TensorSpec& x = program.inputs[0].spec;
  const Bytes row = x.shape.tile_columns() * tile_bytes(x.dtype);
  return row > chip.l1_circular_buffers ? passes : 1;
}

PlannedProgram plan_cross_entropy(const Program& program, CoreGrid grid, const Profiles& profiles) {
  const TileCosts& cost = profiles.software.tiles;
  return plan_rows(
      program,
      {.reads = {reads_of_tile(program, kCrossEntropyPasses, profiles.chip), 1},
       .writes = one_a_row(program),
       .math = kCrossEntropyPasses * cost.pass + profiles.software.attention.accurate_exp,
       // Before a row, it reads the tile in which each of its positions has its target, one by one.
       .per_row = kTileSide * read_time(1, tile_bytes(program.inputs[0].spec.dtype), profiles)},
      grid, profiles);
}

PlannedProgram plan_cross_entropy_backward(const Program& program, CoreGrid grid,
                                           const Profiles& profiles) {
  const TileCosts& cost = profiles.software.tiles;
  return plan_rows(
      program,
      {.reads = {reads_of_tile(program, kCrossEntropyBackwardPasses, profiles.chip), 1},
       .writes = {1, 1},
       .math =
           kCrossEntropyBackwardPasses * cost.pass + 2 * profiles.software.attention.accurate_exp},
      grid, profiles);
}

PlannedProgram plan_nll_loss(const Program& program, CoreGrid grid, const Profiles& profiles) {
  // It reads no row, but for each position the tile that has its target. Nobody has published its
  // time.
  return plan_rows(
      program,
      {.reads = {0, 1},
       .writes = one_a_row(program),
       .math = SimTime(),
       .per_row = kTileSide * read_time(1, tile_bytes(program.inputs[0].spec.dtype), profiles)},
      grid, profiles);
}

PlannedProgram plan_nll_loss_backward(const Program& program, CoreGrid grid,
                                      const Profiles& profiles) {
  // A tile of zeros is made once for a row of tiles; the targets are set in it.
  return plan_rows(program,
                   {.reads = {0, 1},
                    .writes = {1, 1},
                    .math = SimTime(),
                    .per_row = scalar_tile_time(profiles.software)},
                   grid, profiles);
}

}  // namespace

PlannedProgram plan(const CrossEntropyAttributes& attributes, const Program& program, CoreGrid grid,
                    const Profiles& profiles) {
  return attributes.of_logarithms ? plan_nll_loss(program, grid, profiles)
                                  : plan_cross_entropy(program, grid, profiles);
}

PlannedProgram plan(const CrossEntropyBackwardAttributes& attributes, const Program& program,
                    CoreGrid grid, const Profiles& profiles) {
  return attributes.of_logarithms ? plan_nll_loss_backward(program, grid, profiles)
                                  : plan_cross_entropy_backward(program, grid, profiles);
}

}  // namespace howard::chip
