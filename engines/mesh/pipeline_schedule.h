// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/sim_time.h"

namespace howard::mesh {

/// Names the order in which the stages of a pipeline work on the micro-batches of a step.
enum class PipelineSchedule : std::uint8_t {
  sequential,            ///< TTML's: one micro-batch goes forward and back before the next begins.
  gpipe,                 ///< All forward passes before all backward passes.
  one_forward_one_back,  ///< 1F1B: as few forward passes ahead as keep all stages busy.
};

/// Returns "ttml", "gpipe" or "1f1b".
std::string_view name_of(PipelineSchedule schedule);
/// Parses a word of name_of(). Throws Error for any other word.
PipelineSchedule parse_pipeline_schedule(std::string_view word);

/// The pass of one micro-batch through one stage.
struct PipelinePass {
  bool forward = true;
  int micro_batch = 0;

  friend bool operator==(const PipelinePass&, const PipelinePass&) = default;
};

/// Returns what stage `stage` does in a step, in order.
std::vector<PipelinePass> passes_of(PipelineSchedule schedule, int stages, int stage,
                                    int micro_batches);

/// Returns the largest number of micro-batches whose activations a stage holds at once.
int most_alive(PipelineSchedule schedule, int stages, int stage, int micro_batches);

/// The times that one stage takes for one micro-batch.
struct StageTimes {
  SimTime forward, backward;
  /// The time to send the activations to the next stage or their gradients to the one before. The
  /// sender is busy with it; the receiver can go on when it is over.
  SimTime send;
};

/// Says what one stage does in a step, from the step's start until all stages are done.
struct StageAccount {
  SimTime end;        ///< When its last pass and the sending after it are over.
  SimTime computing;  ///< The time that it spends in passes.
  SimTime sending;
};

/// Works out when each stage is done, if each pass starts as soon as its stage is free and what it
/// needs has arrived.
std::vector<StageAccount> run_pipeline(PipelineSchedule schedule,
                                       std::span<const StageTimes> stages, int micro_batches);

}  // namespace howard::mesh
