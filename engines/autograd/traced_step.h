// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engines/autograd/step.h"
#include "engines/device/device.h"

namespace howard::autograd {

/// The traced engine: a step captured once; replaying it is one command, with no host work for its
/// programs. What a step is told anew each time has to lie on the device and be written before
/// each run: its data, the numbers of AdamW (AdamWForm::replayable), the offset of dropout's seeds
/// (TapeOptions::seed_offset). ttnn's own trace does the same with data, and repeats all scalars.
class TracedStep final : public Step {
 public:
  /// Captures one run of `step`, which does not execute it, on queue `queue`. `device` and `step`
  /// must outlive this. Error when the step's programs change from run to run, or the trace does
  /// not fit the device's trace region.
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
