// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engines/workload/player.h"
#include "experiments/axes/machines.h"
#include "experiments/cases/emulated_case.h"
#include "experiments/cases/kernel_account.h"
#include "experiments/cases/program_changes.h"

namespace howard::experiments {

/// A model as a script of docs/vision asks the device for it: docs/vision/record.py writes the
/// files beside this one, and each of them is a model. A script captures a pass as a trace. In a
/// region "ResNet-50: 16 x image" it then writes inputs by queue 1 and replays the trace by queue
/// 0, time after time, and reads the results if the model's demo waits for them.
struct RecordedModel {
  std::string name;            ///< "resnet-50"
  std::int64_t batch = 1;      ///< Images, or sequences of tokens, of a pass.
  std::string sample;          ///< What a pass has of them: "image".
  std::string_view recording;  ///< A file of schema howard.workload/2.
};
/// Returns those that have published rows, in the order of these, and then the others by name.
const std::vector<RecordedModel>& recorded_models();

ChangeablePrograms programs_of(const RecordedModel& model);

/// Runs passes of a recorded model on the chips of a machine, each of which has a batch of its own.
/// An iteration writes the inputs of a pass, starts it and reads what the recording reads.
class RecordedPasses final : public EmulatedCase {
 public:
  /// `queues` is 2, or 1 for inputs that are written by the queue that replays the passes. Throws
  /// Error if the recording does not run on the chip.
  RecordedPasses(const DevBox& box, const RecordedModel& model, const Machine& machine, int queues,
                 const ProgramChanges& changes);

  void run() override;
  void finish() override { queue().finish(); }
  void describe(double seconds, harness::PointResult& point) const override;

 private:
  void prepare(std::size_t region, int queues);
  void find_iteration(std::size_t region, int queues);

  RecordedModel model_;
  int chips_;
  workload::Workload program_;
  workload::Player player_;
  std::vector<workload::Command> iteration_;
  KernelAccount kernels_{KernelParts::layers};
  Bytes trace_;  ///< Of the region for traces.
};

}  // namespace howard::experiments
