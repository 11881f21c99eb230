// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "base/sim_time.h"
#include "base/units.h"
#include "engines/chip/kernels/pipeline/dram_banks.h"
#include "engines/chip/kernels/plan/planned_program.h"
#include "engines/chip/profiles/profile.h"

namespace howard::chip {

/// A kernel that works in steps: a reader fetches, compute works, and a writer writes back.
/// Circular buffers hold two steps, so the three stages overlap.
struct StepPipeline {
  std::int64_t steps = 0;      ///< The steps of the busiest core.
  std::int64_t all_steps = 0;  ///< The steps of all cores together.
  int cores = 0;               ///< How many cores have steps.
  /// A one-time cost before the first step, in addition to the start that every kernel has.
  SimTime set_up;
  bool on_shards = false;  ///< Its cores work on shards in their own L1.
  SimTime read, compute, write;
  SimTime last_write;   ///< The part of the last step's writing that is left when compute is done.
  Bytes reads, writes;  ///< Those of a step, from and to DRAM.
  /// How much longer than that the busiest bank reads, if some pages lie in few banks: what all
  /// banks would read in that time.
  Bytes crowded_reads{};
  Bytes l1_reads{}, l1_writes{};  ///< Those from and to pages that are spread over all L1.
  PageRuns runs{};                ///< If it has no cores, a page of each stream is a step.
};

/// Returns the cost of the pipeline. The first step takes all three stages. Each further step takes
/// the slowest stage, or its share of what the DRAM gives all cores together, whichever is longer
/// (reads over NoC 0, writes over NoC 1, and both at the same time). For the method see
/// docs/method/ops.md, "Other ops".
KernelCost step_pipeline_cost(const StepPipeline& pipeline, CoreGrid grid,
                              const Profiles& profiles);

/// Plans a program whose cores go through `pipeline`, with its steps dealt out as `work` says. The
/// caller gives the steps of the busiest core if they are not those of `work`, and neither the
/// cores nor the last write: nothing of the last step's writing is hidden.
PlannedProgram plan_steps(const WorkSplit& work, StepPipeline pipeline, CoreGrid grid,
                          const Profiles& profiles, int circular_buffers = 4);

/// Returns the time of one tile of one pass. Without accumulation in fp32, a pass is as long as an
/// elementwise function of the matrix unit, which unpacks, computes and packs a tile as well.
SimTime pass_time(bool fp32_accumulation, const TileCosts& cost);

/// The average number of tiles moved in a step. A column operand is read only once for a whole row
/// of tiles.
struct TilesPerStep {
  std::int64_t tiles = 0;
  std::int64_t steps = 1;
};

/// The usual kernel of ttnn, whose step is one tile. In each step the reader fetches tiles and
/// waits for them, and the writer writes tiles back and waits for them.
struct TilePipeline {
  std::int64_t steps = 0;      ///< The steps of the busiest core.
  std::int64_t all_steps = 0;  ///< The steps of all cores together.
  int cores = 0;               ///< How many cores have steps.
  TilesPerStep reads, writes;
  TilesPerStep crowded_reads{};  ///< As that of a StepPipeline.
  SimTime compute;               ///< The time of a step.
  SimTime set_up;      ///< Passes once, before the first step, besides the start of any kernel.
  SimTime read_extra;  ///< The time in a step besides reading.
  Bytes tile;          ///< The size of a tile that is read.
  Bytes out_tile;      ///< The size of a tile that is written.
  PageRuns runs{};     ///< If it has no cores, a page of each stream is a step.
  /// The tensors whose memory is read and written; DRAM if they are not said.
  const TensorSpec *from = nullptr, *to = nullptr;
};

KernelCost tile_pipeline_cost(const TilePipeline& pipeline, CoreGrid grid,
                              const Profiles& profiles);

/// Plans a program whose cores go through `pipeline`, with its steps dealt out as `work` says. The
/// caller gives the steps of the busiest core if they are not those of `work`, and not the cores.
PlannedProgram plan_tiles(const WorkSplit& work, KernelNeeds needs, TilePipeline pipeline,
                          CoreGrid grid, const Profiles& profiles);

}  // namespace howard::chip
