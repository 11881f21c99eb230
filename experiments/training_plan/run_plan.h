// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/sim_time.h"
#include "base/units.h"
#include "engines/chip/emulated_chip.h"
#include "engines/chip/profiles/profile.h"
#include "engines/models/model_options.h"
#include "engines/training/parallel/mesh_plan.h"
#include "engines/training/recipe.h"
#include "engines/training/step_runner.h"
#include "experiments/cases/kernel_account.h"
#include "profiler/memory.h"
#include "profiler/step_times.h"

namespace howard::experiments {

/// Describes a training run on emulated chips, as it is to be planned. Its plan says how they share
/// it: groups that divide the batch, chips that divide the weights, stages, or tiers.
struct RunSetting {
  /// Its batch is that of all chips together; in tiers, that of each worker.
  training::Recipe recipe;
  std::int64_t vocabulary = 0;  ///< The tokens; chips that divide them round up to whole tiles.
  training::MeshPlan plan;
  training::Engine engine = training::Engine::dynamic;  ///< TTML's; others without stages or tiers.
  chip::DispatchCoreType dispatch{};
  /// Each sum of gradients starts as soon as its gradient exists, beside the passes: a bound.
  /// Otherwise all follow the passes, as in TTML. Of tiers there is no such plan.
  bool overlapped = false;
  /// The chips replay captured steps of the dynamic engine, with the numbers of their AdamW, which
  /// take the time of those that read others: a bound too. Passes of stages do so without their
  /// data. Of tiers there is no such plan.
  bool replayed = false;

  int chips() const { return plan.ranks(); }
  /// Returns the sequences of an update of all chips.
  std::int64_t sequences() const;
};

/// Returns the rows of the token table: TTML rounds up to tiles of each chip that divides them.
std::int64_t vocabulary_rows(const RunSetting& setting);

/// Returns why chips cannot divide a Llama so, or the heads of another model, as "3 groups of heads
/// cannot be divided by 2 chips"; absent if they can.
std::optional<std::string> sharing_obstacle(const models::ModelOptions& model,
                                            const training::MeshPlan& plan);

/// Says what the chips of one stage of a pipeline, or one rank of tiers, do in a step.
struct PlanPart {
  std::string name;       ///< "stage 0", "worker", "aggregator" or "optimizer".
  std::string share;      ///< What it has: "6 blocks".
  SimTime working;        ///< The time in which it works or sends.
  SimTime waiting;        ///< The rest of the step.
  int micro_batches = 1;  ///< The most micro-batches whose activations it holds at once.
  Bytes peak;             ///< The most DRAM of one of its chips.
};

/// Holds what the emulator says about a run. Times and memory are of one chip of a mesh; of stages
/// they are means over the chips, and of tiers sums along the way of a step.
struct RunPlan {
  RunSetting setting;
  std::int64_t parameters = 0;  ///< The whole model's.
  std::int64_t frozen = 0;      ///< Those of them that are not trained.
  /// An update, its collectives included. Its exchange is what sums activations and their gradients
  /// and gathers logits in a group, what stages send, and what tiers hand on. With stages the sums
  /// of gradients are in it.
  profiler::StepTimes step;
  std::optional<SimTime> host{};  ///< Its calls, without waiting for the chip; of stages unknown.
  KernelAccount kernels{};        ///< Those that compute, by op; nothing of stages and tiers.
  KernelAccount exchanges{};      ///< Those of collectives.
  std::int64_t calls = 0;         ///< 0 if they are not counted.
  Flops computed;                 ///< By all of them, what is computed twice included.
  /// The parts of the step, from the first program of each to that of the next, without what chips
  /// exchange in them: "forward", "backward" and "optimizer"; empty for stages and tiers.
  std::map<std::string, SimTime> phases;
  Bytes peak;             ///< The most DRAM in use, on the chip that needs most.
  Bytes capacity;         ///< A chip's DRAM without the trace region.
  Bytes trace;            ///< The trace region's need, if the step were captured; 0: not known.
  double peak_flops = 0;  ///< A chip's FLOP/s at HiFi4.
  int cores = 0;          ///< A chip's cores that compute.
  double core_flops = 0;  ///< FLOP/s of a core as TTML counts them: 1000 in a cycle.
  std::optional<std::int64_t> largest_batch{};  ///< Present where it was looked for.
  std::vector<PlanPart> parts{};                ///< The stages of a pipeline or the ranks of tiers.
  std::int64_t messages = 0;                    ///< What tiers send in a step, a tensor each.
  Bytes message_bytes;                          ///< All of them.
  std::optional<profiler::MemoryUse> memory;    ///< Present where it was asked for.
  /// The reason why the step cannot run, whatever the DRAM: a kernel's circular buffers; empty when
  /// it can.
  std::string clash;

  std::int64_t launches() const { return kernels.launches() + exchanges.launches(); }
  /// Returns how well the time of the step is known; nothing of stages and tiers.
  std::optional<harness::ExpectedError> expected_error() const;
  bool fits() const { return clash.empty() && peak <= capacity; }
  std::int64_t tokens() const;  ///< The tokens of an update of all chips.
  double tokens_per_second() const;
  /// Returns the parameters that a token uses: without the experts that it does not choose.
  std::int64_t active() const;
  /// Returns the operations of forward and backward pass: 6 active + 6 L H (hd of q + hd of v) S
  /// for a token, without what is computed twice.
  double flops() const;
  /// Returns the share of all chips' peak that is reached.
  double share_of_peak() const;
  /// Returns the share that TTML calls MFU: of `core_flops` for each core.
  double mfu() const;
};

/// Runs the set-up and two updates on an emulated chip whose DRAM has no end, with the engine of
/// TTML: dynamic. Each batch of an update after the second counts as the second. Of a pipeline it
/// runs the passes of each stage (plan_pipeline), and of tiers the work of each rank. Without
/// `with_memory` and tiers, `listener` hears of what the chip allocates; null if nobody listens.
RunPlan plan_run(const RunSetting& setting, const chip::Profiles& profiles,
                 bool with_memory = false, MemorySink* listener = nullptr);

/// Returns the largest batch of all chips that fits, with the same runner and way to share; nothing
/// if not even one sequence for each group does, or for stages and tiers.
std::optional<std::int64_t> largest_batch(const RunPlan& plan, const chip::Profiles& profiles);

/// Returns `plan` with what does not depend on its run: the setting, a chip's DRAM and its peak.
RunPlan complete_plan(RunPlan plan, const RunSetting& setting, const chip::Profiles& profiles);

}  // namespace howard::experiments
