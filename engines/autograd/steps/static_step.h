// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "engines/autograd/steps/buffer_plan.h"
#include "engines/autograd/steps/step.h"
#include "engines/autograd/steps/step_recorder.h"

namespace howard::autograd {

/// Says whether the scalar arguments of the ops are the same in each step.
enum class Scalars {
  fixed,
  /// They change, as with a learning-rate schedule, AdamW's count of steps or the seeds of dropout.
  /// The step function is run again for its scalars before each step but the first.
  change_each_step,
};

/// The static engine. The graph, the order of its programs and its buffers are made once, and a
/// step hands the finished programs to the queue. Weights are updated in place.
class StaticStep final : public Step {
 public:
  /// Records `function` for queue `queue` of `device`, which must outlive this object. Of what the
  /// function allocates, only the loss may remain. Fixed scalars are checked by running the
  /// function twice; throws Error when they differ.
  StaticStep(Device& device, StepFunction function, Scalars scalars = Scalars::fixed,
             int queue = 0);

  /// Throws Error when the function, run again for its scalars, makes other programs than the first
  /// time, because a shape changed.
  void run() override;
  ops::Tensor loss() const override { return *loss_; }
  bool is_fixed() const override { return scalars_ == Scalars::fixed; }

  /// Returns what a step enqueues, in this order.
  const std::vector<Program>& programs() const { return list_.programs; }
  const std::vector<StepRecorder::Phase>& phases() const { return phases_; }
  /// Returns how the tensors that the step allocates share memory.
  const BufferPlan& plan() const { return plan_; }

 private:
  void bind(Device& device, const StepRecorder& recorder);
  void take_scalars();

  Device& device_;
  CommandQueue& queue_;
  StepFunction function_;
  Scalars scalars_;
  BufferPlan plan_;
  std::vector<ops::Tensor> places_;
  std::vector<StepRecorder::Phase> phases_;
  std::vector<Program> recorded_;  ///< The programs with the recorder's buffers.
  ProgramList list_;               ///< The programs with the plan's buffers.
  std::optional<ops::Tensor> loss_;
  bool has_run_ = false;
};

}  // namespace howard::autograd
