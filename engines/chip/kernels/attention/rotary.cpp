// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "engines/chip/kernels/pipeline/pages.h"
#include "engines/chip/kernels/pipeline/tile_pipeline.h"
#include "engines/chip/kernels/plan/plans.h"

namespace howard::chip {
namespace {

/// Plans the rotation of shards, in which the tables lie in shards of their own: a product with the
/// matrix of signs, two products with the tables and a sum, of which each sets the unit anew.
PlannedProgram plan_rotary_of_shards(const Program& program, CoreGrid grid,
                                     const Profiles& profiles) {
  constexpr std::int64_t kPasses = 6;
  constexpr int kCircularBuffers = 6;
  const TensorSpec& x = program.inputs[0].spec;
  const auto cores = static_cast<int>(shards_of(x));
  const std::int64_t tiles = shard_pages(x).count;
  const SoftwareProfile& software = profiles.software;
  const StepPipeline steps{.steps = tiles,
                           .all_steps = tiles * cores,
                           .cores = cores,
                           .set_up = software.tiles.shard_set_up,
                           .on_shards = true,
                           .compute = kPasses * software.tiles.pass};
  return planned({.cores = cores, .kernel_groups = 1},
                 {software.ttnn_other_arguments, kCircularBuffers},
                 step_pipeline_cost(steps, grid, profiles), software);
}

}  // namespace

PlannedProgram plan(const RotaryEmbeddingAttributes& attributes, const Program& program,
                    CoreGrid grid, const Profiles& profiles) {
  const TensorSpec& x = program.inputs[0].spec;
  if (x.sharding && x.storage == Storage::l1 && x.layout == Layout::tile) {
    return plan_rotary_of_shards(program, grid, profiles);
  }
  const std::int64_t length = x.shape.tile_columns();
  const std::int64_t sequence = x.shape.tile_rows();
  WorkSplit work;
  TilesPerStep reads{1, 1};
  std::int64_t of_x = 1;
  SimTime waits;
  if (attributes.style == RotaryStyle::pairs) {
    // The batch is dealt out first, then the sequence; a core goes over all heads of its rows.
    const std::int64_t batches = std::min<std::int64_t>(x.shape.outer(), grid.cores());
    const std::int64_t each = std::min(grid.cores() / batches, sequence);
    const std::int64_t rows = ceil_div(sequence, each);
    work = {.cores = static_cast<int>(batches * each),
            .busiest = ceil_div(x.shape.outer(), batches) * rows * x.shape.heads(),
            .kernel_groups = 1};
    // The tables are kept for up to eight rows of a core, and read again for every head beyond.
    constexpr std::int64_t kKeptRows = 8;
    const bool kept = x.shape.heads() * rows <= kKeptRows;
    reads = kept ? TilesPerStep{x.shape.heads() + 2, x.shape.heads()} : TilesPerStep{3, 1};
  } else {
    // Each tile needs its partner of the other half and both tables, and waits for one after the
    // other (tt-metal reader_rotary_embedding_interleaved_start_id.cpp).
    work = split_work(x.shape.batch() * sequence, grid);
    reads = {4, 1};
    of_x = 2;
    waits = 3 * profiles.chip.noc_read_latency;
  }
  // Pages of tables that are shorter than the row of banks are in as many banks as there are pages.
  const std::int64_t banks = profiles.chip.dram_banks;
  const std::int64_t pages = std::min(banks, length * sequence);
  const TilesPerStep crowded{(reads.tiles - of_x * reads.steps) * (banks - pages),
                             reads.steps * pages};
  // A core computes the rotated copy, two products and their sum.
  constexpr int kCircularBuffers = 6;
  return plan_tiles(work, {profiles.software.ttnn_other_arguments, kCircularBuffers},
                    {.steps = work.busiest * length,
                     .all_steps = x.shape.tiles(),
                     .reads = reads,
                     .writes = {1, 1},
                     .crowded_reads = crowded,
                     .compute = 4 * profiles.software.tiles.fpu,
                     .read_extra = waits,
                     .tile = tile_bytes(x.dtype),
                     .out_tile = tile_bytes(program.outputs[0].spec.dtype)},
                    grid, profiles);
}

}  // namespace howard::chip
