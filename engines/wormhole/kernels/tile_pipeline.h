// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "base/sim_time.h"
#include "base/units.h"
#include "engines/wormhole/kernels/dram_banks.h"
#include "engines/wormhole/kernels/kernel_cost.h"
#include "engines/wormhole/profiles/profile.h"

namespace howard::wormhole {

/// A kernel that goes from step to step: a reader fetches, compute works, a writer puts back.
/// Circular buffers hold two steps, so the three overlap.
struct StepPipeline {
  std::int64_t steps = 0;      ///< Of the busiest core.
  std::int64_t all_steps = 0;  ///< Of all cores.
  int cores = 0;               ///< That have steps.
  SimTime set_up;              ///< Once, before the first step, besides the start of any kernel.
  SimTime read, compute, write;
  SimTime last_write;   ///< The part of the last step's writing that is left when compute is done.
  Bytes reads, writes;  ///< Of a step, from and to DRAM.
  PageRuns runs{};      ///< Without cores: a page of each stream is a step.
};

/// Its cost: the first step takes all three stages, the further ones the slowest of them each, or
/// together what the banks of the DRAM need for the pages that all cores really move
/// (dram_banks.h). Method: docs/method.md, "Other ops".
KernelCost step_pipeline_cost(const StepPipeline& pipeline, CoreGrid grid,
                              const Profiles& profiles);

/// A core reads or writes `pages` of one size and waits once: a latency, and for each page the
/// issue of its request or its way through the core's NoC port, whichever is longer.
SimTime read_time(std::int64_t pages, Bytes page, const Profiles& profiles);
SimTime write_time(std::int64_t pages, Bytes page, const Profiles& profiles);

/// Tiles moved in a step, on average: a column operand is read once for a whole row of tiles.
struct TilesPerStep {
  std::int64_t tiles = 0;
  std::int64_t steps = 1;
};

/// The usual kernel of ttnn, whose step is a tile: in each the reader fetches tiles and waits for
/// them, and the writer puts tiles back and waits for them.
struct TilePipeline {
  std::int64_t steps = 0;      ///< Of the busiest core.
  std::int64_t all_steps = 0;  ///< Of all cores.
  int cores = 0;               ///< That have steps.
  TilesPerStep reads, writes;
  SimTime compute;     ///< Of a step.
  SimTime set_up;      ///< Once, before the first step, besides the start of any kernel.
  SimTime read_extra;  ///< Of a step, besides reading.
  Bytes tile;          ///< Read.
  Bytes out_tile;      ///< Written.
  PageRuns runs{};     ///< Without cores: a page of each stream is a step.
};

KernelCost tile_pipeline_cost(const TilePipeline& pipeline, CoreGrid grid,
                              const Profiles& profiles);

}  // namespace howard::wormhole
