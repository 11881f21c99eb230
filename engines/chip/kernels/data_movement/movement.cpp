// SPDX-License-Identifier: Apache-2.0
#include "engines/chip/kernels/data_movement/movement.h"

#include <algorithm>

namespace howard::chip {
namespace {

/// Returns how many rows of a tile of `shape` hold data.
std::int64_t rows_in_tile(const Shape& shape) { return std::min(kTileSide, shape.rows()); }

std::int64_t tiles_of(const std::vector<Operand>& operands) {
  std::int64_t tiles = 0;
  for (const Operand& operand : operands) tiles += operand.spec.shape.tiles();
  return tiles;
}

Bytes row_bytes(const TensorSpec& spec) {
  return Bytes(spec.host_bytes().value() / (spec.shape.batch() * spec.shape.rows()));
}

/// Returns the time to unpack tiles and pack them again, at one rate.
SimTime copy_time(std::int64_t tiles, Bytes tile, const Profiles& profiles) {
  return transfer_time(2 * tiles * tile, profiles.chip.unpack);
}

/// Plans the tilizing of rows that do not fill tiles. ttnn's kernel shares the tiles among the
/// cores, waits for each piece of a row and fills what is missing word by word.
PlannedProgram plan_padded_tilize(const Program& program, CoreGrid grid, const Profiles& profiles) {
  const TensorSpec& in = program.inputs[0].spec;
  const Bytes tile = tile_bytes(in.dtype);
  const Bytes piece(row_bytes({{kTileSide}, in.dtype, Layout::row_major}));
  constexpr Bytes kWord{4};
  const std::int64_t rows = rows_in_tile(in.shape);
  const std::int64_t fill = (kTileSide - rows) * ceil_div(piece.value(), kWord.value());
  const WorkSplit work = split_work(in.shape.tiles(), grid);
  return plan_steps(
      program, work,
      {.all_steps = in.shape.tiles(),
       .read = rows * read_time(1, piece, profiles) + fill * profiles.software.tiles.store,
       .compute = copy_time(1, tile, profiles),
       .write = write_time(1, tile, profiles),
       .reads = rows * piece,
       .writes = tile},
      grid, profiles);
}

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
  return plan_steps(program, work,
                    {.steps = work.busiest * block,
                     .all_steps = rows,
                     .read = profiles.software.matmul_read_issue + read_time(1, row, profiles),
                     .compute = {},
                     .write = write_time(1, row, profiles),
                     .reads = row,
                     .writes = row},
                    grid, profiles);
}

}  // namespace

PlannedProgram plan_steps(const Program& program, const WorkSplit& work, StepPipeline pipeline,
                          CoreGrid grid, const Profiles& profiles, int circular_buffers) {
  if (pipeline.steps == 0) pipeline.steps = work.busiest;
  pipeline.cores = work.cores;
  pipeline.last_write = pipeline.write;
  return {.name = program.name,
          .footprint =
              op_footprint(work.cores, work.kernel_groups, profiles.software.ttnn_other_arguments,
                           circular_buffers, profiles.software),
          .kernel = step_pipeline_cost(pipeline, grid, profiles)};
}

PlannedProgram plan_transpose_heads(const Program& program, CoreGrid grid,
                                    const Profiles& profiles) {
  const TensorSpec& in = program.inputs[0].spec;
  const Bytes tile = tile_bytes(in.dtype);
  const WorkSplit work = split_work(in.shape.tiles(), grid);
  // A row of a tile lies in two faces.
  const SimTime lines = 2 * rows_in_tile(in.shape) * profiles.software.movement.face_line;
  return plan_steps(program, work,
                    {.all_steps = in.shape.tiles(),
                     .read = read_time(1, tile, profiles),
                     .write = profiles.chip.noc_write_latency + lines,
                     .reads = tile,
                     .writes = tile},
                    grid, profiles);
}

PlannedProgram plan_reshape(const Program& program, CoreGrid grid, const Profiles& profiles) {
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
      program, work,
      {.all_steps = out.tiles(),
       .read = pages * read_time(1, tile, profiles) + rows * profiles.software.movement.segment,
       .write = write_time(1, tile, profiles),
       .reads = pages * tile,
       .writes = tile},
      grid, profiles);
}

PlannedProgram plan_layout(const Program& program, CoreGrid grid, const Profiles& profiles) {
  const TensorSpec& in = program.inputs[0].spec;
  const TensorSpec& out = program.outputs[0].spec;
  const bool tilize = out.layout == Layout::tile;
  if (tilize && in.shape.rows() % kTileSide != 0)
    return plan_padded_tilize(program, grid, profiles);
  const Bytes tile = tile_bytes(in.dtype);
  const Bytes row = row_bytes(in);
  const std::int64_t rows = rows_in_tile(in.shape);
  const std::int64_t tiles = in.shape.tile_columns();
  const WorkSplit work = split_work(in.shape.batch() * in.shape.tile_rows(), grid);
  const SimTime write =
      tilize ? write_time(tiles, tile, profiles) : write_time(rows, row, profiles);
  return plan_steps(
      program, work,
      {.all_steps = in.shape.batch() * in.shape.tile_rows(),
       .read = tilize ? read_time(rows, row, profiles) : read_time(tiles, tile, profiles),
       // Tiles are unpacked and packed again, at one rate.
       .compute = transfer_time(2 * tiles * tile, profiles.chip.unpack),
       .write = write,
       .reads = tilize ? rows * row : tiles * tile,
       .writes = tilize ? tiles * tile : rows * row,
       .runs = {in.shape.batch() * in.shape.tile_rows(), work.cores, tiles, tiles}},
      grid, profiles);
}

PlannedProgram plan_move_tiles(const Program& program, std::int64_t units, CoreGrid grid,
                               const Profiles& profiles) {
  const Bytes tile = tile_bytes(program.outputs[0].spec.dtype);
  const std::int64_t tiles = tiles_of(program.outputs);
  const std::int64_t per_unit = ceil_div(tiles, units);
  const WorkSplit work = split_work(units, grid);
  return plan_steps(program, work,
                    {.steps = work.busiest * per_unit,
                     .all_steps = tiles,
                     .read = read_time(1, tile, profiles),
                     .write = write_time(1, tile, profiles),
                     .reads = tile,
                     .writes = tile,
                     .runs = {units, work.cores, per_unit, per_unit}},
                    grid, profiles);
}

PlannedProgram plan_repeat(const Program& program, CoreGrid grid, const Profiles& profiles) {
  const TensorSpec& in = program.inputs[0].spec;
  const std::int64_t count = program.outputs[0].spec.shape.heads() / in.shape.heads();
  const Bytes row = row_bytes(in);
  const std::int64_t rows = in.shape.batch() * in.shape.rows();
  const WorkSplit work = split_work(rows, grid);
  return plan_steps(program, work,
                    {.all_steps = rows,
                     .read = read_time(1, row, profiles),
                     .write = write_time(count, row, profiles),
                     .reads = row,
                     .writes = count * row},
                    grid, profiles);
}

PlannedProgram plan_embedding(const Program& program, CoreGrid grid, const Profiles& profiles) {
  const TensorSpec& out = program.outputs[0].spec;
  if (out.layout == Layout::row_major) return plan_embedding_rows(program, grid, profiles);
  const Bytes tile = tile_bytes(out.dtype);
  const Bytes row = row_bytes(out);
  const std::int64_t blocks = out.shape.batch() * out.shape.tile_rows();
  const std::int64_t rows = rows_in_tile(out.shape);
  const std::int64_t tiles = out.shape.tile_columns();
  const WorkSplit work = split_work(blocks, grid);
  return plan_steps(
      program, work,
      {.all_steps = blocks,
       // The next index is looked up only when the row of this one has arrived.
       .read = rows * (profiles.software.matmul_read_issue + read_time(1, row, profiles)),
       .compute = transfer_time(2 * tiles * tile, profiles.chip.unpack),
       .write = write_time(tiles, tile, profiles),
       .reads = rows * row,
       .writes = tiles * tile,
       .runs = {blocks, work.cores, tiles, tiles}},
      grid, profiles);
}

PlannedProgram plan_embedding_backward(const Program& program, CoreGrid grid,
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
  return plan_steps(program, work,
                    {.steps = work.busiest * blocks,
                     .all_steps = table.shape.tile_columns() * blocks,
                     .read = 2 * page + chunks * chunk,
                     .reads = (1 + chunks) * tile,
                     .writes = chunks * tile},
                    grid, profiles);
}

}  // namespace howard::chip
