// SPDX-License-Identifier: Apache-2.0
#include "engines/chip/kernels/elementwise/elementwise.h"

#include <algorithm>
#include <span>

#include "base/check.h"
#include "engines/chip/kernels/pipeline/pages.h"
#include "engines/chip/kernels/plan/plans.h"

namespace howard::chip {
namespace {

/// A RISC fills a tile of bf16 with this many stores of two numbers in a word. It widens a column
/// over a tile with as many.
constexpr std::int64_t kStoresPerTile = 512;

/// Reads two tensors. A column operand ([..., 1]) is read and widened once for a row of tiles; any
/// other operand is read tile for tile.
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

/// Returns the time that further operands add to the start of a kernel.
SimTime operand_set_up(const Program& program, const SoftwareProfile& software) {
  const auto further = std::max<std::int64_t>(0, std::ssize(program.inputs) - 1);
  return further * software.tiles.operand;
}

/// Returns the largest tile among the inputs: operands of other data types are rare and smaller.
Bytes input_tile(const Program& program) {
  Bytes tile;
  for (const Operand& input : program.inputs) tile = std::max(tile, tile_bytes(input.spec.dtype));
  return tile;
}

}  // namespace

SimTime eltwise_math_time(const EltwiseAttributes& attributes, const TileCosts& cost) {
  SimTime time = cost.functions.at(static_cast<std::size_t>(attributes.function));
  const bool clips = arity_of(attributes.function) > 1 && attributes.then.size() == 1 &&
                     attributes.then[0].function == Eltwise::relu;
  if (!clips) {
    for (const EltwiseStep& step : attributes.then) time += fused_math_time(step.function, cost);
  }
  for (const auto* const steps : {&attributes.on_a, &attributes.on_b}) {
    if (steps->empty()) continue;
    time += cost.operand_chain;
    time += cost.functions.at(static_cast<std::size_t>(steps->front().function));
    for (const EltwiseStep& step : std::span(*steps).subspan(1)) {
      time += fused_math_time(step.function, cost);
    }
  }
  return time;
}

SimTime fused_math_time(Eltwise function, const TileCosts& cost) {
  const SimTime alone = cost.functions.at(static_cast<std::size_t>(function));
  return alone - std::min(alone, cost.functions.at(static_cast<std::size_t>(Eltwise::identity)));
}

SimTime scalar_tile_time(const SoftwareProfile& software) {
  return kStoresPerTile * software.tiles.store;
}

namespace {

PlannedProgram plan_eltwise_in_dram(const Program& program, const EltwiseAttributes& attributes,
                                    CoreGrid device_grid, const Profiles& profiles) {
  const SoftwareProfile& software = profiles.software;
  const TensorSpec& out = program.outputs[0].spec;
  const CoreGrid grid = attributes.core_grid.value_or(device_grid);
  TilePipeline pipeline{.all_steps = out.shape.tiles(),
                        .writes = {1, 1},
                        .compute = eltwise_math_time(attributes, software.tiles),
                        .set_up = operand_set_up(program, software),
                        .tile = input_tile(program),
                        .out_tile = tile_bytes(out.dtype)};
  read_operands(program, software, pipeline);
  // A scalar becomes a tile of its own before the first step.
  if (attributes.scalar) pipeline.set_up += scalar_tile_time(software);
  if (attributes.function == Eltwise::multiply) pipeline.set_up += software.tiles.multiply;
  const bool binary = arity_of(attributes.function) == 2;
  const int arguments = binary ? software.ttnn_binary_arguments : software.ttnn_unary_arguments;
  PlannedProgram planned = plan_tiles(split_work(out.shape.tiles(), grid),
                                      {arguments, kTileBuffers}, pipeline, grid, profiles);
  // binary_ng places its kernels on every core; kernels of one operand are only placed where there
  // is work.
  if (binary) {
    planned.footprint.cores = grid.cores();
    planned.footprint.kernel_groups = 1;
  }
  return planned;
}

/// Says along which sides an operand of one row or one column is repeated.
struct Repeated {
  bool rows = false, columns = false;
};

Repeated repeated_in(const Program& program) {
  if (program.inputs.size() != 2) return {};
  const Shape& a = program.inputs[0].spec.shape;
  const Shape& b = program.inputs[1].spec.shape;
  return {b.rows() == 1 && a.rows() > 1, b.columns() == 1 && a.columns() > 1};
}

/// Plans the older kernels, which deal out the rows of tiles of one matrix if a row is repeated,
/// its columns of tiles if a column is, and else all tiles. A core goes over all matrices and waits
/// for the tiles of either operand, one after the other. A column's tile is read once for the tiles
/// beside each other that a core has, a single number once.
PlannedProgram plan_older_broadcast(const Program& program, const EltwiseAttributes& attributes,
                                    Repeated repeated, CoreGrid grid, const Profiles& profiles) {
  const SoftwareProfile& software = profiles.software;
  const TensorSpec &a = program.inputs[0].spec, &b = program.inputs[1].spec;
  const TensorSpec& out = program.outputs[0].spec;
  const std::int64_t tiles = a.shape.tiles();
  const std::int64_t units = repeated.rows && repeated.columns ? tiles
                             : repeated.rows                   ? a.shape.tile_rows()
                                                               : a.shape.tile_columns();
  const WorkSplit work = split_work(units, grid);
  const Bytes tile = tile_bytes(a.dtype), second = tile_bytes(b.dtype);
  const SimTime once = read_latency(b, profiles.chip) + page_time(second, profiles);
  const bool is_number = repeated.rows && repeated.columns;
  const std::int64_t share = repeated.rows ? 1 : work.busiest;
  const SimTime repeat = SimTime::picoseconds(is_number ? 0 : ceil_div(once.ps(), share));
  const Bytes read_again(is_number ? 0 : ceil_div(second.value(), share));
  PlannedProgram planned = plan_steps(
      work,
      {.steps = work.busiest * (tiles / units),
       .all_steps = tiles,
       .set_up = is_number ? once : SimTime(),
       .read = read_latency(a, profiles.chip) + page_time(tile, profiles) + repeat +
               software.tiles.broadcast,
       .compute = eltwise_math_time(attributes, software.tiles),
       .write = write_latency(out, profiles.chip) + page_time(tile_bytes(out.dtype), profiles),
       .reads = in_dram(a, tile) + in_dram(b, read_again),
       .writes = in_dram(out, tile_bytes(out.dtype)),
       .l1_reads = in_spread_l1(a, tile) + in_spread_l1(b, read_again),
       .l1_writes = in_spread_l1(out, tile_bytes(out.dtype))},
      grid, profiles, kTileBuffers);
  planned.footprint.cores = grid.cores();
  return planned;
}

}  // namespace

PlannedProgram plan(const EltwiseAttributes& attributes, const Program& program, CoreGrid grid,
                    const Profiles& profiles) {
  const Repeated repeated = repeated_in(program);
  if (attributes.older && (repeated.rows || repeated.columns)) {
    return plan_older_broadcast(program, attributes, repeated, grid, profiles);
  }
  return touches_l1(program) ? plan_eltwise_in_l1(program, attributes, grid, profiles)
                             : plan_eltwise_in_dram(program, attributes, grid, profiles);
}

PlannedProgram plan_tile_for_tile(const Program& program, SimTime compute, CoreGrid grid,
                                  const Profiles& profiles) {
  const TensorSpec& out = program.outputs[0].spec;
  return plan_tiles(split_work(out.shape.tiles(), grid),
                    {profiles.software.ttnn_other_arguments, kTileBuffers + 1},
                    {.all_steps = out.shape.tiles(),
                     .reads = {static_cast<std::int64_t>(program.inputs.size()), 1},
                     .writes = {static_cast<std::int64_t>(program.outputs.size()), 1},
                     .compute = compute,
                     .set_up = operand_set_up(program, profiles.software),
                     .tile = input_tile(program),
                     .out_tile = tile_bytes(out.dtype)},
                    grid, profiles);
}

PlannedProgram plan(const GeluBackwardAttributes& attributes, const Program& program, CoreGrid grid,
                    const Profiles& profiles) {
  HOWARD_CHECK(attributes.fused, "lowered to elementwise ops");
  return plan_tile_for_tile(program, profiles.software.tiles.gelu_backward, grid, profiles);
}

PlannedProgram plan(const SwigluBackwardAttributes&, const Program& program, CoreGrid grid,
                    const Profiles& profiles) {
  const TileCosts& tiles = profiles.software.tiles;
  constexpr int kProducts = 3;  // dy up, gate sigmoid(gate), and that times dy
  const SimTime slope = tiles.functions.at(static_cast<std::size_t>(Eltwise::silu_backward));
  return plan_tile_for_tile(program, slope + kProducts * tiles.fpu, grid, profiles);
}

}  // namespace howard::chip
