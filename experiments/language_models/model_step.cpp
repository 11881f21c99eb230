// SPDX-License-Identifier: Apache-2.0
#include "experiments/language_models/model_step.h"

namespace howard::experiments {

ModelStep::ModelStep(chip::EmulatedChip& device, const CallList& calls) : device_(device) {
  reserve_dram(calls);
  for (const CallGroup& group : calls) {
    Group made{group.times, {}};
    for (const ModelCall& call : group.calls) {
      std::vector<Operand> inputs, outputs;
      for (const TensorSpec& spec : call.inputs) inputs.emplace_back(spec);
      for (const TensorSpec& spec : call.outputs) outputs.emplace_back(spec);
      made.programs.push_back(make_program(call.attributes, std::move(inputs), std::move(outputs)));
      with_operands(made.programs.back(), [&](const Program& program) {
        kernels_.add(call.part, device_, program, group.times);
      });
    }
    groups_.push_back(std::move(made));
  }
}

void ModelStep::reserve_dram(const CallList& calls) {
  const TensorSpec* largest = nullptr;
  const auto look_at = [&](const SpecList& specs) {
    for (const TensorSpec& spec : specs) {
      if (spec.storage != Storage::dram) continue;
      if (largest == nullptr || spec.padded_bytes() > largest->padded_bytes()) largest = &spec;
    }
  };
  for (const CallGroup& group : calls) {
    for (const ModelCall& call : group.calls) {
      look_at(call.inputs);
      look_at(call.outputs);
    }
  }
  if (largest != nullptr) dram_.emplace(device_, *largest);
}

std::int64_t ModelStep::calls() const {
  std::int64_t all = 0;
  for (const Group& group : groups_) {
    all += group.times * static_cast<std::int64_t>(group.programs.size());
  }
  return all;
}

}  // namespace howard::experiments
