// SPDX-License-Identifier: Apache-2.0
#include "engines/autograd/steps/published_step.h"

#include <map>
#include <utility>

#include "base/check.h"

namespace howard::autograd {

BufferId PublishedStep::Slot::buffer() const {
  if (parameter != nullptr) return parameter->value.buffer();
  return tensor ? tensor->buffer() : fixed;
}

void PublishedStep::Slot::replace(ops::Tensor by) {
  if (parameter != nullptr) {
    parameter->value = std::move(by);
  } else {
    tensor = std::move(by);
  }
}

PublishedStep::PublishedStep(Device& device, const StepFunction& function,
                             std::span<Parameter* const> parameters)
    : device_(device) {
  StepRecorder recorder(device);
  const ops::Tensor loss = function(recorder);
  std::map<BufferId, std::size_t> slot_of;
  const auto add_slot = [&](BufferId buffer, Slot slot) {
    slot_of[buffer] = slots_.size();
    slots_.push_back(std::move(slot));
  };
  for (const auto& [id, buffer] : recorder.buffers()) {
    HOWARD_CHECK(buffer.values.empty(), "the published static engine writes nothing in a step");
    add_slot(id, {.spec = buffer.spec});
  }
  for (Parameter* parameter : parameters) {
    add_slot(parameter->value.buffer(), {.spec = parameter->value.spec(), .parameter = parameter});
  }
  const auto slots = [&](const std::vector<Operand>& operands) {
    std::vector<std::size_t> result;
    for (const Operand& operand : operands) {
      if (!slot_of.contains(operand.buffer)) {
        add_slot(operand.buffer, {.spec = operand.spec, .fixed = operand.buffer});
      }
      result.push_back(slot_of.at(operand.buffer));
    }
    return result;
  };
  for (const Program& program : recorder.programs()) {
    calls_.push_back({program, slots(program.inputs), slots(program.outputs)});
  }
  loss_ = slot_of.at(loss.buffer());
}

void PublishedStep::run() {
  CommandQueue& queue = device_.command_queue(0);
  replaced_.clear();
  for (const Slot& slot : slots_) {
    if (slot.parameter != nullptr) replaced_.push_back(slot.parameter->value);
  }
  for (Call& call : calls_) {
    for (std::size_t i = 0; i < call.inputs.size(); ++i) {
      call.program.inputs[i].buffer = slots_[call.inputs[i]].buffer();
    }
    std::vector<ops::Tensor> results;
    for (std::size_t i = 0; i < call.outputs.size(); ++i) {
      results.emplace_back(device_, slots_[call.outputs[i]].spec);
      call.program.outputs[i].buffer = results.back().buffer();
    }
    queue.enqueue(call.program);
    for (std::size_t i = 0; i < call.outputs.size(); ++i) {
      slots_[call.outputs[i]].replace(std::move(results[i]));
    }
  }
}

}  // namespace howard::autograd
