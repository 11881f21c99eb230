// SPDX-License-Identifier: Apache-2.0
#include "engines/chip/kernels/rows/rows.h"

#include "engines/chip/kernels/pipeline/pages.h"
#include "engines/chip/kernels/pipeline/tile_pipeline.h"

namespace howard::chip {
namespace {

/// Plans a kernel whose cores keep their shards. Cores that share rows divide these: each collects
/// the sums of its rows from the others, a tile from each, and multicasts what it makes of them.
PlannedProgram plan_rows_of_shards(const Program& program, const RowWork& row, CoreGrid grid,
                                   const Profiles& profiles) {
  const TensorSpec& x = program.inputs[0].spec;
  const Sharding& shard = *x.sharding;
  const auto cores = static_cast<int>(shards_of(x));
  const std::int64_t rows = shard.rows / kTileSide;
  const std::int64_t tiles = shard_pages(x).count;
  const std::int64_t sharing = ceil_div(x.shape.tile_columns() * kTileSide, shard.columns);
  StepPipeline steps{.steps = tiles,
                     .all_steps = tiles * cores,
                     .cores = cores,
                     .set_up = row.set_up + rows * row.per_row,
                     .on_shards = true,
                     .compute = row.math};
  if (sharing > 1) {
    const SimTime gather =
        profiles.software.tiles.shard_gather +
        ceil_div(rows, sharing) * sharing * page_time(tile_bytes(DataType::bfloat16), profiles);
    steps.set_up += row.gathers * gather;
  }
  return planned({.cores = cores, .kernel_groups = sharing > 1 ? 2 : 1},
                 {profiles.software.ttnn_other_arguments, row.circular_buffers},
                 step_pipeline_cost(steps, grid, profiles), profiles.software);
}

}  // namespace

PlannedProgram plan_rows(const Program& program, const RowWork& row, CoreGrid grid,
                         const Profiles& profiles) {
  const TensorSpec& x = program.inputs[0].spec;
  if (stay_in_shards(program)) {
    return plan_rows_of_shards(program, row, grid, profiles);
  }
  const std::int64_t length = x.shape.tile_columns();
  const std::int64_t rows = x.shape.tiles() / length;
  const Bytes tile = tile_bytes(x.dtype);
  const WorkSplit work = split_work(rows, grid);
  const SimTime scale = row.keeps_scale ? read_time(length, tile, profiles) : SimTime();
  PlannedProgram planned =
      plan_tiles(work, {profiles.software.ttnn_other_arguments, row.circular_buffers},
                 {.steps = work.busiest * length,
                  .all_steps = x.shape.tiles(),
                  .reads = row.reads,
                  .writes = row.writes,
                  .compute = row.math,
                  .set_up = row.set_up + scale + work.busiest * row.per_row,
                  .tile = tile,
                  .out_tile = tile_bytes(program.outputs[0].spec.dtype),
                  .runs = {rows, work.cores, length, length},
                  .from = &x,
                  .to = &program.outputs[0].spec},
                 grid, profiles);
  if (row.keeps_scale) planned.kernel.dram += work.cores * length * tile;
  return planned;
}

SimTime norm_pass_time(const Program& program, bool fp32_accumulation, const TileCosts& cost) {
  return pass_time(fp32_accumulation || !stay_in_shards(program), cost);
}

bool stay_in_shards(const Program& program) {
  const TensorSpec& x = program.inputs[0].spec;
  return x.sharding && x.storage == Storage::l1 && x.layout == Layout::tile;
}

TilesPerStep one_a_row(const Program& program) {
  return {1, program.inputs[0].spec.shape.tile_columns()};
}

}  // namespace howard::chip
