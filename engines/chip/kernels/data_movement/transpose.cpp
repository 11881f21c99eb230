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
                     .out_tile = tile,
                     .from = &program.inputs[0].spec,
                     .to = &out},
                    grid, profiles);
}

/// Returns what the busiest core writes of zeros below the last rows of a result's matrices: the
/// rest of two faces of each such tile, and two whole faces if all rows are in the upper half. It
/// waits once a tile (tt-metal transpose_hc_tiled_interleaved_program_factory.cpp).
SimTime padding_time(const Shape& out, CoreGrid grid, const Profiles& profiles) {
  const std::int64_t last_rows = out.rows() % kTileSide;
  if (last_rows == 0) return {};
  const std::int64_t faces = last_rows <= kTileSide / 2 ? 4 : 2;
  const std::int64_t tiles = split_work(out.batch() * out.tile_columns(), grid).busiest;
  return tiles * (profiles.chip.noc_write_latency + faces * profiles.software.movement.face_line);
}

/// Plans the swap of dimension 1 and the rows: each row of each tile goes to another tile, face by
/// face.
PlannedProgram plan_transposed_heads(const Program& program, CoreGrid grid,
                                     const Profiles& profiles) {
  const TensorSpec &in = program.inputs[0].spec, &out = program.outputs[0].spec;
  const Bytes tile = tile_bytes(in.dtype);
  const WorkSplit work = split_work(in.shape.tiles(), grid);
  // A row of a tile lies in two faces.
  const SimTime lines = 2 * rows_in_tile(in.shape) * profiles.software.movement.face_line;
  return plan_steps(work,
                    {.all_steps = in.shape.tiles(),
                     .set_up = padding_time(out.shape, grid, profiles),
                     .read = read_latency(in, profiles.chip) + page_time(tile, profiles),
                     .write = write_latency(out, profiles.chip) + lines,
                     .reads = in_dram(in, tile),
                     .writes = in_dram(out, tile),
                     .l1_reads = in_spread_l1(in, tile),
                     .l1_writes = in_spread_l1(out, tile)},
                    grid, profiles);
}

}  // namespace

PlannedProgram plan(const TransposeAttributes& attributes, const Program& program, CoreGrid grid,
                    const Profiles& profiles) {
  return attributes.swap == Swap::rows_columns ? plan_transposed_tiles(program, grid, profiles)
                                               : plan_transposed_heads(program, grid, profiles);
}

}  // namespace howard::chip
