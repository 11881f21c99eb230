// SPDX-License-Identifier: Apache-2.0
#include "engines/chip/kernels/elementwise/elementwise.h"

#include <algorithm>
#include <string>

#include "base/error.h"
#include "engines/chip/kernels/pipeline/pages.h"

namespace howard::chip {
namespace {

/// Says whether ttnn has its older kernel for a function of two values: if one of them has shards
/// in a block format (binary_ng's is_legacy_only).
bool is_older(const Program& program) {
  return std::ranges::any_of(program.inputs, [](const Operand& input) {
    return input.spec.sharding && is_block_format(input.spec.dtype);
  });
}

/// Says whether ttnn runs the program on the shards where they are: if all are alike. Its present
/// kernel for two values wants full shards and two tensors besides; the older one fills up the last
/// shards, and keeps a scalar beside them.
bool runs_on_shards(const Program& program, bool binary) {
  const TensorSpec& out = program.outputs[0].spec;
  if (!out.sharding) return false;
  const bool alike = std::ranges::all_of(program.inputs, [&](const Operand& input) {
    return input.spec.shape == out.shape && input.spec.sharding == out.sharding;
  });
  if (!alike || !binary || is_older(program)) return alike;
  return program.inputs.size() > 1 && shards_of(out) * shard_pages(out).count == out.shape.tiles();
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
  const Bytes tile = tile_bytes(out.dtype);
  StepPipeline steps{.compute = eltwise_math_time(attributes, software.tiles)};
  if (attributes.scalar) steps.set_up = scalar_tile_time(software);
  WorkSplit work{.kernel_groups = 1};
  const bool binary = arity_of(attributes.function) == 2;
  if (runs_on_shards(program, binary)) {
    steps.cores = work.cores = static_cast<int>(shards_of(out));
    steps.steps = shard_pages(out).count;
    steps.all_steps = steps.steps * steps.cores;
    steps.on_shards = true;
    const auto further = std::max<std::int64_t>(0, std::ssize(program.inputs) - 1);
    steps.set_up += further * software.tiles.operand;
    // A core unpacks and packs the tiles again beside the arithmetic.
    steps.compute = std::max(steps.compute, transfer_time(2 * tile, profiles.chip.unpack));
  } else {
    work = split_work(out.shape.tiles(), grid);
    steps.cores = work.cores;
    steps.steps = work.busiest;
    steps.all_steps = out.shape.tiles();
    for (const Operand& input : program.inputs) {
      const Bytes own = tile_bytes(input.spec.dtype);
      steps.read = std::max(steps.read, read_latency(input.spec, profiles.chip));
      steps.reads += in_dram(input.spec, own);
      steps.l1_reads += in_spread_l1(input.spec, own);
    }
    for (const Operand& input : program.inputs) {
      steps.read += page_time(tile_bytes(input.spec.dtype), profiles);
    }
    steps.write = write_latency(out, profiles.chip) + page_time(tile, profiles);
    steps.last_write = steps.write;
    steps.writes = in_dram(out, tile);
    steps.l1_writes = in_spread_l1(out, tile);
  }
  if (binary && !(steps.on_shards && is_older(program)))
    work = {.cores = grid.cores(), .kernel_groups = 1};
  const int arguments = binary ? software.ttnn_binary_arguments : software.ttnn_unary_arguments;
  return planned(work, {arguments, kTileBuffers}, step_pipeline_cost(steps, grid, profiles),
                 software);
}

}  // namespace howard::chip
