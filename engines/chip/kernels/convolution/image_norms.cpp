// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "engines/chip/kernels/convolution/convolution.h"
#include "engines/chip/kernels/pipeline/pages.h"
#include "engines/chip/kernels/pipeline/tile_pipeline.h"
#include "engines/chip/kernels/plan/plans.h"

namespace howard::chip {
namespace {

/// Those of a layernorm, and the masks of a group in the sums of its numbers and of their squares.
constexpr std::int64_t kGroupNormPasses = 9;
constexpr int kNormBuffers = 12;

}  // namespace

// Nobody has published times of these two; their passes take as long as those of kernels that are
// measured.

PlannedProgram plan(const GroupNormAttributes& op, const Program& program, CoreGrid grid,
                    const Profiles& profiles) {
  const TensorSpec& x = program.inputs[0].spec;
  const TensorSpec& out = program.outputs[0].spec;
  WorkSplit work = split_work(x.shape.tiles(), grid);
  if (x.sharding) {
    const auto shards = static_cast<int>(shards_of(x));
    work = {.cores = shards, .busiest = ceil_div(x.shape.tiles(), shards)};
  }
  const Bytes tile = tile_bytes(x.dtype), out_tile = tile_bytes(out.dtype);
  // The mean and the variance of each group are gathered by one core and multicast.
  const std::int64_t groups = ceil_div(op.groups * x.shape.outer(), work.cores);
  const SimTime gathered =
      2 * groups * 2 * (profiles.chip.l1_latency + profiles.software.tiles.reduce);
  const auto moved = [&](const TensorSpec& spec, Bytes page, SimTime latency) {
    return spec.sharding ? SimTime() : latency + page_time(page, profiles);
  };
  return plan_steps(program, work,
                    {.all_steps = x.shape.tiles(),
                     .set_up = gathered,
                     .read = moved(x, tile, read_latency(x, profiles.chip)),
                     .compute = kGroupNormPasses * profiles.software.tiles.pass,
                     .write = moved(out, out_tile, write_latency(out, profiles.chip)),
                     .reads = in_dram(x, tile),
                     .writes = in_dram(out, out_tile)},
                    grid, profiles, kNormBuffers);
}

// The kernel takes a tile of x in a step, and the numbers of a channel before its tiles.
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
      program, work, {profiles.software.ttnn_other_arguments, kNormBuffers},
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
