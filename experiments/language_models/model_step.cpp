// SPDX-License-Identifier: Apache-2.0
#include "experiments/language_models/model_step.h"

#include <algorithm>
#include <functional>

namespace howard::experiments {

ModelStep::ModelStep(chip::EmulatedChip& device, const CallList& calls) : device_(device) {
  reserve_dram(calls);
  for (const CallGroup& group : calls) {
    Group made{group.times, {}};
    for (const ModelCall& call : group.calls) {
      std::vector<Operand> inputs, outputs;
      for (const TensorSpec& spec : call.inputs) inputs.push_back({.spec = spec});
      for (const TensorSpec& spec : call.outputs) outputs.push_back({.spec = spec});
      made.programs.push_back(make_program(call.attributes, std::move(inputs), std::move(outputs)));
      with_operands(made.programs.back(),
                    [&](const Program& program) { count(call.part, program, group.times); });
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

void ModelStep::count(std::string_view part, const Program& program, std::int64_t times) {
  Total& total = totals_[part];
  total.part.name = part;
  for (const chip::PlannedProgram& planned : device_.launches(program)) {
    const SimTime time = planned.kernel.total * times;
    total.part.launches += static_cast<int>(times);
    total.part.kernel += time;
    total.part.dram += planned.kernel.dram * times;
    total.by_bottleneck[planned.kernel.bottleneck] += time;
    known_.add(time, calibration::band_of(planned, device_.profiles().chip.architecture));
  }
}

std::int64_t ModelStep::calls() const {
  std::int64_t all = 0;
  for (const Group& group : groups_) {
    all += group.times * static_cast<std::int64_t>(group.programs.size());
  }
  return all;
}

int ModelStep::launches() const {
  int all = 0;
  for (const auto& [name, total] : totals_) all += total.part.launches;
  return all;
}

std::vector<ModelPart> ModelStep::parts() const {
  std::vector<ModelPart> parts;
  for (const auto& [name, total] : totals_) {
    parts.push_back(total.part);
    if (total.by_bottleneck.empty()) continue;
    parts.back().bottleneck =
        std::ranges::max_element(total.by_bottleneck, {}, [](const auto& one) {
          return one.second;
        })->first;
  }
  std::ranges::stable_sort(parts, std::greater(), &ModelPart::kernel);
  return parts;
}

}  // namespace howard::experiments
