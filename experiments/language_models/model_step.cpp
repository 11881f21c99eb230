// SPDX-License-Identifier: Apache-2.0
#include "experiments/language_models/model_step.h"

#include <utility>

namespace howard::experiments {

ModelStep::ModelStep(chip::EmulatedChip& device, Work work)
    : device_(device), work_(std::move(work)) {
  reserve_dram();
  for (const WorkGroup& group : work_) {
    for (const WorkCall& call : group.calls) {
      with_operands(call.program, [&](const Program& program) {
        kernels_.add(call.part, device_, program, group.times);
        trace_ += group.times * recorded_bytes(device_, program);
      });
    }
  }
}

void ModelStep::reserve_dram() {
  const TensorSpec* largest = nullptr;
  for (const WorkGroup& group : work_) {
    for (const WorkCall& call : group.calls) {
      for (const auto* const operands : {&call.program.inputs, &call.program.outputs}) {
        for (const auto& [buffer, spec] : *operands) {
          if (spec.storage != Storage::dram) continue;
          if (largest == nullptr || spec.padded_bytes() > largest->padded_bytes()) largest = &spec;
        }
      }
    }
  }
  if (largest != nullptr) dram_.emplace(device_, *largest);
}

}  // namespace howard::experiments
