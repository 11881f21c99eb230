// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/error.h"
#include "engines/chip/kernels/convolution/convolution.h"
#include "engines/chip/kernels/pipeline/pages.h"
#include "engines/chip/kernels/pipeline/tile_pipeline.h"
#include "engines/chip/kernels/plan/plans.h"

namespace howard::chip {
namespace {

/// The passes of a group over a tile: mask; subtract the mean, mask, square; multiply by
/// 1 / deviation, and add to what other groups have made of the tile.
constexpr std::int64_t kGroupPasses = 6;
/// Of the numbers, and of the squares.
constexpr std::int64_t kGroupSums = 2;
/// The passes over a tile of the result: gamma and beta.
constexpr std::int64_t kChannelPasses = 2;
/// For the mean, for the variance, and to normalise.
constexpr std::int64_t kGroupReads = 3;
/// The mean, and the variance.
constexpr std::int64_t kGroupGathers = 2;
constexpr int kNormBuffers = 12;

/// How a group norm is dealt out: groups go over columns of cores, and rows of tiles over the cores
/// of a column.
struct GroupSplit {
  int cores = 0;
  std::int64_t columns = 1;  ///< Columns of cores.
  std::int64_t sharing = 1;  ///< The cores that share an image.
  std::int64_t images = 1;   ///< The images of a core.
  std::int64_t groups = 1;   ///< The groups of a core.
  std::int64_t rows = 1;     ///< The rows of tiles of a core.
};

/// Returns over how many columns of cores ttnn puts the channels of an interleaved tensor: each has
/// whole tiles of channels.
std::int64_t virtual_columns(std::int64_t channels, std::int64_t groups, CoreGrid grid) {
  std::int64_t columns = std::min<std::int64_t>(grid.columns, groups);
  while (columns > 1 && (channels % columns != 0 || channels / columns % kTileSide != 0)) {
    --columns;
  }
  return columns;
}

GroupSplit split_groups(const TensorSpec& x, std::int64_t groups, CoreGrid grid) {
  const std::int64_t images = x.shape.outer();
  const std::int64_t tile_rows = images * x.shape.tile_rows();
  GroupSplit split;
  std::int64_t cores_of_column = std::min<std::int64_t>(grid.rows, tile_rows);
  if (x.sharding) {
    split.columns = ceil_div(x.shape.columns(), x.sharding->columns);
    cores_of_column = ceil_div(shards_of(x), split.columns);
  } else {
    split.columns = virtual_columns(x.shape.columns(), groups, grid);
  }
  split.cores = static_cast<int>(split.columns * cores_of_column);
  split.sharing = std::max<std::int64_t>(cores_of_column / images, 1);
  split.images = ceil_div(images, cores_of_column);
  split.groups = ceil_div(groups, split.columns);
  split.rows = ceil_div(tile_rows, cores_of_column);
  return split;
}

/// Returns the cores that the op is told to use. Throws Error where no such chip has them.
std::optional<CoreGrid> cores_for(const GroupNormAttributes& op, const ChipProfile& chip) {
  const CoreGrid most = chip.tensix;
  if (op.core_grid && (op.core_grid->columns > most.columns || op.core_grid->rows > most.rows)) {
    throw Error({.attempted = "place group_norm",
                 .value = fmt::format("core_grid {}x{}", op.core_grid->columns, op.core_grid->rows),
                 .accepted = fmt::format("{}x{} cores at the most, as {} has", most.columns,
                                         most.rows, chip.name)});
  }
  return op.core_grid;
}

/// Returns how many columns of tiles a group goes over at most. The first group of a core begins at
/// a tile.
std::int64_t tiles_across(std::int64_t channels, std::int64_t groups) {
  std::int64_t most = 0;
  for (std::int64_t group = 0; group < groups; ++group) {
    most = std::max(most, ceil_div(group * channels % kTileSide + channels, kTileSide));
  }
  return most;
}

}  // namespace

// A core goes through the tiles of its groups one group after the other, so a tile of several
// groups is worked on once for each.
PlannedProgram plan(const GroupNormAttributes& op, const Program& program, CoreGrid grid,
                    const Profiles& profiles) {
  const TensorSpec& x = program.inputs[0].spec;
  const TensorSpec& out = program.outputs[0].spec;
  const TileCosts& cost = profiles.software.tiles;
  const GroupSplit split = split_groups(x, op.groups, cores_for(op, profiles.chip).value_or(grid));
  const std::int64_t steps =
      split.groups * split.rows * tiles_across(x.shape.columns() / op.groups, split.groups);
  const std::int64_t tiles = split.rows * ceil_div(x.shape.tile_columns(), split.columns);
  const Bytes tile = tile_bytes(x.dtype), out_tile = tile_bytes(out.dtype);
  const auto moved = [&](const TensorSpec& spec, Bytes page, SimTime latency) {
    return spec.sharding ? SimTime() : latency + page_time(page, profiles);
  };
  // One core reads the sum of each that shares an image, one after the other, and multicasts what
  // it makes of them.
  SimTime gathers;
  if (split.sharing > 1) {
    gathers = split.groups * split.images * kGroupGathers * (split.sharing + 1) *
              profiles.chip.l1_latency;
  }
  const std::int64_t changes =
      (x.layout == Layout::row_major ? 1 : 0) + (out.layout == Layout::row_major ? 1 : 0);
  const SimTime pass = pass_time(op.fp32_accumulation, cost);
  // What other groups have made of a tile is read once more, to be added to.
  const std::int64_t reads = kGroupReads * steps + std::max<std::int64_t>(steps - tiles, 0);
  const SimTime read = moved(x, tile, read_latency(x, profiles.chip));
  // The buffer of x holds one block, so its reading is not hidden behind the work on it.
  return plan_steps({.cores = split.cores, .busiest = steps},
                    {.steps = steps,
                     .all_steps = steps * split.cores,
                     .set_up = gathers + tiles * (kChannelPasses * pass +
                                                  changes * profiles.software.convolution.tilize),
                     .on_shards = x.sharding.has_value(),
                     .compute = kGroupPasses * pass + kGroupSums * cost.reduce +
                                SimTime::picoseconds(read.ps() * reads / steps),
                     .write = moved(out, out_tile, write_latency(out, profiles.chip)),
                     .reads = Bytes(in_dram(x, tile).value() * reads / steps),
                     .writes = in_dram(out, out_tile)},
                    grid, profiles, kNormBuffers);
}

// Nobody has published times of this one. It takes a tile of x in a step, and the numbers of a
// channel before its tiles.
PlannedProgram plan(const BatchNormAttributes&, const Program& program, CoreGrid grid,
                    const Profiles& profiles) {
  const TensorSpec& x = program.inputs[0].spec;
  const auto numbers = static_cast<std::int64_t>(program.inputs.size()) - 1;
  const std::int64_t tiles = x.shape.tile_rows() * x.shape.tile_columns();
  const WorkSplit work = split_work(x.shape.tiles(), grid);
  const TileCosts& cost = profiles.software.tiles;
  constexpr std::int64_t kRowsOfATile = 512;  // Stores that fill a tile with one number.
  const std::int64_t channels = ceil_div(work.busiest, tiles);
  return plan_tiles(
      work, {profiles.software.ttnn_other_arguments, kNormBuffers},
      {.all_steps = x.shape.tiles(),
       .reads = {1, 1},
       .writes = {1, 1},
       .compute = numbers * cost.fpu,
       .set_up = channels * (numbers * (kRowsOfATile * cost.store +
                                        read_time(1, tile_bytes(x.dtype), profiles)) +
                             cost.functions.at(static_cast<std::size_t>(Eltwise::rsqrt))),
       .tile = tile_bytes(x.dtype),
       .out_tile = tile_bytes(program.outputs[0].spec.dtype)},
      grid, profiles);
}

}  // namespace howard::chip
