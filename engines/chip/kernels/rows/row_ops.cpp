// SPDX-License-Identifier: Apache-2.0
#include "engines/chip/kernels/rows/row_ops.h"

#include "engines/chip/kernels/elementwise/eltwise.h"
#include "engines/chip/kernels/pipeline/tile_pipeline.h"
#include "engines/chip/kernels/plan/work_split.h"

namespace howard::chip {
namespace {

// The numbers of passes over a row of tiles follow from what the kernels do.
constexpr std::int64_t kSoftmax = 4;          // maximum; difference and exp; sum; product
constexpr std::int64_t kSoftmaxBackward = 4;  // y dy; sum; difference; product
constexpr std::int64_t kLayernorm = 7;  // mean; difference; square; variance; product; scale; shift
constexpr std::int64_t kCrossEntropy = 2;          // maximum; exp and sum
constexpr std::int64_t kCrossEntropyBackward = 3;  // those, and exp times what the sum makes of it

/// The times of a kernel for each tile of a row, and besides.
struct RowWork {
  TilesPerStep reads, writes;
  SimTime math;     ///< For one tile, all passes together.
  SimTime per_row;  ///< The extra time for a row of tiles.
  SimTime set_up;   ///< Passes once.
};

PlannedProgram plan_rows(const Program& program, const RowWork& row, CoreGrid grid,
                         const Profiles& profiles) {
  const TensorSpec& x = program.inputs[0].spec;
  const std::int64_t length = x.shape.tile_columns();
  const WorkSplit work = split_work(x.shape.tiles() / length, grid);
  const TilePipeline pipeline{.steps = work.busiest * length,
                              .all_steps = x.shape.tiles(),
                              .cores = work.cores,
                              .reads = row.reads,
                              .writes = row.writes,
                              .compute = row.math,
                              .set_up = row.set_up + work.busiest * row.per_row,
                              .tile = tile_bytes(x.dtype),
                              .out_tile = tile_bytes(program.outputs[0].spec.dtype),
                              .runs = {x.shape.tiles() / length, work.cores, length, length}};
  constexpr int kCircularBuffers = 4;
  return {.name = program.name,
          .footprint =
              op_footprint(work.cores, work.kernel_groups, profiles.software.ttnn_other_arguments,
                           kCircularBuffers, profiles.software),
          .kernel = tile_pipeline_cost(pipeline, grid, profiles)};
}

/// Returns one tile for each row of `program`'s first input.
TilesPerStep one_a_row(const Program& program) {
  return {1, program.inputs[0].spec.shape.tile_columns()};
}

}  // namespace

PlannedProgram plan_softmax(const Program& program, CoreGrid grid, const Profiles& profiles) {
  const TileCosts& cost = profiles.software.tiles;
  return plan_rows(
      program,
      {.reads = {1, 1},
       .writes = {1, 1},
       .math = kSoftmax * cost.pass + eltwise_math_time({.function = Eltwise::exp}, cost),
       .per_row = cost.softmax_row,
       .set_up = cost.softmax_start},
      grid, profiles);
}

PlannedProgram plan_softmax_backward(const Program& program, CoreGrid grid,
                                     const Profiles& profiles) {
  return plan_rows(
      program,
      {.reads = {2, 1}, .writes = {1, 1}, .math = kSoftmaxBackward * profiles.software.tiles.pass},
      grid, profiles);
}

PlannedProgram plan_layernorm(const Program& program, CoreGrid grid, const Profiles& profiles) {
  const TileCosts& cost = profiles.software.tiles;
  const bool statistics = program.outputs.size() > 1;
  return plan_rows(program,
                   {.reads = {1, 1},
                    .writes = {1, 1},
                    .math = statistics ? cost.ttml_layernorm : kLayernorm * cost.pass},
                   grid, profiles);
}

PlannedProgram plan_layernorm_backward(const Program& program, CoreGrid grid,
                                       const Profiles& profiles) {
  // The kernel reads x and dy and writes dx and two components; it has about twice the arithmetic
  // of the forward pass.
  return plan_rows(
      program,
      {.reads = {2, 1}, .writes = {3, 1}, .math = 2 * profiles.software.tiles.ttml_layernorm}, grid,
      profiles);
}

PlannedProgram plan_cross_entropy(const Program& program, CoreGrid grid, const Profiles& profiles) {
  const TileCosts& cost = profiles.software.tiles;
  return plan_rows(
      program,
      {.reads = {1, 1},
       .writes = one_a_row(program),
       .math = kCrossEntropy * cost.pass + eltwise_math_time({.function = Eltwise::exp}, cost),
       // Before a row, it reads the tile in which each of its positions has its target, one by one.
       .per_row = kTileSide * read_time(1, tile_bytes(program.inputs[0].spec.dtype), profiles)},
      grid, profiles);
}

PlannedProgram plan_cross_entropy_backward(const Program& program, CoreGrid grid,
                                           const Profiles& profiles) {
  const TileCosts& cost = profiles.software.tiles;
  return plan_rows(program,
                   {.reads = {1, 1},
                    .writes = {1, 1},
                    .math = kCrossEntropyBackward * cost.pass +
                            2 * eltwise_math_time({.function = Eltwise::exp}, cost)},
                   grid, profiles);
}

PlannedProgram plan_nll_loss(const Program& program, CoreGrid grid, const Profiles& profiles) {
  // It reads no row, but for each position the tile that has its target. Nobody has published its
  // time.
  return plan_rows(
      program,
      {.reads = {0, 1},
       .writes = one_a_row(program),
       .math = SimTime(),
       .per_row = kTileSide * read_time(1, tile_bytes(program.inputs[0].spec.dtype), profiles)},
      grid, profiles);
}

PlannedProgram plan_nll_loss_backward(const Program& program, CoreGrid grid,
                                      const Profiles& profiles) {
  // A tile of zeros is made once for a row of tiles; the targets are set in it.
  return plan_rows(program,
                   {.reads = {0, 1},
                    .writes = {1, 1},
                    .math = SimTime(),
                    .per_row = scalar_tile_time(profiles.software)},
                   grid, profiles);
}

PlannedProgram plan_sgd(const Program& program, const SgdAttributes& attributes, CoreGrid grid,
                        const Profiles& profiles) {
  // The gradient times the rate, and the difference; decay, momentum and nesterov each add a number
  // times a tensor.
  const std::int64_t passes = 2 + std::int64_t{attributes.weight_decay != 0} +
                              std::int64_t{attributes.momentum != 0} +
                              std::int64_t{attributes.nesterov};
  return plan_rows(program,
                   {.reads = {std::ssize(program.inputs), 1},
                    .writes = {std::ssize(program.outputs), 1},
                    .math = passes * profiles.software.tiles.pass},
                   grid, profiles);
}

}  // namespace howard::chip
