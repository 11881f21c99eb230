// SPDX-License-Identifier: Apache-2.0
#include "engines/chip/kernels/data_movement/data_movement.h"

#include "engines/chip/kernels/elementwise/elementwise.h"
#include "engines/chip/kernels/pipeline/pages.h"
#include "engines/chip/kernels/plan/plans.h"

namespace howard::chip {
namespace {

/// Plans the swap of rows and columns, in which tiles change places and are transposed.
PlannedProgram plan_transposed_tiles(const Program& program, CoreGrid grid,
                                     const Profiles& profiles) {
  const SoftwareProfile& software = profiles.software;
  const TensorSpec& out = program.outputs[0].spec;
  const Bytes tile = tile_bytes(out.dtype);
  return plan_tiles(split_work(out.shape.tiles(), grid),
                    {software.ttnn_unary_arguments, kTileBuffers},
                    {.all_steps = out.shape.tiles(),
                     .reads = {1, 1},
                     .writes = {1, 1},
                     .compute = software.tiles.transpose,
                     .tile = tile,
                     .out_tile = tile},
                    grid, profiles);
}

/// Plans the swap of dimension 1 and the rows: each row of each tile goes to another tile, face by
/// face.
PlannedProgram plan_transposed_heads(const Program& program, CoreGrid grid,
                                     const Profiles& profiles) {
  const TensorSpec& in = program.inputs[0].spec;
  const Bytes tile = tile_bytes(in.dtype);
  const WorkSplit work = split_work(in.shape.tiles(), grid);
  // A row of a tile lies in two faces.
  const SimTime lines = 2 * rows_in_tile(in.shape) * profiles.software.movement.face_line;
  return plan_steps(work,
                    {.all_steps = in.shape.tiles(),
                     .read = read_time(1, tile, profiles),
                     .write = profiles.chip.noc_write_latency + lines,
                     .reads = tile,
                     .writes = tile},
                    grid, profiles);
}

}  // namespace

PlannedProgram plan(const TransposeAttributes& attributes, const Program& program, CoreGrid grid,
                    const Profiles& profiles) {
  return attributes.swap == Swap::rows_columns ? plan_transposed_tiles(program, grid, profiles)
                                               : plan_transposed_heads(program, grid, profiles);
}

}  // namespace howard::chip
