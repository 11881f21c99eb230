// SPDX-License-Identifier: Apache-2.0
#include "engines/chip/kernels/data_movement/data_movement.h"

#include <algorithm>

#include "engines/chip/kernels/pipeline/pages.h"
#include "engines/chip/kernels/plan/plans.h"

namespace howard::chip {
namespace {

constexpr int kMoveBuffers = 3;

/// Returns the cores of `shards` that each take `steps`.
WorkSplit split_of(std::int64_t shards, std::int64_t steps) {
  return {.cores = static_cast<int>(shards), .busiest = steps};
}

/// Plans reads into shards in batches of pages, each with a barrier; the more cores ask the DRAM,
/// the smaller the batches.
PlannedProgram plan_into_shards(const Program& program, CoreGrid grid, const Profiles& profiles) {
  const TensorSpec& from = program.inputs[0].spec;
  const TensorSpec& to = program.outputs[0].spec;
  const std::int64_t shards = shards_of(to);
  const auto [pages, page] = shard_pages(to);
  // These bytes keep the DRAM busy. ttnn deals them out over the cores, and each core has a barrier
  // after its pages of them.
  constexpr std::int64_t kInFlight = std::int64_t{512} * 1152;
  const std::int64_t batch = std::clamp<std::int64_t>(kInFlight / shards / page.value(), 1, pages);
  const std::int64_t batches = ceil_div(pages, batch);
  // All cores ask for their first batch at once.
  const SimTime own = batch * page_time(page, profiles);
  const SimTime shared =
      transfer_time(in_dram(from, shards * batch * page), profiles.chip.dram_read_noc0);
  return plan_steps(split_of(shards, batches),
                    {.all_steps = batches * shards,
                     .set_up = shared - std::min(own, shared),
                     .on_shards = from.storage == Storage::l1,
                     .read = read_latency(from, profiles.chip) + own,
                     .reads = in_dram(from, batch * page),
                     .l1_reads = in_spread_l1(from, batch * page)},
                    grid, profiles, kMoveBuffers);
}

/// Plans the writing of all pages of a shard, with one wait.
PlannedProgram plan_out_of_shards(const Program& program, CoreGrid grid, const Profiles& profiles) {
  const TensorSpec& from = program.inputs[0].spec;
  const TensorSpec& to = program.outputs[0].spec;
  const std::int64_t shards = shards_of(from);
  const auto [pages, page] = shard_pages(from);
  const SimTime own = write_latency(to, profiles.chip) + pages * page_time(page, profiles);
  const SimTime shared =
      transfer_time(in_spread_l1(to, shards * pages * page), profiles.chip.l1_spread_write);
  return plan_steps(split_of(shards, 1),
                    {.all_steps = shards,
                     .on_shards = to.storage == Storage::l1,
                     .write = std::max(own, shared),
                     .writes = in_dram(to, pages * page)},
                    grid, profiles, kMoveBuffers);
}

/// Plans a move between shards, in which the cores of the side that has fewer of them move all:
/// they read their new shards, or write their old ones. A shard that stays on its core passes
/// through the core's own port of the NoC.
PlannedProgram plan_reshard(const Program& program, CoreGrid grid, const Profiles& profiles) {
  const TensorSpec& from = program.inputs[0].spec;
  const TensorSpec& to = program.outputs[0].spec;
  const TensorSpec& fewer = shards_of(from) < shards_of(to) ? from : to;
  const std::int64_t shards = shards_of(fewer);
  const auto [pages, page] = shard_pages(fewer);
  const bool stays = from.sharding == to.sharding;
  const Bandwidth rate = stays ? profiles.chip.noc_link : profiles.software.movement.reshard;
  PlannedProgram planned =
      plan_steps(split_of(shards, 1),
                 {.all_steps = shards,
                  .set_up = stays ? SimTime() : profiles.software.tiles.shard_set_up,
                  .on_shards = stays,
                  .read = profiles.chip.l1_latency + transfer_time(pages * page, rate)},
                 grid, profiles, kMoveBuffers);
  planned.footprint.unique_arguments = profiles.software.ttnn_binary_arguments;
  return planned;
}

/// Plans a move of page by page through a core.
PlannedProgram plan_interleaved_move(const Program& program, CoreGrid grid,
                                     const Profiles& profiles) {
  const TensorSpec& from = program.inputs[0].spec;
  const TensorSpec& to = program.outputs[0].spec;
  const bool tiles = to.layout == Layout::tile;
  const std::int64_t pages = tiles ? to.shape.tiles() : to.shape.batch() * to.shape.rows();
  const Bytes page(ceil_div(to.padded_bytes().value(), pages));
  return plan_steps(split_work(pages, grid),
                    {.all_steps = pages,
                     .read = read_latency(from, profiles.chip) + page_time(page, profiles),
                     .write = write_latency(to, profiles.chip) + page_time(page, profiles),
                     .reads = in_dram(from, page),
                     .writes = in_dram(to, page),
                     .l1_reads = in_spread_l1(from, page),
                     .l1_writes = in_spread_l1(to, page)},
                    grid, profiles, kMoveBuffers);
}

/// Says whether a tensor is in shards in L1. Shards in DRAM are moved as its other pages are.
bool is_on_cores(const TensorSpec& spec) { return spec.sharding && spec.storage == Storage::l1; }

}  // namespace

PlannedProgram plan(const MemoryMoveAttributes&, const Program& program, CoreGrid grid,
                    const Profiles& profiles) {
  const TensorSpec& from = program.inputs[0].spec;
  const TensorSpec& to = program.outputs[0].spec;
  if (is_on_cores(from) && is_on_cores(to)) return plan_reshard(program, grid, profiles);
  if (is_on_cores(to)) return plan_into_shards(program, grid, profiles);
  if (is_on_cores(from)) return plan_out_of_shards(program, grid, profiles);
  return plan_interleaved_move(program, grid, profiles);
}

}  // namespace howard::chip
