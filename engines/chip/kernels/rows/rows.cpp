// SPDX-License-Identifier: Apache-2.0
#include "engines/chip/kernels/rows/rows.h"

#include "engines/chip/kernels/pipeline/pages.h"

namespace howard::chip {
PlannedProgram plan_rows(const Program& program, const RowWork& row, CoreGrid grid,
                         const Profiles& profiles) {
  const TensorSpec& x = program.inputs[0].spec;
  const std::int64_t length = x.shape.tile_columns();
  const std::int64_t rows = x.shape.tiles() / length;
  const Bytes tile = tile_bytes(x.dtype);
  const WorkSplit work = split_work(rows, grid);
  const SimTime scale = row.keeps_scale ? read_time(length, tile, profiles) : SimTime();
  PlannedProgram planned =
      plan_tiles(program, work, {profiles.software.ttnn_other_arguments, row.circular_buffers},
                 {.steps = work.busiest * length,
                  .all_steps = x.shape.tiles(),
                  .reads = row.reads,
                  .writes = row.writes,
                  .compute = row.math,
                  .set_up = row.set_up + scale + work.busiest * row.per_row,
                  .tile = tile,
                  .out_tile = tile_bytes(program.outputs[0].spec.dtype),
                  .runs = {rows, work.cores, length, length}},
                 grid, profiles);
  if (row.keeps_scale) planned.kernel.dram += work.cores * length * tile;
  return planned;
}

TilesPerStep one_a_row(const Program& program) {
  return {1, program.inputs[0].spec.shape.tile_columns()};
}

}  // namespace howard::chip
