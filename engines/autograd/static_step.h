// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "engines/autograd/buffer_plan.h"
#include "engines/autograd/recorder.h"
#include "engines/autograd/step.h"

namespace howard::autograd {

/// Whether the numbers that ops are told besides their operands are the same in each step.
enum class Scalars {
  fixed,
  /// A schedule of the learning rate, AdamW's count of steps, the seeds of dropout: the step
  /// function is run for its numbers before each step but the first.
  change_each_step,
};

/// The static engine: the graph, the order of its programs and its buffers are made once, and a
/// step hands the finished programs to the queue. Weights are updated in their place.
class StaticStep final : public Step {
 public:
  /// Records `function` for queue `queue` of `device`, which must outlive this. Nothing but the
  /// loss may be left of what the function allocates. Fixed scalars are checked by running the
  /// function twice; Error when they are not.
  StaticStep(Device& device, StepFunction function, Scalars scalars = Scalars::fixed,
             int queue = 0);

  /// Error when the function, run again for its scalars, makes other programs than the first time:
  /// a shape changed.
  void run() override;
  ops::Tensor loss() const override { return *loss_; }
  bool is_fixed() const override { return scalars_ == Scalars::fixed; }

  /// What a step enqueues, in this order.
  const std::vector<Program>& programs() const { return list_.programs; }
  const std::vector<Recorder::Phase>& phases() const { return phases_; }
  /// How the memory of what the step allocates is shared.
  const BufferPlan& plan() const { return plan_; }

 private:
  void bind(Device& device, const Recorder& recorder);
  void take_scalars();

  Device& device_;
  CommandQueue& queue_;
  StepFunction function_;
  Scalars scalars_;
  BufferPlan plan_;
  std::vector<ops::Tensor> places_;
  std::vector<Recorder::Phase> phases_;
  std::vector<Program> recorded_;  ///< With the recorder's buffers.
  ProgramList list_;               ///< With those of the plan.
  std::optional<ops::Tensor> loss_;
  bool has_run_ = false;
};

}  // namespace howard::autograd
