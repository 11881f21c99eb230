// SPDX-License-Identifier: Apache-2.0
#include "engines/chip/kernels/data_movement/data_movement.h"

#include "engines/chip/kernels/pipeline/pages.h"
#include "engines/chip/kernels/plan/plans.h"

namespace howard::chip {
PlannedProgram plan(const ReshapeAttributes&, const Program& program, CoreGrid grid,
                    const Profiles& profiles) {
  const TensorSpec &from = program.inputs[0].spec, &to = program.outputs[0].spec;
  const Shape &in = from.shape, &out = to.shape;
  const Bytes tile = tile_bytes(program.outputs[0].spec.dtype);
  const WorkSplit work = split_work(out.tiles(), grid);
  const std::int64_t rows = rows_in_tile(out);
  // Rows of the same width follow each other in a tile of the input too; rows of another width do
  // not.
  const std::int64_t pages =
      in.columns() == out.columns() ? ceil_div(rows, rows_in_tile(in)) : rows;
  return plan_steps(
      work,
      {.all_steps = out.tiles(),
       .read = pages * (read_latency(from, profiles.chip) + page_time(tile, profiles)) +
               rows * profiles.software.movement.segment,
       .write = write_latency(to, profiles.chip) + page_time(tile, profiles),
       .reads = in_dram(from, pages * tile),
       .writes = in_dram(to, tile),
       .l1_reads = in_spread_l1(from, pages * tile),
       .l1_writes = in_spread_l1(to, tile)},
      grid, profiles);
}

PlannedProgram plan(const RepeatAttributes&, const Program& program, CoreGrid grid,
                    const Profiles& profiles) {
  const TensorSpec& in = program.inputs[0].spec;
  const std::int64_t count = program.outputs[0].spec.shape.heads() / in.shape.heads();
  const Bytes row = row_bytes(in);
  const std::int64_t rows = in.shape.batch() * in.shape.rows();
  const WorkSplit work = split_work(rows, grid);
  return plan_steps(work,
                    {.all_steps = rows,
                     .read = read_time(1, row, profiles),
                     .write = write_time(count, row, profiles),
                     .reads = row,
                     .writes = count * row},
                    grid, profiles);
}

}  // namespace howard::chip
