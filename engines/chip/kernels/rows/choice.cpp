// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>

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

/// Returns whether so many cores are a rectangle within `x` columns and `y` rows of cores.
bool is_rectangle(std::int64_t cores, std::int64_t x, std::int64_t y) {
  for (std::int64_t columns = 1; columns <= x; ++columns) {
    if (cores % columns == 0 && cores / columns <= y) return true;
  }
  return false;
}

/// Returns how many columns a core has of a row that cores share: two tiles or more. ttnn doubles a
/// part until it divides the row and a rectangle has as many cores, one column and two rows of the
/// grid left out, unless the op says how many cores there are. One core more merges what they
/// found. The result is 0 if no core shares.
std::int64_t shared_columns(const TopkAttributes& attributes, const TensorSpec& x, CoreGrid grid,
                            const ChoiceCosts& costs) {
  constexpr std::int64_t kLongRow = 8192, kTooLong = 65536, kMostShared = 64;  // ttnn's conditions
  const std::int64_t columns = x.shape.columns();
  if (columns < kLongRow || columns >= kTooLong || attributes.k > kMostShared) return 0;
  if (costs.topk_of_rows && !std::has_single_bit(static_cast<std::uint64_t>(columns))) return 0;
  constexpr std::int64_t kLeast = 2 * kTileSide;
  if (attributes.cores > 0) {
    const std::int64_t parts = std::min(attributes.cores, grid.cores()) - 1;
    return parts > 0 ? kLeast * ceil_div(columns, parts * kLeast) : 0;
  }
  const std::int64_t width = grid.columns - 1, height = grid.rows - 2;
  if (width < 1 || height < 1) return 0;
  const auto most =
      static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(width * height)));
  for (std::int64_t part = std::max<std::int64_t>(1, x.shape.tile_columns() / most);
       2 * part <= columns; part *= 2) {
    if (part >= kLeast && columns % part == 0 && is_rectangle(columns / part, width, height)) {
      return part;
    }
  }
  return 0;
}

/// Returns the time in which a core finds the largest of a row alone: it sorts each tile with its
/// places and merges it with each of those that it keeps. Two tiles are the least, and are sorted
/// at once.
SimTime choice_time(std::int64_t tiles, std::int64_t kept, const SoftwareProfile& software) {
  const std::int64_t all = std::max<std::int64_t>(2, tiles);
  return 2 * (all + kept) * software.tiles.transpose +
         (1 + (all - 2) * (1 + kept)) * software.choice.merge;
}

/// What a bitonic network of pairs of tiles makes of each row of tiles. ttnn fills rows up to a
/// power of two of tiles, as a network needs.
struct SortedRows {
  std::int64_t rows;    ///< Rows of tiles.
  std::int64_t tiles;   ///< Those of a row.
  std::int64_t levels;  ///< Its logarithm.
  Bytes number, place;  ///< What a tile of numbers is large, and one of their places.
  Bytes reads, writes;  ///< Those of a row, from and to DRAM.
  SimTime merge, turn;  ///< The time of two tiles with their places, and that of a tile to turn.
  const Profiles& profiles;

  SortedRows(const Program& program, const Profiles& all) : profiles(all) {
    const TensorSpec& x = program.inputs[0].spec;
    constexpr std::int64_t kFewPlaces = 65535;  // below this, ttnn's places have 16 bits
    const bool few = x.shape.columns() < kFewPlaces;
    rows = x.shape.batch() * x.shape.tile_rows();
    const auto wanted = static_cast<std::uint64_t>(x.shape.tile_columns());
    tiles = static_cast<std::int64_t>(std::bit_ceil(std::max<std::uint64_t>(2, wanted)));
    levels = std::countr_zero(static_cast<std::uint64_t>(tiles));
    number = tile_bytes(x.dtype);
    place = tile_bytes(few ? DataType::uint16 : DataType::uint32);
    reads = in_dram(x, tiles * number);
    writes = in_dram(program.outputs[0].spec, tiles * number) +
             in_dram(program.outputs[1].spec, tiles * place);
    merge = profiles.software.choice.merge;
    turn = profiles.software.tiles.transpose;
  }

  SimTime read(std::int64_t count) const { return read_time(count, number, profiles); }
  SimTime write(std::int64_t count) const {
    return write_time(count, number, profiles) + write_time(count, place, profiles);
  }
};

/// Returns the stages of a network of 2^levels tiles, in each of which every tile is in one pair.
constexpr std::int64_t stages_of(std::int64_t levels) { return levels * (levels + 1) / 2; }

/// A core has a whole row in its L1. Numbers and places are turned as they come and as they go.
PlannedProgram sort_alone(const SortedRows& row, CoreGrid grid) {
  return plan_steps(
      split_work(row.rows, grid),
      {.all_steps = row.rows,
       .read = row.read(row.tiles),
       .compute = stages_of(row.levels) * (row.tiles / 2) * row.merge + 4 * row.tiles * row.turn,
       .write = row.write(row.tiles),
       .reads = row.reads,
       .writes = row.writes},
      grid, row.profiles);
}

/// Cores have `part` tiles each of one row after the other. Where the pairs of a stage lie on two
/// cores, each sends its tile to the other one, and both merge and keep a half.
PlannedProgram sort_together(const SortedRows& row, std::int64_t part, CoreGrid grid) {
  const std::int64_t cores = row.tiles / part;
  const std::int64_t exchanges = stages_of(std::countr_zero(static_cast<std::uint64_t>(cores)));
  const SimTime exchange = row.profiles.chip.noc_write_latency +
                           page_time(row.number, row.profiles) + page_time(row.place, row.profiles);
  return plan_steps({.cores = static_cast<int>(cores), .busiest = row.rows},
                    {.all_steps = row.rows * cores,
                     .read = row.read(part),
                     .compute = (stages_of(row.levels) - exchanges) * (part / 2) * row.merge +
                                exchanges * part * (row.merge + exchange) + 4 * part * row.turn,
                     .write = row.write(part),
                     .reads = Bytes(row.reads.value() / cores),
                     .writes = Bytes(row.writes.value() / cores)},
                    grid, row.profiles);
}

/// Each stage takes the pairs from the DRAM and brings them back. One core does no more than to
/// start the others together when the stage before is done.
PlannedProgram sort_in_dram(const SortedRows& row, CoreGrid grid) {
  const std::int64_t pairs = row.tiles / 2, stages = row.rows * stages_of(row.levels);
  const std::int64_t workers = std::min(pairs, std::max<std::int64_t>(1, grid.cores() - 1));
  const SimTime write = row.write(2);
  const SimTime read = row.read(2) + read_time(2, row.place, row.profiles);
  const Bytes moved = Bytes(row.writes.value() / pairs);
  return plan_steps({.cores = static_cast<int>(std::min<std::int64_t>(workers + 1, grid.cores())),
                     .busiest = stages * ceil_div(pairs, workers)},
                    {.all_steps = stages * pairs,
                     .set_up = stages * (read + write + 2 * row.profiles.chip.noc_write_latency),
                     .read = read,
                     .compute = row.merge + 8 * row.turn,
                     .write = write,
                     .reads = moved,
                     .writes = moved},
                    grid, row.profiles);
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
  const std::int64_t part = shared_columns(attributes, x, grid, profiles.software.choice);
  if (part == 0) {
    const std::int64_t tiles = x.shape.tile_columns();
    const bool alone = !profiles.software.choice.topk_of_rows;
    return plan_steps(
        alone ? WorkSplit{.cores = 1, .busiest = tile_rows} : split_work(tile_rows, grid),
        {.all_steps = tile_rows,
         .read = read_time(tiles, tile, profiles),
         .compute = choice_time(tiles, kept, profiles.software),
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

PlannedProgram plan(const SortAttributes&, const Program& program, CoreGrid grid,
                    const Profiles& profiles) {
  const SortedRows row(program, profiles);
  // ttnn's source has 64 tiles on one core as well, but 32x2048 was measured in 159 us: that is no
  // core alone, which has 672 pairs to merge.
  constexpr std::int64_t kShared = 64, kMostTiles = 128;
  if (row.tiles < kShared) return sort_alone(row, grid);
  const auto most =
      static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(grid.cores())));
  const std::int64_t part = std::max<std::int64_t>(row.tiles / most, 2);
  return part <= kMostTiles ? sort_together(row, part, grid) : sort_in_dram(row, grid);
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
