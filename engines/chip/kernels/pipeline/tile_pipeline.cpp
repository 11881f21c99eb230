// SPDX-License-Identifier: Apache-2.0
#include "engines/chip/kernels/pipeline/tile_pipeline.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/check.h"
#include "base/wide.h"
#include "engines/chip/kernels/pipeline/pages.h"

namespace howard::chip {
namespace {

SimTime part(SimTime whole, TilesPerStep amount) {
  return SimTime::picoseconds(ceil_div(whole.ps() * amount.tiles, amount.steps));
}

Bytes part(Bytes whole, TilesPerStep amount) {
  return Bytes(ceil_div(whole.value() * amount.tiles, amount.steps));
}

/// Returns what the banks need for all steps but the first. This is the time of one core, which
/// goes through its stages alone, and what the others have not yet brought to the banks when that
/// is through.
SimTime shared_time(const StepPipeline& p, const ChipProfile& chip) {
  const TenThousandths left = kWhole * (p.all_steps - 1) - chip.dram_head_start * (p.cores - 1);
  if (left <= 0) return {};
  const auto moved = [&](Bytes step) {
    return Bytes(step.value() / kWhole * left + step.value() % kWhole * left / kWhole);
  };
  const PageRuns runs = p.runs.cores > 0 ? p.runs : PageRuns{p.all_steps, p.cores};
  const Bytes reads = moved(p.reads + p.crowded_reads);
  const SimTime banks = banks_time({.reads = reads, .writes = moved(p.writes), .runs = runs}, chip);
  if (p.l1_reads == Bytes() && p.l1_writes == Bytes()) return banks;
  // A reader fetches one operand after the other, wherever they lie.
  const SimTime of_readers = banks_time({.reads = reads, .writes = {}, .runs = runs}, chip) +
                             transfer_time(moved(p.l1_reads), chip.l1_spread_read);
  return std::max({banks, of_readers, transfer_time(moved(p.l1_writes), chip.l1_spread_write)});
}

/// Returns the time under two bounds that hold at the same time. It is the longer one, and the more
/// above it the nearer the other comes, because cores wait now for the one and now for the other.
SimTime overlapped(SimTime one, SimTime other, TenThousandths interference) {
  const auto [less, more] = std::minmax({one.ps(), other.ps()});
  if (more == 0) return {};
  const auto ratio = static_cast<std::int64_t>(static_cast<Wide>(less) * kWhole / more);
  const std::int64_t cube = ratio * ratio / kWhole * ratio / kWhole;
  return SimTime::picoseconds(
      more + static_cast<std::int64_t>(static_cast<Wide>(more) * cube * interference /
                                       (static_cast<Wide>(kWhole) * kWhole)));
}

}  // namespace

KernelCost step_pipeline_cost(const StepPipeline& p, CoreGrid grid, const Profiles& profiles) {
  HOWARD_CHECK(p.steps > 0 && p.cores > 0, "a kernel has work");
  const std::array<std::pair<SimTime, Bottleneck>, 3> candidates{{
      {p.compute, Bottleneck::math},
      {p.read, Bottleneck::in0_reads},
      {p.write, Bottleneck::output_writes},
  }};
  const auto [slowest, stage] =
      std::ranges::max(candidates, {}, &std::pair<SimTime, Bottleneck>::first);
  const SimTime alone = (p.steps - 1) * slowest;
  // The pages of a first step of many come while that step reads.
  const SimTime first_pages = p.read - std::min(p.read, profiles.chip.noc_read_latency);
  const SimTime banks = shared_time(p, profiles.chip);
  const SimTime shared = banks - std::min(banks, first_pages);
  const SimTime further = overlapped(alone, shared, profiles.software.tiles.interference);
  const TileCosts& tiles = profiles.software.tiles;
  const SimTime start = (p.on_shards ? tiles.shard_start : tiles.start) + p.set_up;
  KernelCost kernel{.grid = grid, .cores = p.cores};
  kernel.compute_start = start + p.read;
  kernel.reads_end = kernel.compute_start + further;
  kernel.first_write = kernel.compute_start + p.compute;
  kernel.math_end = kernel.reads_end + p.compute;
  kernel.total = kernel.math_end + p.last_write;
  kernel.unshared = kernel.total - further + alone;
  kernel.dram = p.all_steps * (p.reads + p.writes);
  const SimTime stages = p.steps * slowest;
  kernel.bottleneck = std::max(stages, shared) < start ? Bottleneck::start
                      : shared > stages                ? Bottleneck::dram
                                                       : stage;
  return kernel;
}

PlannedProgram plan_steps(const WorkSplit& work, StepPipeline pipeline, CoreGrid grid,
                          const Profiles& profiles, int circular_buffers) {
  if (pipeline.steps == 0) pipeline.steps = work.busiest;
  pipeline.cores = work.cores;
  pipeline.last_write = pipeline.write;
  return planned(work, {profiles.software.ttnn_other_arguments, circular_buffers},
                 step_pipeline_cost(pipeline, grid, profiles), profiles.software);
}

SimTime pass_time(bool fp32_accumulation, const TileCosts& cost) {
  return fp32_accumulation ? cost.pass : cost.fpu;
}

KernelCost tile_pipeline_cost(const TilePipeline& p, CoreGrid grid, const Profiles& profiles) {
  const ChipProfile& chip = profiles.chip;
  const TensorSpec dram{Shape{1}};
  const TensorSpec &from = p.from != nullptr ? *p.from : dram, &to = p.to != nullptr ? *p.to : dram;
  const Bytes read = part(p.tile, p.reads), written = part(p.out_tile, p.writes);
  StepPipeline steps{.steps = p.steps,
                     .all_steps = p.all_steps,
                     .cores = p.cores,
                     .set_up = p.set_up,
                     .read = p.read_extra,
                     .compute = p.compute,
                     .reads = in_dram(from, read),
                     .writes = in_dram(to, written),
                     .crowded_reads = in_dram(from, part(p.tile, p.crowded_reads)),
                     .l1_reads = in_spread_l1(from, read),
                     .l1_writes = in_spread_l1(to, written),
                     .runs = p.runs};
  if (p.reads.tiles > 0) {
    steps.read += read_latency(from, chip) + part(page_time(p.tile, profiles), p.reads);
  }
  if (p.writes.tiles > 0) {
    const SimTime latency = write_latency(to, chip);
    steps.write = std::min(latency, part(latency, p.writes)) +
                  part(page_time(p.out_tile, profiles), p.writes);
    // At most one tile is left to write.
    steps.last_write = std::min(steps.write, latency + transfer_time(p.out_tile, chip.noc_link));
  }
  return step_pipeline_cost(steps, grid, profiles);
}

PlannedProgram plan_tiles(const WorkSplit& work, KernelNeeds needs, TilePipeline pipeline,
                          CoreGrid grid, const Profiles& profiles) {
  if (pipeline.steps == 0) pipeline.steps = work.busiest;
  pipeline.cores = work.cores;
  return planned(work, needs, tile_pipeline_cost(pipeline, grid, profiles), profiles.software);
}

}  // namespace howard::chip
