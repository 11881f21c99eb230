// SPDX-License-Identifier: Apache-2.0
#include "engines/wormhole/kernels/tile_pipeline.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/check.h"

namespace howard::wormhole {
namespace {

SimTime part(SimTime whole, TilesPerStep amount) {
  return SimTime::picoseconds(ceil_div(whole.ps() * amount.tiles, amount.steps));
}

Bytes part(Bytes whole, TilesPerStep amount) {
  return Bytes(ceil_div(whole.value() * amount.tiles, amount.steps));
}

SimTime page_time(Bytes page, const Profiles& profiles) {
  return std::max(profiles.software.matmul_read_issue, transfer_time(page, profiles.chip.noc_link));
}

/// Returns the time of a step when all cores use the DRAM at once.
SimTime dram_time(const StepPipeline& p, const ChipProfile& chip) {
  const Bytes reads = p.cores * p.reads;
  const Bytes writes = p.cores * p.writes;
  return std::max({transfer_time(reads, chip.dram_read_noc0),
                   transfer_time(writes, chip.dram_write_noc1),
                   transfer_time(reads + writes, chip.dram_mixed)});
}

}  // namespace

SimTime read_time(std::int64_t pages, Bytes page, const Profiles& profiles) {
  return profiles.chip.noc_read_latency + pages * page_time(page, profiles);
}

SimTime write_time(std::int64_t pages, Bytes page, const Profiles& profiles) {
  return profiles.chip.noc_write_latency + pages * page_time(page, profiles);
}

KernelCost step_pipeline_cost(const StepPipeline& p, CoreGrid grid, const Profiles& profiles) {
  HOWARD_CHECK(p.steps > 0 && p.cores > 0, "a kernel has work");
  const std::array<std::pair<SimTime, Bottleneck>, 4> candidates{{
      {p.compute, Bottleneck::math},
      {p.read, Bottleneck::in0_reads},
      {p.write, Bottleneck::output_writes},
      {dram_time(p, profiles.chip), Bottleneck::dram},
  }};
  const auto [slowest, bottleneck] =
      std::ranges::max(candidates, {}, &std::pair<SimTime, Bottleneck>::first);
  const SimTime start = profiles.software.tiles.start + p.set_up;
  KernelCost kernel{.grid = grid, .cores = p.cores};
  kernel.compute_start = start + p.read;
  kernel.reads_end = kernel.compute_start + (p.steps - 1) * slowest;
  kernel.first_write = kernel.compute_start + p.compute;
  kernel.math_end = kernel.reads_end + p.compute;
  kernel.total = kernel.math_end + p.last_write;
  kernel.dram = p.all_steps * (p.reads + p.writes);
  kernel.bottleneck = p.steps * slowest >= start ? bottleneck : Bottleneck::start;
  return kernel;
}

KernelCost tile_pipeline_cost(const TilePipeline& p, CoreGrid grid, const Profiles& profiles) {
  const ChipProfile& chip = profiles.chip;
  StepPipeline steps{.steps = p.steps,
                     .all_steps = p.all_steps,
                     .cores = p.cores,
                     .set_up = p.set_up,
                     .read = p.read_extra,
                     .compute = p.compute,
                     .reads = part(p.tile, p.reads),
                     .writes = part(p.out_tile, p.writes)};
  if (p.reads.tiles > 0) {
    steps.read += chip.noc_read_latency + part(page_time(p.tile, profiles), p.reads);
  }
  if (p.writes.tiles > 0) {
    const SimTime barrier =
        std::min(chip.noc_write_latency, part(chip.noc_write_latency, p.writes));
    steps.write = barrier + part(page_time(p.out_tile, profiles), p.writes);
    // At most one tile is left to write.
    steps.last_write =
        std::min(steps.write, chip.noc_write_latency + transfer_time(p.out_tile, chip.noc_link));
  }
  return step_pipeline_cost(steps, grid, profiles);
}

}  // namespace howard::wormhole
