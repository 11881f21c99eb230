// SPDX-License-Identifier: Apache-2.0
#include "engines/chip/kernels/rows/rows.h"

#include "base/check.h"
#include "engines/chip/kernels/elementwise/elementwise.h"
#include "engines/chip/kernels/pipeline/pages.h"
#include "engines/chip/kernels/plan/plans.h"

namespace howard::chip {
namespace {

/// Plans the sum over the rows of width shards: a core copies each tile of its shard and adds it.
PlannedProgram plan_reduce_of_shards(const Program& program, CoreGrid grid,
                                     const Profiles& profiles) {
  const TensorSpec& in = program.inputs[0].spec;
  const auto cores = static_cast<int>(shards_of(in));
  const auto [tiles, tile] = shard_pages(in);
  const SoftwareProfile& software = profiles.software;
  const StepPipeline steps{
      .steps = tiles,
      .all_steps = tiles * cores,
      .cores = cores,
      .set_up = software.tiles.shard_start,
      .compute = software.tiles.shard_reduce + transfer_time(tile, profiles.chip.noc_link)};
  return planned(program, {.cores = cores, .kernel_groups = 1},
                 {software.ttnn_unary_arguments, kTileBuffers},
                 step_pipeline_cost(steps, grid, profiles), software);
}

}  // namespace

PlannedProgram plan(const ReduceAttributes& attributes, const Program& program, CoreGrid grid,
                    const Profiles& profiles) {
  HOWARD_CHECK(attributes.dimension != Dimension::all, "lowered to one dimension at a time");
  const SoftwareProfile& software = profiles.software;
  const TensorSpec& in = program.inputs[0].spec;
  const TensorSpec& out = program.outputs[0].spec;
  const bool whole = attributes.dimension == Dimension::rows && in.sharding &&
                     in.sharding->layout == ShardLayout::width && in.storage == Storage::l1;
  if (whole) return plan_reduce_of_shards(program, grid, profiles);
  // A unit is what one output tile needs: a row of tiles, a column of tiles, or one tile from each
  // batch.
  std::int64_t length = in.shape.tiles() / out.shape.tiles();
  if (attributes.dimension == Dimension::columns) length = in.shape.tile_columns();
  if (attributes.dimension == Dimension::rows) length = in.shape.tile_rows();
  const std::int64_t units = in.shape.tiles() / length;
  const WorkSplit work = split_work(units, grid);
  return plan_tiles(program, work, {software.ttnn_unary_arguments, kTileBuffers},
                    {.steps = work.busiest * length,
                     .all_steps = in.shape.tiles(),
                     .reads = {1, 1},
                     .writes = {1, length},
                     .compute = software.tiles.reduce,
                     .tile = tile_bytes(in.dtype),
                     .out_tile = tile_bytes(out.dtype),
                     // Rows lie one behind the other, columns side by side.
                     .runs = {units, work.cores, length,
                              attributes.dimension == Dimension::columns ? length : 1}},
                    grid, profiles);
}

}  // namespace howard::chip
