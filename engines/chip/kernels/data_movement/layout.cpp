// SPDX-License-Identifier: Apache-2.0
#include "engines/chip/kernels/data_movement/data_movement.h"

#include <array>
#include <optional>

#include "engines/chip/kernels/pipeline/pages.h"
#include "engines/chip/kernels/plan/plans.h"

namespace howard::chip {
namespace {

/// Plans the tilizing of long rows that do not fill tiles. ttnn's kernel deals out blocks of tiles,
/// goes through a block tile by tile, waits for each piece of a row and fills what is missing word
/// by word.
PlannedProgram plan_padded_tilize(const Program& program, const BlockSplit& block, CoreGrid grid,
                                  const Profiles& profiles) {
  const TensorSpec &in = program.inputs[0].spec, &out = program.outputs[0].spec;
  const Bytes tile = tile_bytes(in.dtype);
  const Bytes piece(row_bytes({{kTileSide}, in.dtype, Layout::row_major}));
  const std::int64_t rows = rows_in_tile(in.shape);
  const std::int64_t fill = (kTileSide - rows) * ceil_div(piece.value(), kWord.value());
  const WorkSplit work{.cores = block.cores, .busiest = block.rows * block.columns};
  return plan_steps(
      work,
      {.all_steps = in.shape.tiles(),
       .read = rows * read_time(1, piece, in, profiles) + fill * profiles.software.tiles.store,
       .compute = repack_time(1, tile, profiles.chip),
       .write = write_time(1, tile, out, profiles),
       .reads = in_dram(in, rows * piece),
       .writes = in_dram(out, tile),
       .l1_reads = in_spread_l1(in, rows * piece),
       .l1_writes = in_spread_l1(out, tile)},
      grid, profiles);
}

/// Plans a kernel whose cores bring the rows of their own shards into tiles, or their tiles into
/// rows.
PlannedProgram plan_layout_of_shards(const Program& program, CoreGrid grid,
                                     const Profiles& profiles) {
  const TensorSpec& tiled = program.outputs[0].spec.layout == Layout::tile ? program.outputs[0].spec
                                                                           : program.inputs[0].spec;
  const ConvolutionCosts& cost = profiles.software.convolution;
  const auto cores = static_cast<int>(shards_of(tiled));
  const std::int64_t tiles = shard_pages(tiled).count;
  return plan_steps({.cores = cores, .busiest = tiles},
                    {.all_steps = tiles * cores,
                     .on_shards = true,
                     .compute = is_block_format(tiled.dtype) ? cost.tilize_block : cost.tilize},
                    grid, profiles);
}

/// Tells whether the rows and the tiles of a tensor lie in the L1 of the same cores: in shards of
/// as many tiles, of which the last ones may be padded.
bool stay_on_their_cores(const TensorSpec& in, const TensorSpec& out) {
  if (!in.sharding || !out.sharding) return false;
  const auto tiles = [](const Sharding& shards) {
    return std::array{ceil_div(shards.rows, kTileSide), ceil_div(shards.columns, kTileSide)};
  };
  return in.storage == Storage::l1 && out.storage == Storage::l1 &&
         in.sharding->layout == out.sharding->layout && in.sharding->grid == out.sharding->grid &&
         in.sharding->column_major == out.sharding->column_major &&
         tiles(*in.sharding) == tiles(*out.sharding);
}

/// Tells whether the last tiles of rows or columns have less than a tile's rows or columns.
bool is_padded(const Shape& rows) {
  return rows.rows() % kTileSide != 0 || rows.columns() % kTileSide != 0;
}

/// Plans the kernel that takes 32 rows at a time: whole ones, or those of a block of tiles. The
/// kernels with padding wait for each row before the next one.
PlannedProgram plan_rows_of_tiles(const Program& program, bool tilize, CoreGrid grid,
                                  const Profiles& profiles) {
  const TensorSpec &in = program.inputs[0].spec, &out = program.outputs[0].spec;
  const std::int64_t tile_rows = in.shape.batch() * in.shape.tile_rows();
  const std::int64_t columns = in.shape.tile_columns();
  const std::optional<BlockSplit> block = split_blocks(tile_rows, columns, grid);
  const std::int64_t tiles = block ? block->columns : columns;
  const Bytes tile = tile_bytes(in.dtype);
  const Bytes row =
      block ? row_bytes({{tiles * kTileSide}, in.dtype, Layout::row_major}) : row_bytes(in);
  const std::int64_t rows = rows_in_tile(in.shape);
  const std::int64_t waits = is_padded(tilize ? in.shape : out.shape) ? rows : 1;
  const SimTime fill = tilize ? (kTileSide - rows) * ceil_div(row.value(), kWord.value()) *
                                    profiles.software.tiles.store
                              : SimTime();
  const WorkSplit work = block ? WorkSplit{.cores = block->cores, .busiest = block->rows}
                               : split_work(tile_rows, grid);
  // A row is one page. Cores whose blocks share rows are at one bank whenever they begin one.
  const PageRuns runs = block ? PageRuns{work.cores, work.cores, work.busiest * rows, 0}
                              : PageRuns{tile_rows, work.cores, tiles, tiles};
  const Bytes read = tilize ? rows * row : tiles * tile;
  const Bytes written = tilize ? tiles * tile : rows * row;
  return plan_steps(work,
                    {.all_steps = ceil_div(tile_rows * columns, tiles),
                     .read = tilize ? waits * read_time(rows / waits, row, in, profiles) + fill
                                    : read_time(tiles, tile, in, profiles),
                     // Tiles are unpacked and packed again, at one rate.
                     .compute = repack_time(tiles, tile, profiles.chip),
                     .write = tilize ? write_time(tiles, tile, out, profiles)
                                     : waits * write_time(rows / waits, row, out, profiles),
                     .reads = in_dram(in, read),
                     .writes = in_dram(out, written),
                     .l1_reads = in_spread_l1(in, read),
                     .l1_writes = in_spread_l1(out, written),
                     .runs = runs},
                    grid, profiles);
}

}  // namespace

PlannedProgram plan(const LayoutAttributes& attributes, const Program& program, CoreGrid grid,
                    const Profiles& profiles) {
  if (!attributes.use_multicore) grid = {1, 1};
  const TensorSpec& in = program.inputs[0].spec;
  const TensorSpec& out = program.outputs[0].spec;
  const bool tilize = out.layout == Layout::tile;
  if (stay_on_their_cores(in, out)) return plan_layout_of_shards(program, grid, profiles);
  const std::optional<BlockSplit> block =
      split_blocks(in.shape.batch() * in.shape.tile_rows(), in.shape.tile_columns(), grid);
  if (tilize && block && in.shape.rows() % kTileSide != 0) {
    return plan_padded_tilize(program, *block, grid, profiles);
  }
  return plan_rows_of_tiles(program, tilize, grid, profiles);
}

}  // namespace howard::chip
