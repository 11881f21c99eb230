// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>

#include "engines/autograd/optimizers/averaged_gradients.h"
#include "engines/autograd/optimizers/optimizer.h"
#include "engines/autograd/steps/step_recorder.h"
#include "engines/autograd/tape.h"
#include "engines/chip/emulated_chip.h"
#include "engines/models/llama.h"
#include "experiments/training_plan/run_plan.h"

namespace howard::experiments {

/// Holds what the chips of one stage of a pipeline do: the passes of one micro-batch, and the
/// update, each from an idle chip to an idle chip. The first stage writes its tokens in the forward
/// pass, and the last one its targets and reads the loss.
struct StageWork {
  profiler::StepTimes forward, backward, update;
  Bytes resting;      ///< What is in DRAM between the passes: weights, their gradients and more.
  Bytes kept;         ///< What a forward pass leaves in DRAM for its backward pass.
  Bytes activations;  ///< What is sent to the next stage, or back as gradients.
};

/// Emulates a chip with its share of the blocks of a Llama and DRAM without end.
class StageChip {
 public:
  /// The chip has the blocks from `first_block` up to, but not including, `end_block`. `listener`
  /// hears of what it allocates; null if nobody listens.
  StageChip(const RunSetting& setting, const chip::Profiles& profiles, int first_block,
            int end_block, MemorySink* listener);

  /// Runs the passes and the update, from an idle chip each.
  StageWork run();

  /// Returns the most DRAM that was in use.
  Bytes peak() const;

 private:
  /// Makes a step of so many micro-batches. Its last phase, "step", is the update.
  autograd::StepFunction step_of(int micro_batches);

  StageWork passes();
  profiler::StepTimes update();
  /// Puts times of a replay in the place of those of calls.
  void replay(StageWork& work);

  autograd::TapeOptions tape_options() const;
  autograd::Value forward_on(autograd::Tape& tape);
  void backward_on(autograd::Tape& tape, autograd::Value output);
  /// Runs one micro-batch and returns how many programs a recorder has after its forward pass.
  std::size_t pass(Device& device);

  /// Returns `time` with what the kernels of these programs take of it.
  profiler::StepTimes with_kernels(SimTime time, const autograd::StepRecorder& recorder,
                                   std::size_t first, std::size_t end);

  void finish() { chip_->command_queue(0).finish(); }
  Bytes used() const { return chip_->memory_phases().back().current; }
  void forget_gradients();

  bool repeats_, replayed_, overlapped_;
  int chips_;  ///< Those of the stage.
  std::unique_ptr<chip::EmulatedChip> chip_;
  autograd::DeviceGroup tensor_, data_;
  models::Llama model_;
  std::unique_ptr<autograd::Optimizer> optimizer_;
  autograd::AveragedGradients averaged_;
  ops::Tensor activations_;
};

}  // namespace howard::experiments
