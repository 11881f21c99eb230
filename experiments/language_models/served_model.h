// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>

#include "experiments/cases/emulated_case.h"
#include "experiments/cases/program_changes.h"
#include "experiments/laboratory/devbox.h"
#include "experiments/language_models/memory_account.h"
#include "experiments/language_models/model_step.h"

namespace howard::experiments {

/// Returns where the programs of a chip are dispatched from so that most cores compute.
chip::DispatchCoreType widest_dispatch(const chip::ChipProfile& chip);

/// Returns the DRAM of a chip that tensors may have.
Bytes tensor_memory(const chip::Profiles& profiles);

/// Returns the time from handing a prompt over until its answer's first token is known, for one
/// user. The calls come from Python and are not replayed.
SimTime first_token_time(const DevBox& box, const Serving& serving,
                         const ProgramChanges& changes = {});

/// Returns the calls of a step on a chip of the box.
Work step_of(const DevBox& box, const Serving& serving);

/// Writes a token for each user: the host writes the inputs, replays the step and reads the logits,
/// of which it takes the largest.
class ServedModel final : public EmulatedCase {
 public:
  /// The model fits the chip (fit_text()). `chosen` is the chip if the machine chose it, and no
  /// option.
  ServedModel(std::shared_ptr<const DevBox> box, Serving serving,
              std::optional<harness::EmulatedOn> chosen, const ProgramChanges& changes);
  ~ServedModel() override;

  void run() override;
  void finish() override { queue().finish(); }
  void describe(double seconds, harness::PointResult& point) const override;

 private:
  std::shared_ptr<const DevBox> box_;
  Serving serving_;
  std::optional<harness::EmulatedOn> chosen_;
  SimTime first_token_;
  ModelStep step_;
  ops::Tensor inputs_, logits_;
  TraceId trace_{};
  std::unique_ptr<std::byte[]> host_;
};

}  // namespace howard::experiments
