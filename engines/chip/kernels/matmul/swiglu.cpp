// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "engines/chip/kernels/elementwise/elementwise.h"
#include "engines/chip/kernels/pipeline/pages.h"
#include "engines/chip/kernels/pipeline/tile_pipeline.h"
#include "engines/chip/kernels/pipeline/tile_product.h"
#include "engines/chip/kernels/plan/plans.h"
#include "engines/chip/kernels/plan/work_split.h"

namespace howard::chip {
namespace {

/// A reader fetches so many tiles of a weight before it waits, and a core computes so many of the
/// result at a time: as many as the destination registers hold with float32 sums.
constexpr std::int64_t kBlock = 4;

/// Says what a core does for one row of tiles.
struct SwigluRow {
  std::int64_t width = 0;   ///< The tiles of a row of x, and of the result.
  std::int64_t hidden = 0;  ///< The tiles of a row between the products.
  std::int64_t times = 1;   ///< How often the hidden row is computed.

  /// Returns the products of four tiles: those of the gate and the way up, and of the way down.
  std::int64_t steps() const {
    return 2 * times * width * ceil_div(hidden, kBlock) + hidden * ceil_div(width, kBlock);
  }
};

SwigluRow row_of(const Program& program, const ChipProfile& chip) {
  SwigluRow row{.width = program.inputs[0].spec.shape.tile_columns(),
                .hidden = program.inputs[1].spec.shape.tile_rows()};
  const Bytes rows = (row.width + row.hidden) * tile_bytes(program.inputs[0].spec.dtype);
  if (rows > chip.l1_circular_buffers) row.times = ceil_div(row.width, kBlock);
  return row;
}

/// Returns the math time of a step: four products, and its share of what is done with the results.
/// The passes of a tile of the hidden row pack both products, make the silu and multiply; a tile of
/// the result is packed.
SimTime swiglu_step_time(const SwigluRow& row, Bytes tile, const Profiles& profiles) {
  constexpr std::int64_t kPhases = 4;  // HiFi4
  constexpr std::int64_t kHiddenPasses = 4;
  const TileCosts& cost = profiles.software.tiles;
  const SimTime product =
      std::max(profiles.chip.tile_pass() * kPhases + profiles.software.matmul_tile_product,
               unpack_time({.in0_tile = tile, .in1_tile = tile}, profiles.chip));
  const SimTime hidden =
      kHiddenPasses * cost.pass + eltwise_math_time({.function = Eltwise::silu}, cost);
  const SimTime results = row.times * row.hidden * hidden + row.width * cost.pass;
  return kBlock * product + SimTime::picoseconds(ceil_div(results.ps(), row.steps()));
}

}  // namespace

PlannedProgram plan(const SwigluAttributes&, const Program& program, CoreGrid grid,
                    const Profiles& profiles) {
  const TensorSpec& x = program.inputs[0].spec;
  const Bytes tile = tile_bytes(x.dtype);
  const SwigluRow row = row_of(program, profiles.chip);
  const std::int64_t rows = x.shape.tiles() / row.width;
  const WorkSplit work = split_work(rows, grid);
  const StepPipeline pipeline{
      .steps = work.busiest * row.steps(),
      .all_steps = rows * row.steps(),
      .cores = work.cores,
      .set_up = work.busiest * row.times * read_time(row.width, tile, profiles),
      .read = read_time(kBlock, tile, profiles),
      .compute = swiglu_step_time(row, tile, profiles),
      .write = {},
      .last_write = write_time(row.width, tile, profiles),
      // One core reads a block of a weight and multicasts it to all, which march in step.
      .reads = Bytes(ceil_div((kBlock * tile).value(), std::int64_t{work.cores})),
      .writes = {}};
  KernelCost cost = step_pipeline_cost(pipeline, grid, profiles);
  cost.dram += rows * (row.times + 1) * row.width * tile;
  constexpr int kCircularBuffers = 10;
  return planned(work, {profiles.software.ttnn_other_arguments, kCircularBuffers}, cost,
                 profiles.software);
}

}  // namespace howard::chip
