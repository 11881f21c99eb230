// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engines/autograd/steps/step.h"
#include "engines/device/device.h"

namespace howard::autograd {

/// The traced engine. A step is captured once; replaying it is one command, with no host work for
/// its programs. Whatever changes from step to step must lie on the device and be written before
/// each run: the data, the numbers of AdamW (AdamWForm::replayable), the offset of dropout's seeds
/// (TapeOptions::seed_offset). ttnn's own trace treats data the same way, and repeats all scalars.
class TracedStep final : public Step {
 public:
  /// Captures one run of `step` on queue `queue`, without executing it. `device` and `step` must
  /// outlive this object. Throws Error when the step's programs change from run to run, or the
  /// trace does not fit the device's trace region.
  TracedStep(Device& device, Step& step, int queue = 0);
  ~TracedStep() override;
  TracedStep(const TracedStep&) = delete;
  TracedStep& operator=(const TracedStep&) = delete;

  void run() override { queue_.execute_trace(trace_); }
  ops::Tensor loss() const override { return step_.loss(); }
  bool is_fixed() const override { return true; }

 private:
  Device& device_;
  CommandQueue& queue_;
  Step& step_;
  TraceId trace_{};
};

}  // namespace howard::autograd
