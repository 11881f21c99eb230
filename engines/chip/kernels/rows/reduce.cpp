// SPDX-License-Identifier: Apache-2.0
#include "engines/chip/kernels/rows/rows.h"

#include <algorithm>

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
      .set_up = software.tiles.shard_set_up,
      .compute = software.tiles.shard_reduce + transfer_time(tile, profiles.chip.noc_link)};
  return planned({.cores = cores, .kernel_groups = 1},
                 {software.ttnn_unary_arguments, kTileBuffers},
                 step_pipeline_cost(steps, grid, profiles), software);
}

/// Says what an output tile needs: a row of tiles, a column of tiles, or one tile from each batch.
struct ReduceUnit {
  std::int64_t length = 1;  ///< Tiles.
  std::int64_t stride = 1;  ///< Pages from the first tile of a unit to that of the next.
};

/// Returns the cost of one unit on each of so many cores. Nothing of two units overlaps: the first
/// tile is read and the result written in the open.
KernelCost unit_cost(const Program& program, const ReduceUnit& unit, int cores, CoreGrid grid,
                     const Profiles& profiles) {
  const TensorSpec& in = program.inputs[0].spec;
  const TensorSpec& out = program.outputs[0].spec;
  const Bytes tile = tile_bytes(in.dtype), result = tile_bytes(out.dtype);
  const Bytes written(ceil_div(result.value(), unit.length));
  return step_pipeline_cost(
      {.steps = unit.length,
       .all_steps = unit.length * cores,
       .cores = cores,
       .read = read_latency(in, profiles.chip) + page_time(tile, profiles),
       .compute = profiles.software.tiles.reduce,
       .write = {},
       .last_write = write_latency(out, profiles.chip) + page_time(result, profiles),
       .reads = in_dram(in, tile),
       .writes = in_dram(out, written),
       .l1_reads = in_spread_l1(in, tile),
       .l1_writes = in_spread_l1(out, written),
       .runs = {cores, cores, unit.length, unit.stride}},
      grid, profiles);
}

/// Returns the cost of all units. The cores have one after the other, and in the last round, where
/// only some have one more, these have the DRAM for themselves.
KernelCost units_cost(const Program& program, const ReduceUnit& unit, std::int64_t units,
                      CoreGrid grid, const Profiles& profiles) {
  const std::int64_t all = grid.cores();
  const auto in_round = static_cast<int>(std::min(units, all));
  KernelCost kernel = unit_cost(program, unit, in_round, grid, profiles);
  const SimTime start = profiles.software.tiles.start;
  const SimTime each = kernel.total - start, alone = kernel.unshared - start;
  const std::int64_t rounds = units / all;
  SimTime further = std::max<std::int64_t>(0, rounds - 1) * each;
  SimTime further_alone = std::max<std::int64_t>(0, rounds - 1) * alone;
  if (rounds > 0 && units % all > 0) {
    const KernelCost last = unit_cost(program, unit, static_cast<int>(units % all), grid, profiles);
    further += last.total - start;
    further_alone += last.unshared - start;
  }
  for (SimTime* const time : {&kernel.reads_end, &kernel.math_end, &kernel.total}) {
    *time += further;
  }
  kernel.unshared += further_alone;
  kernel.dram = in_dram(program.inputs[0].spec, program.inputs[0].spec.padded_bytes()) +
                in_dram(program.outputs[0].spec, program.outputs[0].spec.padded_bytes());
  return kernel;
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
  std::int64_t length = in.shape.tiles() / out.shape.tiles();
  if (attributes.dimension == Dimension::columns) length = in.shape.tile_columns();
  if (attributes.dimension == Dimension::rows) length = in.shape.tile_rows();
  const std::int64_t units = in.shape.tiles() / length;
  // Rows lie one behind the other, columns side by side.
  const ReduceUnit unit{length, attributes.dimension == Dimension::columns ? length : 1};
  return planned(split_work(units, grid), {software.ttnn_unary_arguments, kTileBuffers},
                 units_cost(program, unit, units, grid, profiles), software);
}

}  // namespace howard::chip
