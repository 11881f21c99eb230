// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "engines/chip/kernels/pipeline/pages.h"
#include "engines/chip/kernels/pipeline/tile_pipeline.h"
#include "engines/chip/kernels/plan/plans.h"

namespace howard::chip {
namespace {

/// Returns how large `columns` numbers of a row-major tensor are.
Bytes bytes_of_row(std::int64_t columns, const TensorSpec& spec) {
  return TensorSpec{{columns}, spec.dtype, Layout::row_major}.host_bytes();
}

/// Returns the time in which a core sorts tiles of numbers with their places. The tiles come in and
/// go out transposed, as the sort goes along columns; pairs of tiles are merged until one is left.
SimTime sort_time(std::int64_t tiles, const SoftwareProfile& software) {
  return 2 * tiles * software.tiles.transpose +
         std::max<std::int64_t>(1, tiles - 1) * software.choice.merge;
}

/// Returns how many columns a core has of a row that cores share: two tiles or more, and a power of
/// two unless the op says how many cores there are. One core is left for what they found. The
/// result is 0 if no core shares.
std::int64_t shared_columns(const TopkAttributes& attributes, const TensorSpec& x, CoreGrid grid) {
  constexpr std::int64_t kLongRow = 8192, kMostShared = 64;  // conditions of ttnn
  const std::int64_t columns = x.shape.columns();
  if (columns < kLongRow || attributes.k > kMostShared || grid.cores() < 2) return 0;
  constexpr std::int64_t kLeast = 2 * kTileSide;
  if (attributes.cores > 1) {
    const std::int64_t parts = std::min(attributes.cores, grid.cores()) - 1;
    return kLeast * ceil_div(columns, parts * kLeast);
  }
  std::int64_t part = kLeast;
  while (part < columns && ceil_div(columns, part) + 1 > grid.cores()) part *= 2;
  return part < columns ? part : 0;
}

}  // namespace

PlannedProgram plan(const ArgmaxAttributes& attributes, const Program& program, CoreGrid grid,
                    const Profiles& profiles) {
  const TensorSpec& x = program.inputs[0].spec;
  const SimTime compare = profiles.software.choice.compare;
  const std::int64_t rows = x.shape.batch() * x.shape.rows();
  const std::int64_t columns = x.shape.columns();
  constexpr Bytes kPlace{4};
  if (x.layout == Layout::tile) {
    const std::int64_t tile_rows = x.shape.batch() * x.shape.tile_rows();
    const std::int64_t numbers = std::min<std::int64_t>(kTileSide, x.shape.rows()) * columns;
    const Bytes read = x.shape.tile_columns() * tile_bytes(x.dtype);
    return plan_steps(split_work(tile_rows, grid),
                      {.all_steps = tile_rows,
                       .read = read_time(x.shape.tile_columns(), tile_bytes(x.dtype), profiles),
                       .compute = numbers * compare,
                       .write = write_time(1, kPlace, profiles),
                       .reads = in_dram(x, read),
                       .writes = kPlace},
                      grid, profiles);
  }
  const std::int64_t most = attributes.use_multicore ? grid.cores() : 1;
  const std::int64_t part = kTileSide * ceil_div(columns, most * kTileSide);
  const auto cores = static_cast<int>(ceil_div(columns, part));
  const Bytes piece = bytes_of_row(part, x);
  // A row begins when all cores are through with the one before: nothing overlaps.
  const SimTime found = cores > 1 ? profiles.chip.noc_write_latency + cores * compare : SimTime();
  return plan_steps({.cores = cores, .busiest = rows},
                    {.all_steps = rows * cores,
                     .compute = read_time(1, piece, profiles) + part * compare + found,
                     .write = write_time(1, kPlace, profiles),
                     .reads = in_dram(x, piece),
                     .writes = kPlace},
                    grid, profiles);
}

PlannedProgram plan(const TopkAttributes& attributes, const Program& program, CoreGrid grid,
                    const Profiles& profiles) {
  const TensorSpec& x = program.inputs[0].spec;
  const Bytes tile = tile_bytes(x.dtype);
  const std::int64_t tile_rows = x.shape.batch() * x.shape.tile_rows();
  const std::int64_t kept = ceil_div(attributes.k, kTileSide);
  const SimTime write = write_time(2 * kept, tile, profiles);
  const std::int64_t part = shared_columns(attributes, x, grid);
  if (part == 0) {
    const std::int64_t tiles = x.shape.tile_columns();
    return plan_steps(split_work(tile_rows, grid),
                      {.all_steps = tile_rows,
                       .read = read_time(tiles, tile, profiles),
                       .compute = sort_time(tiles, profiles.software),
                       .write = write,
                       .reads = in_dram(x, tiles * tile),
                       .writes = 2 * kept * tile},
                      grid, profiles);
  }
  const std::int64_t parts = ceil_div(x.shape.columns(), part);
  const std::int64_t tiles = part / kTileSide;
  // What each core has kept comes to the last one, numbers and places, one after the other.
  const SimTime merged =
      write_time(2 * kept * parts, tile, profiles) + sort_time(kept * parts, profiles.software);
  return plan_steps({.cores = static_cast<int>(parts) + 1, .busiest = tile_rows},
                    {.all_steps = tile_rows * parts,
                     .read = read_time(tiles, tile, profiles),
                     .compute = sort_time(tiles, profiles.software) + merged,
                     .write = write,
                     .reads = in_dram(x, tiles * tile)},
                    grid, profiles);
}

PlannedProgram plan(const SamplingAttributes& attributes, const Program& program, CoreGrid grid,
                    const Profiles& profiles) {
  const TensorSpec& x = program.inputs[0].spec;
  const SoftwareProfile& software = profiles.software;
  const std::int64_t tiles = x.shape.tile_columns();
  const std::int64_t users = x.shape.batch() * x.shape.rows();
  const Bytes row = bytes_of_row(x.shape.columns(), program.inputs[1].spec);
  // The tiles hold the rows of all users, and each core sorts all of them. Then there are the four
  // passes and the exponentials of a softmax of one tile.
  constexpr std::int64_t kPasses = 4;
  const SimTime exp = software.tiles.functions.at(static_cast<std::size_t>(Eltwise::exp));
  return plan_steps(
      split_work(users, grid),
      {.all_steps = users,
       .read = read_time(tiles, tile_bytes(x.dtype), profiles) + read_time(1, row, profiles),
       .compute = sort_time(tiles, software) + kPasses * software.tiles.pass + exp +
                  attributes.k * software.choice.candidate,
       .write = write_time(1, Bytes(4), profiles),
       .reads = in_dram(x, tiles * tile_bytes(x.dtype) + row),
       .writes = Bytes(4)},
      grid, profiles);
}

PlannedProgram plan(const PlusOneAttributes&, const Program& program, CoreGrid grid,
                    const Profiles& profiles) {
  const TensorSpec& x = program.inputs[0].spec;
  const SimTime number = 2 * profiles.software.tiles.store;  // a load and a store
  if (x.sharding && x.storage == Storage::l1) {
    const auto cores = static_cast<int>(shards_of(x));
    return plan_steps({.cores = cores, .busiest = 1},
                      {.all_steps = cores,
                       .on_shards = true,
                       .compute = x.sharding->rows * x.sharding->columns * number},
                      grid, profiles);
  }
  const std::int64_t rows = x.shape.batch() * x.shape.rows();
  const Bytes row = bytes_of_row(x.shape.columns(), x);
  return plan_steps({.cores = 1, .busiest = rows},
                    {.all_steps = rows,
                     .compute = read_time(1, row, profiles) + x.shape.columns() * number +
                                write_time(1, row, profiles),
                     .reads = in_dram(x, row),
                     .writes = in_dram(x, row)},
                    grid, profiles);
}

}  // namespace howard::chip
