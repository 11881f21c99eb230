// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "engines/chip/kernels/data_movement/data_movement.h"
#include "engines/chip/kernels/pipeline/pages.h"
#include "engines/chip/kernels/plan/plans.h"

namespace howard::chip {
namespace {

constexpr int kHeadBuffers = 4;

/// Returns the cores that hold shards of a tensor, or as many as ttnn gives to so many sequences.
int cores_of(const TensorSpec& spec, std::int64_t sequences, CoreGrid grid) {
  if (spec.sharding && spec.storage == Storage::l1) return static_cast<int>(shards_of(spec));
  return static_cast<int>(std::min<std::int64_t>(sequences, grid.cores()));
}

/// Plans a kernel whose cores copy `lines` half rows of tiles each.
PlannedProgram plan_lines(int cores, std::int64_t lines, SimTime set_up, CoreGrid grid,
                          const Profiles& profiles) {
  const WorkSplit work{.cores = cores, .busiest = 1};
  const StepPipeline steps{.steps = 1,
                           .all_steps = cores,
                           .cores = cores,
                           .set_up = set_up,
                           .on_shards = true,
                           .read = lines * profiles.software.movement.row_line};
  return planned(work, {profiles.software.ttnn_other_arguments, kHeadBuffers},
                 step_pipeline_cost(steps, grid, profiles), profiles.software);
}

/// A row of a tile lies in two faces.
constexpr std::int64_t kLinesOfRow = 2;

}  // namespace

PlannedProgram plan(const SplitHeadsDecodeAttributes&, const Program& program, CoreGrid grid,
                    const Profiles& profiles) {
  const TensorSpec& in = program.inputs[0].spec;
  const Shape& x = in.shape;
  const int cores = cores_of(program.outputs[0].spec, x.rows(), grid);
  const std::int64_t sequences = ceil_div(x.rows(), cores);
  // The kernel for shards only copies lines.
  const SimTime start = in.sharding ? SimTime() : profiles.software.movement.heads_start;
  return plan_lines(cores, sequences * kLinesOfRow * x.tile_columns(), start, grid, profiles);
}

PlannedProgram plan(const ConcatHeadsDecodeAttributes&, const Program& program, CoreGrid grid,
                    const Profiles& profiles) {
  const TensorSpec& out = program.outputs[0].spec;
  const int cores = cores_of(out, out.shape.tile_columns(), grid);
  const std::int64_t columns = ceil_div(out.shape.tile_columns(), cores);
  return plan_lines(cores, kLinesOfRow * columns * out.shape.rows(), {}, grid, profiles);
}

PlannedProgram plan(const PagedUpdateCacheAttributes&, const Program& program, CoreGrid grid,
                    const Profiles& profiles) {
  const TensorSpec& x = program.inputs[0].spec;
  const TensorSpec& cache = program.inputs[1].spec;
  const std::int64_t sequences = x.shape.heads();
  const int cores = cores_of(x, sequences, grid);
  const std::int64_t tiles =
      ceil_div(sequences, cores) * cache.shape.heads() * cache.shape.tile_columns();
  const Bytes tile = tile_bytes(cache.dtype);
  const ChipProfile& chip = profiles.chip;
  const MovementCosts& movement = profiles.software.movement;
  const StepPipeline steps{
      .steps = tiles,
      .all_steps = tiles * cores,
      .cores = cores,
      .read = read_latency(cache, chip),
      .compute = is_block_format(cache.dtype) ? movement.cache_block : movement.cache_tile,
      .last_write = write_latency(cache, chip),
      .reads = in_dram(cache, tile),
      .writes = in_dram(cache, tile)};
  return planned({.cores = cores, .kernel_groups = 1},
                 {profiles.software.ttnn_binary_arguments, kHeadBuffers + 2},
                 step_pipeline_cost(steps, grid, profiles), profiles.software);
}

}  // namespace howard::chip
