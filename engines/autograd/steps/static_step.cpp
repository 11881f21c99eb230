// SPDX-License-Identifier: Apache-2.0
#include "engines/autograd/steps/static_step.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/error.h"

namespace howard::autograd {
namespace {

/// Returns whether every buffer was released, except the loss if that remains.
bool only_loss_remains(const StepRecorder& recorder, const ops::Tensor& loss) {
  return std::ranges::all_of(recorder.buffers(), [&](const auto& entry) {
    return entry.second.released || entry.first == loss.buffer();
  });
}

bool same_operands(const std::vector<Operand>& a, const std::vector<Operand>& b) {
  return std::ranges::equal(a, b, [](const Operand& x, const Operand& y) {
    return x.buffer == y.buffer && x.spec == y.spec;
  });
}

bool same_but_for_scalars(const Program& a, const Program& b) {
  return a.name == b.name && a.attributes.index() == b.attributes.index() &&
         same_operands(a.inputs, b.inputs) && same_operands(a.outputs, b.outputs);
}

/// Throws Error unless `again`, a second recording of the same step, has the same scalars.
void require_fixed(const std::vector<Program>& programs, const std::vector<Program>& again) {
  const auto same = [](const Program& a, const Program& b) {
    return a.name == b.name && a.attributes == b.attributes;
  };
  if (std::ranges::equal(programs, again, same)) return;
  throw Error({.attempted = "record a training step whose scalars are fixed",
               .value = "recorded twice, its programs were told different numbers",
               .accepted = "a step whose changing numbers are on the device: a replayable AdamW, "
                           "a seed offset for dropout; no schedule of SGD",
               .hint = "scalars that change each step"});
}

}  // namespace

StaticStep::StaticStep(Device& device, StepFunction function, Scalars scalars, int queue)
    : device_(device),
      queue_(device.command_queue(queue)),
      function_(std::move(function)),
      scalars_(scalars) {
  StepRecorder recorder(device);
  const ops::Tensor loss = function_(recorder);
  HOWARD_CHECK(only_loss_remains(recorder, loss),
               "weights that change their shape have done so before a step is recorded");
  recorded_ = recorder.programs();
  phases_ = recorder.phases();
  if (scalars == Scalars::fixed) {
    StepRecorder again(device);
    static_cast<void>(function_(again));
    require_fixed(recorded_, again.programs());
  }
  plan_ = plan_buffers(recorder);
  // The forward pass, the backward pass and the update share the buffers of this phase.
  device.begin_phase("static step");
  bind(device, recorder);
  loss_ = places_[plan_.place.at(loss.buffer())];
}

void StaticStep::bind(Device& device, const StepRecorder& recorder) {
  for (const TensorSpec& spec : plan_.places) places_.emplace_back(device, spec);
  for (const auto& [id, buffer] : recorder.buffers()) {
    if (buffer.values.empty()) continue;
    queue_.write_buffer(places_[plan_.place.at(id)].buffer(), buffer.values);
  }
  list_.programs = recorded_;
  for (Program& program : list_.programs) {
    for (std::vector<Operand>* operands : {&program.inputs, &program.outputs}) {
      for (Operand& operand : *operands) {
        const auto place = plan_.place.find(operand.buffer);
        if (place != plan_.place.end()) operand.buffer = places_[place->second].buffer();
      }
    }
  }
}

void StaticStep::take_scalars() {
  StepRecorder recorder(device_);
  const ops::Tensor loss = function_(recorder);
  if (!std::ranges::equal(recorder.programs(), recorded_, same_but_for_scalars)) {
    throw Error({.attempted = "run a recorded training step",
                 .value = "its function now makes other programs than when it was recorded",
                 .accepted = "the shapes it was recorded with",
                 .hint = "to record a step for each shape"});
  }
  for (std::size_t i = 0; i < recorded_.size(); ++i) {
    list_.programs[i].attributes = recorder.programs()[i].attributes;
  }
  list_.ready.reset();
}

void StaticStep::run() {
  if (has_run_ && scalars_ == Scalars::change_each_step) take_scalars();
  has_run_ = true;
  queue_.enqueue_all(list_);
}

}  // namespace howard::autograd
