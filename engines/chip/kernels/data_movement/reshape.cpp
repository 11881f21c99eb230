// SPDX-License-Identifier: Apache-2.0
#include "engines/chip/kernels/data_movement/data_movement.h"

#include "engines/chip/kernels/pipeline/pages.h"
#include "engines/chip/kernels/plan/plans.h"

namespace howard::chip {
PlannedProgram plan(const ReshapeAttributes&, const Program& program, CoreGrid grid,
                    const Profiles& profiles) {
  const Shape& in = program.inputs[0].spec.shape;
  const Shape& out = program.outputs[0].spec.shape;
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
       .read = pages * read_time(1, tile, profiles) + rows * profiles.software.movement.segment,
       .write = write_time(1, tile, profiles),
       .reads = pages * tile,
       .writes = tile},
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
