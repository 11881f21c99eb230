// SPDX-License-Identifier: Apache-2.0
#include "engines/chip/kernels/data_movement/data_movement.h"

#include <algorithm>

#include "engines/chip/kernels/pipeline/pages.h"
#include "engines/chip/kernels/plan/plans.h"

namespace howard::chip {
namespace {

/// Plans the look-up of rows of the table as they are: a row is looked up, read and written before
/// the next. Indices in tiles are dealt out by the lines of their faces.
PlannedProgram plan_embedding_rows(const Program& program, CoreGrid grid,
                                   const Profiles& profiles) {
  const TensorSpec& indices = program.inputs[0].spec;
  const Bytes row = row_bytes(program.outputs[0].spec);
  const std::int64_t rows = indices.shape.elements();
  constexpr std::int64_t kFaceSide = kTileSide / 2;
  const std::int64_t block =
      indices.layout == Layout::tile ? std::min(kFaceSide, indices.shape.columns()) : 1;
  const WorkSplit work =
      split_work(indices.shape.rows() * ceil_div(indices.shape.columns(), block), grid);
  return plan_steps(work,
                    {.steps = work.busiest * block,
                     .all_steps = rows,
                     .read = profiles.software.noc_read_issue + read_time(1, row, profiles),
                     .compute = {},
                     .write = write_time(1, row, profiles),
                     .reads = row,
                     .writes = row},
                    grid, profiles);
}

}  // namespace

PlannedProgram plan(const EmbeddingAttributes&, const Program& program, CoreGrid grid,
                    const Profiles& profiles) {
  const TensorSpec& out = program.outputs[0].spec;
  if (out.layout == Layout::row_major) return plan_embedding_rows(program, grid, profiles);
  const Bytes tile = tile_bytes(out.dtype);
  const Bytes row = row_bytes(out);
  const std::int64_t blocks = out.shape.batch() * out.shape.tile_rows();
  const std::int64_t rows = rows_in_tile(out.shape);
  const std::int64_t tiles = out.shape.tile_columns();
  const WorkSplit work = split_work(blocks, grid);
  return plan_steps(
      work,
      {.all_steps = blocks,
       // The next index is looked up only when the row of this one has arrived.
       .read = rows * (profiles.software.noc_read_issue + read_time(1, row, profiles)),
       .compute = repack_time(tiles, tile, profiles.chip),
       .write = write_time(tiles, tile, profiles),
       .reads = rows * row,
       .writes = tiles * tile,
       .runs = {blocks, work.cores, tiles, tiles}},
      grid, profiles);
}

PlannedProgram plan(const EmbeddingBackwardAttributes&, const Program& program, CoreGrid grid,
                    const Profiles& profiles) {
  const Shape& indices = program.inputs[0].spec.shape;
  const TensorSpec& table = program.outputs[0].spec;
  const Bytes tile = tile_bytes(table.dtype);
  const WorkSplit work = split_work(table.shape.tile_columns(), grid);
  const std::int64_t blocks = ceil_div(indices.elements(), kTileSide);
  // The kernel takes 32 tokens at a time. Each chunk of 32 rows of the table that they touch is
  // read, added to and written back before the next chunk.
  const std::int64_t chunks = std::min(kTileSide, table.shape.tile_rows());
  const SimTime page = read_time(1, tile, profiles);
  const SimTime chunk = page + profiles.software.movement.mask + profiles.software.tiles.fpu +
                        write_time(1, tile, profiles);
  return plan_steps(work,
                    {.steps = work.busiest * blocks,
                     .all_steps = table.shape.tile_columns() * blocks,
                     .read = 2 * page + chunks * chunk,
                     .reads = (1 + chunks) * tile,
                     .writes = chunks * tile},
                    grid, profiles);
}

}  // namespace howard::chip
