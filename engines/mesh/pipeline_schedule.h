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

/// Describes the work of a pipeline in a step. With several chunks, 1F1B is interleaved: the blocks
/// are cut into stages x chunks parts, of which part c stages + s is chunk c of stage s, so that a
/// micro-batch goes through the stages `chunks` times.
struct PipelineOrder {
  PipelineSchedule schedule = PipelineSchedule::sequential;
  int stages = 1;
  int micro_batches = 1;
  int chunks = 1;

  int parts() const { return stages * chunks; }
  /// Returns whether several chunks can be ordered: by 1F1B, in which groups of as many
  /// micro-batches as stages go through one chunk after the other.
  bool is_possible() const {
    return chunks == 1 || (schedule == PipelineSchedule::one_forward_one_back && stages > 1 &&
                           micro_batches % stages == 0);
  }
};

/// Returns the blocks of each part, in the order of the model, where stages have `blocks` in so
/// many chunks each, as equal as possible: the first chunks have the rest.
std::vector<int> blocks_of_parts(std::span<const int> blocks, int chunks);

/// The pass of one micro-batch through one chunk of a stage.
struct PipelinePass {
  bool forward = true;
  int micro_batch = 0;
  int chunk = 0;

  friend bool operator==(const PipelinePass&, const PipelinePass&) = default;
};

/// Returns what stage `stage` does in a step, in its order. The order must be possible.
std::vector<PipelinePass> passes_of(const PipelineOrder& order, int stage);

/// Returns the largest number of passes whose activations a stage holds at once: of micro-batches,
/// or with several chunks of micro-batches in a chunk.
int most_alive(const PipelineOrder& order, int stage);

/// The times that one part takes for one micro-batch.
struct PassTimes {
  SimTime forward, backward;
  /// The time to send the activations to the next part or their gradients to the one before. The
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
/// needs has arrived. `parts` are in the order in which a micro-batch goes forward.
std::vector<StageAccount> run_pipeline(const PipelineOrder& order,
                                       std::span<const PassTimes> parts);

}  // namespace howard::mesh
