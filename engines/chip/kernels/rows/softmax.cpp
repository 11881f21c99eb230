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
  const TensorSpec& x = program.inputs[0].spec;
  const bool on_shards = x.sharding && x.storage == Storage::l1;
  RowWork row{.reads = {1, 1}, .writes = {1, 1}, .per_row = cost.softmax_row};
  if (on_shards) {
    // A pass without accumulation in fp32 is one of the matrix unit on a tile.
    row.math = kSoftmaxPasses * cost.fpu + profiles.software.attention.exp;
    row.set_up = scalar_tile_time(profiles.software);
  } else {
    row.math = kSoftmaxPasses * cost.pass + eltwise_math_time({.function = Eltwise::exp}, cost);
    row.set_up = cost.softmax_start;
  }
  return plan_rows(program, row, grid, profiles);
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
