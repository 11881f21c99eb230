// SPDX-License-Identifier: Apache-2.0
#include "engines/wormhole/tile_pipeline.h"

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

/// What one core's stages take in a step, and what all cores together ask of the DRAM.
struct Stages {
  SimTime read, compute, write;
  SimTime last_write;  ///< At the end of the kernel: never more than one tile is left to write.
  SimTime dram;
};

Stages stages_of(const TilePipeline& p, const Profiles& profiles) {
  const ChipProfile& chip = profiles.chip;
  const SimTime tile =
      std::max(profiles.software.matmul_read_issue, transfer_time(p.tile, chip.noc_link));
  Stages stages{.compute = p.compute};
  stages.read = p.read_extra;
  if (p.reads.tiles > 0) stages.read += chip.noc_read_latency + part(tile, p.reads);
  if (p.writes.tiles > 0) {
    const SimTime barrier =
        std::min(chip.noc_write_latency, part(chip.noc_write_latency, p.writes));
    stages.write = barrier + part(tile, p.writes);
    stages.last_write =
        std::min(stages.write, chip.noc_write_latency + transfer_time(p.tile, chip.noc_link));
  }
  const Bytes reads = p.cores * part(p.tile, p.reads);
  const Bytes writes = p.cores * part(p.tile, p.writes);
  stages.dram = std::max({transfer_time(reads, chip.dram_read_noc0),
                          transfer_time(writes, chip.dram_write_noc1),
                          transfer_time(reads + writes, chip.dram_mixed)});
  return stages;
}

}  // namespace

KernelCost tile_pipeline_cost(const TilePipeline& p, CoreGrid grid, const Profiles& profiles) {
  HOWARD_CHECK(p.steps > 0 && p.cores > 0, "a kernel has work");
  const Stages stages = stages_of(p, profiles);
  const std::array<std::pair<SimTime, Bottleneck>, 4> candidates{{
      {stages.compute, Bottleneck::math},
      {stages.read, Bottleneck::in0_reads},
      {stages.write, Bottleneck::output_writes},
      {stages.dram, Bottleneck::dram},
  }};
  const auto [slowest, bottleneck] =
      std::ranges::max(candidates, {}, &std::pair<SimTime, Bottleneck>::first);
  const SimTime start = profiles.software.tiles.start + p.set_up;
  KernelCost kernel{.grid = grid, .cores = p.cores};
  kernel.compute_start = start + stages.read;
  kernel.reads_end = kernel.compute_start + (p.steps - 1) * slowest;
  kernel.first_write = kernel.compute_start + stages.compute;
  kernel.math_end = kernel.reads_end + stages.compute;
  kernel.total = kernel.math_end + stages.last_write;
  kernel.dram = Bytes(p.all_steps * (part(p.tile, p.reads) + part(p.tile, p.writes)).value());
  kernel.bottleneck = p.steps * slowest >= start ? bottleneck : Bottleneck::start;
  return kernel;
}

}  // namespace howard::wormhole
