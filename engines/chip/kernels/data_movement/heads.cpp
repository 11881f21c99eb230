// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "engines/chip/kernels/data_movement/data_movement.h"
#include "engines/chip/kernels/pipeline/pages.h"
#include "engines/chip/kernels/plan/plans.h"

namespace howard::chip {
namespace {

/// Both RISCs that move data take half of a core's tiles.
constexpr std::int64_t kHeadMovers = 2;

bool on_shards(const TensorSpec& spec) {
  return spec.sharding && spec.storage == Storage::l1 && spec.layout == Layout::tile;
}

/// Plans a kernel whose cores copy the tiles of `shards` within their own L1, and transpose
/// `transposed` of them.
PlannedProgram plan_within_shards(const TensorSpec& shards, std::int64_t transposed, CoreGrid grid,
                                  const Profiles& profiles) {
  const SoftwareProfile& software = profiles.software;
  const auto cores = static_cast<int>(shards_of(shards));
  const auto [tiles, tile] = shard_pages(shards);
  const SimTime copy =
      std::max(software.convolution.stick, transfer_time(tile, profiles.chip.noc_link));
  // One step holds all tiles: requests are issued without waiting in between.
  const SimTime copies = ceil_div(tiles, kHeadMovers) * copy;
  const SimTime transposes = ceil_div(transposed, std::int64_t{cores}) * software.tiles.transpose;
  const StepPipeline steps{.steps = 1,
                           .all_steps = cores,
                           .cores = cores,
                           .on_shards = true,
                           .read = profiles.chip.l1_latency + std::max(copies, transposes)};
  constexpr int kBuffers = 4;
  return planned({.cores = cores, .kernel_groups = 1}, {software.ttnn_other_arguments, kBuffers},
                 step_pipeline_cost(steps, grid, profiles), software);
}

}  // namespace

// Of interleaved tensors, ttnn shares the rows of tiles of [n, 1, s, heads d] among the cores.

PlannedProgram plan(const SplitHeadsAttributes& attributes, const Program& program, CoreGrid grid,
                    const Profiles& profiles) {
  const TensorSpec& x = program.inputs[0].spec;
  const bool stays = std::ranges::all_of(program.inputs, on_shards, &Operand::spec) &&
                     std::ranges::all_of(program.outputs, on_shards, &Operand::spec);
  if (!stays) return plan_move_tiles(program, rows_of_tiles(x), grid, profiles);
  const std::int64_t transposed =
      attributes.transpose_k ? program.outputs[1].spec.shape.tiles() : 0;
  return plan_within_shards(x, transposed, grid, profiles);
}

PlannedProgram plan(const ConcatHeadsAttributes&, const Program& program, CoreGrid grid,
                    const Profiles& profiles) {
  const TensorSpec& x = program.inputs[0].spec;
  const TensorSpec& out = program.outputs[0].spec;
  if (!on_shards(x) || !on_shards(out)) {
    return plan_move_tiles(program, rows_of_tiles(out), grid, profiles);
  }
  return plan_within_shards(x, 0, grid, profiles);
}

}  // namespace howard::chip
