// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "engines/autograd/optimizers/optimizer.h"
#include "engines/autograd/steps/step_recorder.h"
#include "engines/chip/emulated_chip.h"
#include "engines/models/batch.h"
#include "engines/training/step_runner.h"
#include "experiments/training_plan/planned_chip.h"
#include "experiments/training_plan/run_plan.h"

namespace howard::experiments {

/// Runs the updates of a training on an emulated chip, which may be one of a mesh: all others do
/// the same.
class EmulatedRun {
 public:
  /// The chip is one of `profiles`. `memory` hears of what it allocates; null if nobody listens.
  EmulatedRun(const RunSetting& setting, const chip::Profiles& profiles, MemorySink* memory);

  const chip::EmulatedChip& chip() const { return chip_; }
  void set_trace_sink(EventSink* sink) { chip_.set_trace_sink(sink); }

  /// Runs an update with its data, from an idle chip to an idle chip, and returns its time. The
  /// dynamic engine reads the loss of each batch before it goes back, as TTML does, and the others
  /// at the end.
  SimTime update();
  /// Runs an update whose data nobody writes, for its memory.
  void update_alone();
  /// Runs an update that is not the first one, and says what it takes and the most DRAM so far.
  RunPlan planned_update();

  bool has_gradients() const;
  /// Returns the most DRAM that was in use.
  Bytes peak() const;

 private:
  class Events;

  void write_batch();
  /// Reads the loss of each chip, one after the other, when all have computed it.
  void read(Device& device, const ops::Tensor& loss);
  void describe(const Events& events, RunPlan& plan);
  void hide_sums(const autograd::StepRecorder& recorder, RunPlan& plan);

  RunSetting setting_;  ///< Its batch is that of the chip.
  SimTime start_;       ///< When the last update began.
  std::int64_t steps_ = 0;
  chip::EmulatedChip chip_;
  std::optional<ops::Tensor> seed_offset_;
  autograd::DeviceGroup tensor_, copies_, sharers_;
  std::unique_ptr<models::LanguageModel> model_;
  std::optional<models::BatchTensors> batch_;
  std::unique_ptr<autograd::Optimizer> optimizer_, clipped_, averaged_;
  autograd::StepFunction step_;
  std::optional<training::StepRunner> runner_;  ///< Absent for calls and for replays of them.
  std::optional<RepeatedStep> repeated_;        ///< Present when it has been captured.
  std::unique_ptr<autograd::TracedStep> replay_;
};

}  // namespace howard::experiments
