// SPDX-License-Identifier: Apache-2.0
#include "engines/chip/kernels/rows/rms_norm.h"

#include <algorithm>

#include "engines/chip/kernels/pipeline/tile_pipeline.h"
#include "engines/chip/kernels/plan/work_split.h"

namespace howard::chip {
namespace {

constexpr int kCircularBuffersOfRows = 6;

/// The passes over a tile are mean, difference, square, variance, scale, gamma and beta.
constexpr std::int64_t kLayernormPasses = 7;
/// The passes are squares, their sum, scale and gamma.
constexpr std::int64_t kRmsNormPasses = 4;
/// The squares are kept as the root. The passes make the products with dy, their sum, both terms of
/// dx, and dgamma.
constexpr std::int64_t kRmsNormBackwardPasses = 8;

SimTime passes_of(SimTime layernorm, std::int64_t passes) {
  return SimTime::picoseconds(ceil_div(layernorm.ps() * passes, kLayernormPasses));
}

PlannedProgram planned_rows(const Program& program, const WorkSplit& work, KernelCost kernel,
                            const Profiles& profiles) {
  return {.name = program.name,
          .footprint =
              op_footprint(work.cores, work.kernel_groups, profiles.software.ttnn_other_arguments,
                           kCircularBuffersOfRows, profiles.software),
          .kernel = kernel};
}

/// Deals out rows of tiles. Each core reads gamma once and keeps it.
PlannedProgram plan_normalised_rows(const Program& program, TilesPerStep reads, TilesPerStep writes,
                                    SimTime math, CoreGrid grid, const Profiles& profiles) {
  const TensorSpec& x = program.inputs[0].spec;
  const std::int64_t length = x.shape.tile_columns();
  const WorkSplit work = split_work(x.shape.tiles() / length, grid);
  const Bytes tile = tile_bytes(x.dtype);
  const bool scaled = program.inputs.size() > 1;
  const TilePipeline pipeline{.steps = work.busiest * length,
                              .all_steps = x.shape.tiles(),
                              .cores = work.cores,
                              .reads = reads,
                              .writes = writes,
                              .compute = math,
                              .set_up = scaled ? read_time(length, tile, profiles) : SimTime(),
                              .tile = tile,
                              .out_tile = tile_bytes(program.outputs[0].spec.dtype),
                              .runs = {x.shape.tiles() / length, work.cores, length, length}};
  KernelCost kernel = tile_pipeline_cost(pipeline, grid, profiles);
  if (scaled) kernel.dram += work.cores * length * tile;
  return planned_rows(program, work, kernel, profiles);
}

}  // namespace

PlannedProgram plan_rms_norm(const Program& program, CoreGrid grid, const Profiles& profiles) {
  const TileCosts& cost = profiles.software.tiles;
  const std::int64_t length = program.inputs[0].spec.shape.tile_columns();
  const bool keeps = program.outputs.size() > 1;
  return plan_normalised_rows(
      program, {1, 1}, keeps ? TilesPerStep{length + 1, length} : TilesPerStep{1, 1},
      keeps ? passes_of(cost.ttml_layernorm, kRmsNormPasses) : kRmsNormPasses * cost.pass, grid,
      profiles);
}

PlannedProgram plan_rms_norm_backward(const Program& program, CoreGrid grid,
                                      const Profiles& profiles) {
  const std::int64_t length = program.inputs[0].spec.shape.tile_columns();
  // A core reads x, dy and the root of each row, and writes dx and the component.
  return plan_normalised_rows(
      program, {2 * length + 1, length}, {2, 1},
      passes_of(profiles.software.tiles.ttml_layernorm, kRmsNormBackwardPasses), grid, profiles);
}

PlannedProgram plan_rotary_embedding(const Program& program,
                                     const RotaryEmbeddingAttributes& attributes, CoreGrid grid,
                                     const Profiles& profiles) {
  const TensorSpec& x = program.inputs[0].spec;
  const Bytes tile = tile_bytes(x.dtype);
  const std::int64_t length = x.shape.tile_columns();
  const std::int64_t sequence = x.shape.tile_rows();
  WorkSplit work;
  TilesPerStep reads{1, 1};
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
    // Each tile needs its partner of the other half and both tables.
    work = split_work(x.shape.batch() * sequence, grid);
    reads = {4, 1};
  }
  // A core computes the rotated copy, two products and their sum.
  const TilePipeline pipeline{.steps = work.busiest * length,
                              .all_steps = x.shape.tiles(),
                              .cores = work.cores,
                              .reads = reads,
                              .writes = {1, 1},
                              .compute = 4 * profiles.software.tiles.fpu,
                              .tile = tile,
                              .out_tile = tile_bytes(program.outputs[0].spec.dtype)};
  return planned_rows(program, work, tile_pipeline_cost(pipeline, grid, profiles), profiles);
}

}  // namespace howard::chip
