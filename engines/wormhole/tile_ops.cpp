// SPDX-License-Identifier: Apache-2.0
#include "engines/wormhole/tile_ops.h"

#include <algorithm>

#include "base/check.h"
#include "engines/wormhole/tile_pipeline.h"

namespace howard::wormhole {
namespace {

/// ttnn's split_work_to_cores.
struct Split {
  int cores = 0;             ///< That have units.
  std::int64_t busiest = 0;  ///< Units of the core that has most.
  int kernel_groups = 1;     ///< Cores with a unit more than the others are a group of their own.
};

Split split(std::int64_t units, CoreGrid grid) {
  const auto cores = static_cast<int>(std::min<std::int64_t>(units, grid.cores()));
  return {.cores = cores,
          .busiest = ceil_div(units, cores),
          .kernel_groups = units > cores && units % cores != 0 ? 2 : 1};
}

/// RISC stores that fill a tile of bf16, two numbers a word, or widen a column over one.
constexpr std::int64_t kStoresPerTile = 512;

Footprint footprint(int cores, int kernel_groups, int arguments, const SoftwareProfile& software) {
  constexpr int kBinaries = 5;         // reader, writer and three compute RISCs
  constexpr int kCircularBuffers = 3;  // input, output, a second operand or constants
  return {.cores = cores,
          .kernel_groups = kernel_groups,
          .binaries = kBinaries,
          .binary_bytes = software.ttnn_binary_bytes,
          .circular_buffers = kCircularBuffers,
          .unique_arguments = arguments};
}

SimTime math_time(Eltwise function, const TileCosts& cost) {
  switch (function) {
    case Eltwise::add:
    case Eltwise::subtract:
    case Eltwise::multiply:
    case Eltwise::square:
      return cost.fpu;
    case Eltwise::relu:
    case Eltwise::gtz:
    case Eltwise::cast:
    case Eltwise::fill:
      return cost.simple;
    case Eltwise::exp:
      return cost.exp;
    case Eltwise::erf:
      return cost.erf;
    case Eltwise::gelu:
      return cost.gelu;
    case Eltwise::sqrt:
      return cost.sqrt;
    case Eltwise::rsqrt:
      return cost.rsqrt;
    case Eltwise::reciprocal:
      return cost.reciprocal;
  }
  HOWARD_CHECK(false, "every function has a cost");
}

/// Two tensors. A column operand ([..., 1]) is read and widened once for a row of tiles, any other
/// operand tile for tile.
void read_operands(const Program& program, const SoftwareProfile& software,
                   TilePipeline& pipeline) {
  pipeline.reads = {static_cast<std::int64_t>(program.inputs.size()), 1};
  if (program.inputs.size() < 2) return;
  const std::int64_t columns = program.outputs[0].spec.shape.columns();
  const bool column = std::ranges::any_of(program.inputs, [&](const Operand& input) {
    return input.spec.shape.columns() == 1 && columns > 1;
  });
  if (!column) return;
  const std::int64_t row = program.outputs[0].spec.shape.tile_columns();
  pipeline.reads = {row + 1, row};
  pipeline.read_extra =
      SimTime::picoseconds(ceil_div((kStoresPerTile * software.tiles.store).ps(), row));
}

}  // namespace

PlannedProgram plan_eltwise(const Program& program, const EltwiseAttributes& attributes,
                            CoreGrid grid, const Profiles& profiles) {
  const SoftwareProfile& software = profiles.software;
  const TensorSpec& out = program.outputs[0].spec;
  const Split work = split(out.shape.tiles(), grid);
  TilePipeline pipeline{.steps = work.busiest,
                        .all_steps = out.shape.tiles(),
                        .cores = work.cores,
                        .writes = {1, 1},
                        .compute = math_time(attributes.function, software.tiles),
                        .tile = tile_bytes(out.dtype)};
  read_operands(program, software, pipeline);
  // A scalar becomes a tile of its own before the first step.
  if (attributes.scalar) pipeline.set_up = kStoresPerTile * software.tiles.store;
  // binary_ng places its kernels on every core, those of one operand only where there is work.
  const bool binary = arity_of(attributes.function) == 2;
  return {.name = program.name,
          .footprint = binary ? footprint(grid.cores(), 1, software.ttnn_binary_arguments, software)
                              : footprint(work.cores, work.kernel_groups,
                                          software.ttnn_unary_arguments, software),
          .kernel = tile_pipeline_cost(pipeline, grid, profiles)};
}

PlannedProgram plan_reduce(const Program& program, const ReduceAttributes& attributes,
                           CoreGrid grid, const Profiles& profiles) {
  const SoftwareProfile& software = profiles.software;
  const Shape& in = program.inputs[0].spec.shape;
  // A unit is what one output tile needs: a row of tiles, a column of them, or one from each batch.
  std::int64_t length = in.batch();
  if (attributes.dimension == Dimension::columns) length = in.tile_columns();
  if (attributes.dimension == Dimension::rows) length = in.tile_rows();
  const std::int64_t units = in.tiles() / length;
  const Split work = split(units, grid);
  const TilePipeline pipeline{.steps = work.busiest * length,
                              .all_steps = in.tiles(),
                              .cores = work.cores,
                              .reads = {1, 1},
                              .writes = {1, length},
                              .compute = software.tiles.reduce,
                              .tile = tile_bytes(program.outputs[0].spec.dtype)};
  return {.name = program.name,
          .footprint =
              footprint(work.cores, work.kernel_groups, software.ttnn_unary_arguments, software),
          .kernel = tile_pipeline_cost(pipeline, grid, profiles)};
}

PlannedProgram plan_transpose(const Program& program, CoreGrid grid, const Profiles& profiles) {
  const SoftwareProfile& software = profiles.software;
  const TensorSpec& out = program.outputs[0].spec;
  const Split work = split(out.shape.tiles(), grid);
  const TilePipeline pipeline{.steps = work.busiest,
                              .all_steps = out.shape.tiles(),
                              .cores = work.cores,
                              .reads = {1, 1},
                              .writes = {1, 1},
                              .compute = software.tiles.transpose,
                              .tile = tile_bytes(out.dtype)};
  return {.name = program.name,
          .footprint =
              footprint(work.cores, work.kernel_groups, software.ttnn_unary_arguments, software),
          .kernel = tile_pipeline_cost(pipeline, grid, profiles)};
}

}  // namespace howard::wormhole
