// SPDX-License-Identifier: Apache-2.0
#include "engines/chip/kernels/data_movement/l1_ops.h"

#include <algorithm>

#include "base/error.h"
#include "engines/chip/kernels/elementwise/eltwise.h"
#include "engines/chip/kernels/pipeline/tile_pipeline.h"
#include "engines/chip/kernels/plan/work_split.h"

namespace howard::chip {
namespace {

constexpr int kCircularBuffersInL1 = 3;

/// Says what it takes to move pages over the NoC, to or from either memory.
struct PageMoves {
  const Profiles& profiles;

  SimTime page(Bytes size) const {
    return std::max(profiles.software.matmul_read_issue,
                    transfer_time(size, profiles.chip.noc_link));
  }
  SimTime read_latency(const TensorSpec& spec) const {
    return spec.storage == Storage::dram ? profiles.chip.noc_read_latency
                                         : profiles.chip.l1_latency;
  }
  SimTime write_latency(const TensorSpec& spec) const {
    return spec.storage == Storage::dram ? profiles.chip.noc_write_latency
                                         : profiles.chip.l1_latency;
  }
};

Bytes of_dram(const TensorSpec& spec, Bytes size) {
  return spec.storage == Storage::dram ? size : Bytes();
}

/// Says in what pieces a shard is moved: in tiles, or in its rows if the tensor is row-major.
struct ShardPages {
  std::int64_t count = 0;
  Bytes size;
};

ShardPages shard_pages(const TensorSpec& spec) {
  const Sharding& shard = *spec.sharding;
  if (spec.layout == Layout::tile) {
    return {shard.rows / kTileSide * (shard.columns / kTileSide), tile_bytes(spec.dtype)};
  }
  return {shard.rows, shard.columns * Bytes(spec.host_bytes().value() / spec.shape.elements())};
}

/// Says whether ttnn runs the program on the shards where they are: if all are alike and full.
bool runs_on_shards(const Program& program) {
  const TensorSpec& out = program.outputs[0].spec;
  if (!out.sharding || shards_of(out) * shard_pages(out).count != out.shape.tiles()) return false;
  return std::ranges::all_of(program.inputs, [&](const Operand& input) {
    return input.spec.shape == out.shape && input.spec.sharding == out.sharding;
  });
}

PlannedProgram planned_in_l1(const Program& program, int cores, int groups, int arguments,
                             KernelCost kernel, const Profiles& profiles) {
  return {
      .name = program.name,
      .footprint = op_footprint(cores, groups, arguments, kCircularBuffersInL1, profiles.software),
      .kernel = kernel};
}

/// Plans reads into shards in batches of pages, each with a barrier; the more cores ask the DRAM,
/// the smaller the batches.
PlannedProgram plan_into_shards(const Program& program, CoreGrid grid, const Profiles& profiles) {
  const TensorSpec& from = program.inputs[0].spec;
  const TensorSpec& to = program.outputs[0].spec;
  const PageMoves moves{profiles};
  const auto cores = static_cast<int>(shards_of(to));
  const auto [pages, page] = shard_pages(to);
  // These bytes keep the DRAM busy. ttnn deals them out over the cores, and each core has a barrier
  // after its pages of them.
  constexpr std::int64_t kInFlight = std::int64_t{512} * 1152;
  const std::int64_t batch = std::clamp<std::int64_t>(kInFlight / cores / page.value(), 1, pages);
  const KernelCost kernel =
      step_pipeline_cost({.steps = ceil_div(pages, batch),
                          .all_steps = ceil_div(pages, batch) * cores,
                          .cores = cores,
                          .read = moves.read_latency(from) + batch * moves.page(page),
                          .compute = {},
                          .write = {},
                          .last_write = {},
                          .reads = of_dram(from, batch * page),
                          .writes = {}},
                         grid, profiles);
  return planned_in_l1(program, cores, 1, profiles.software.ttnn_other_arguments, kernel, profiles);
}

/// Plans the writing of all pages of a shard, with one wait.
PlannedProgram plan_out_of_shards(const Program& program, CoreGrid grid, const Profiles& profiles) {
  const TensorSpec& from = program.inputs[0].spec;
  const TensorSpec& to = program.outputs[0].spec;
  const PageMoves moves{profiles};
  const auto cores = static_cast<int>(shards_of(from));
  const auto [pages, page] = shard_pages(from);
  const SimTime write = moves.write_latency(to) + pages * moves.page(page);
  const KernelCost kernel = step_pipeline_cost({.steps = 1,
                                                .all_steps = cores,
                                                .cores = cores,
                                                .read = {},
                                                .compute = {},
                                                .write = write,
                                                .last_write = write,
                                                .reads = {},
                                                .writes = of_dram(to, pages * page)},
                                               grid, profiles);
  return planned_in_l1(program, cores, 1, profiles.software.ttnn_other_arguments, kernel, profiles);
}

/// Plans a move in which both RISCs of a core read half of its new shard each, from wherever it
/// lies.
PlannedProgram plan_reshard(const Program& program, CoreGrid grid, const Profiles& profiles) {
  const TensorSpec& to = program.outputs[0].spec;
  const PageMoves moves{profiles};
  const auto cores = static_cast<int>(shards_of(to));
  const auto [pages, page] = shard_pages(to);
  const SimTime read = profiles.chip.l1_latency + ceil_div(pages, 2) * moves.page(page);
  const KernelCost kernel = step_pipeline_cost({.steps = 1,
                                                .all_steps = cores,
                                                .cores = cores,
                                                .read = read,
                                                .compute = {},
                                                .write = {},
                                                .last_write = {},
                                                .reads = {},
                                                .writes = {}},
                                               grid, profiles);
  return planned_in_l1(program, cores, 1, profiles.software.ttnn_binary_arguments, kernel,
                       profiles);
}

/// Plans a move of page by page through a core.
PlannedProgram plan_interleaved_move(const Program& program, CoreGrid grid,
                                     const Profiles& profiles) {
  const TensorSpec& from = program.inputs[0].spec;
  const TensorSpec& to = program.outputs[0].spec;
  const PageMoves moves{profiles};
  const bool tiles = to.layout == Layout::tile;
  const std::int64_t pages = tiles ? to.shape.tiles() : to.shape.batch() * to.shape.rows();
  const Bytes page(ceil_div(to.padded_bytes().value(), pages));
  const WorkSplit work = split_work(pages, grid);
  const SimTime write = moves.write_latency(to) + moves.page(page);
  const KernelCost kernel = step_pipeline_cost({.steps = work.busiest,
                                                .all_steps = pages,
                                                .cores = work.cores,
                                                .read = moves.read_latency(from) + moves.page(page),
                                                .compute = {},
                                                .write = write,
                                                .last_write = write,
                                                .reads = of_dram(from, page),
                                                .writes = of_dram(to, page)},
                                               grid, profiles);
  return planned_in_l1(program, work.cores, work.kernel_groups,
                       profiles.software.ttnn_other_arguments, kernel, profiles);
}

}  // namespace

bool touches_l1(const Program& program) {
  const auto in_l1 = [](const Operand& operand) { return operand.spec.storage == Storage::l1; };
  return std::ranges::any_of(program.inputs, in_l1) || std::ranges::any_of(program.outputs, in_l1);
}

PlannedProgram plan_eltwise_in_l1(const Program& program, const EltwiseAttributes& attributes,
                                  CoreGrid device_grid, const Profiles& profiles) {
  const TensorSpec& out = program.outputs[0].spec;
  const CoreGrid grid = attributes.core_grid.value_or(device_grid);
  const bool one_value = arity_of(attributes.function) == 1;
  if (one_value && !program.inputs.empty() && program.inputs[0].spec.sharding != out.sharding) {
    throw Error({.attempted = "compute " + std::string(program.name) + " of shards",
                 .value = "the operand and the result are not sharded alike",
                 .accepted = "Input and Output memory layout to match",
                 .hint = "to move one of them first"});
  }
  const SoftwareProfile& software = profiles.software;
  const PageMoves moves{profiles};
  const Bytes tile = tile_bytes(out.dtype);
  StepPipeline steps{.compute = eltwise_math_time(attributes, software.tiles)};
  if (attributes.scalar) steps.set_up = scalar_tile_time(software);
  int groups = 1;
  if (runs_on_shards(program)) {
    steps.cores = static_cast<int>(shards_of(out));
    steps.steps = shard_pages(out).count;
    steps.all_steps = steps.steps * steps.cores;
    // A core unpacks and packs the tiles again beside the arithmetic.
    steps.compute = std::max(steps.compute, transfer_time(2 * tile, profiles.chip.unpack));
  } else {
    const WorkSplit work = split_work(out.shape.tiles(), grid);
    groups = work.kernel_groups;
    steps.cores = work.cores;
    steps.steps = work.busiest;
    steps.all_steps = out.shape.tiles();
    for (const Operand& input : program.inputs) {
      const Bytes own = tile_bytes(input.spec.dtype);
      steps.read = std::max(steps.read, moves.read_latency(input.spec));
      steps.reads += of_dram(input.spec, own);
    }
    for (const Operand& input : program.inputs) {
      steps.read += moves.page(tile_bytes(input.spec.dtype));
    }
    steps.write = moves.write_latency(out) + moves.page(tile);
    steps.last_write = steps.write;
    steps.writes = of_dram(out, tile);
  }
  const bool binary = arity_of(attributes.function) == 2;
  return planned_in_l1(program, binary ? grid.cores() : steps.cores, binary ? 1 : groups,
                       binary ? software.ttnn_binary_arguments : software.ttnn_unary_arguments,
                       step_pipeline_cost(steps, grid, profiles), profiles);
}

PlannedProgram plan_memory_move(const Program& program, CoreGrid grid, const Profiles& profiles) {
  const TensorSpec& from = program.inputs[0].spec;
  const TensorSpec& to = program.outputs[0].spec;
  if (from.sharding && to.sharding) return plan_reshard(program, grid, profiles);
  if (to.sharding) return plan_into_shards(program, grid, profiles);
  if (from.sharding) return plan_out_of_shards(program, grid, profiles);
  return plan_interleaved_move(program, grid, profiles);
}

std::string_view move_operation(const TensorSpec& from, const TensorSpec& to) {
  if (from.sharding && to.sharding) return "ReshardDeviceOperation";
  if (to.sharding) return "InterleavedToShardedDeviceOperation";
  if (from.sharding) return "ShardedToInterleavedDeviceOperation";
  return "CopyDeviceOperation";
}

}  // namespace howard::chip
