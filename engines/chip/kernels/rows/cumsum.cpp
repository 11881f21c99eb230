// SPDX-License-Identifier: Apache-2.0
#include <array>

#include "engines/chip/kernels/plan/plans.h"
#include "engines/chip/kernels/rows/rows.h"

namespace howard::chip {

PlannedProgram plan(const CumsumAttributes& attributes, const Program& program, CoreGrid grid,
                    const Profiles& profiles) {
  const TensorSpec& x = program.inputs[0].spec;
  const bool from_tile_to_tile = attributes.dim == 3;
  const std::array<std::int64_t, 4> tiles{x.shape.outer(), x.shape.heads(), x.shape.tile_rows(),
                                          x.shape.tile_columns()};
  const std::int64_t length = tiles.at(static_cast<std::size_t>(attributes.dim));
  const std::int64_t lines = x.shape.tiles() / length;
  const WorkSplit work = split_work(lines, grid);
  constexpr int kCircularBuffers = 4;
  // Each tile is added to the sums so far, in one pass. Six kernels in a log of a Blackhole
  // (tt-perf-report, 2025) take 27 % longer.
  return plan_tiles(work, {profiles.software.ttnn_other_arguments, kCircularBuffers},
                    {.steps = work.busiest * length,
                     .all_steps = x.shape.tiles(),
                     .reads = {1, 1},
                     .writes = {1, 1},
                     .compute = profiles.software.tiles.pass,
                     .tile = tile_bytes(x.dtype),
                     .out_tile = tile_bytes(program.outputs[0].spec.dtype),
                     .runs = {lines, work.cores, length, from_tile_to_tile ? length : 1}},
                    grid, profiles);
}

}  // namespace howard::chip
