// SPDX-License-Identifier: Apache-2.0
#include "engines/training/step_runner.h"

#include <utility>

#include "engines/autograd/host_values.h"

namespace howard::training {

using autograd::Scalars;

std::string_view name_of(Engine engine) {
  if (engine == Engine::dynamic) return "dynamic";
  return engine == Engine::static_step ? "static" : "traced";
}

Scalars scalars_of(const Recipe& recipe, Engine engine) {
  const bool sgd = is_sgd(recipe.optimizer.kind);
  const bool is_constant =
      (sgd || recipe.optimizer.kind == OptimizerKind::no_op) && recipe.model.dropout == 0;
  // The first step of SGD has no dampening.
  const bool is_damped = recipe.optimizer.sgd.momentum != 0 && recipe.optimizer.sgd.dampening != 0;
  const bool fixed =
      (is_constant || engine == Engine::traced) &&
      (!sgd || (recipe.schedule.schedule == autograd::Schedule::identity && !is_damped));
  return fixed ? Scalars::fixed : Scalars::change_each_step;
}

StepRunner::StepRunner(Device& device, autograd::StepFunction function, Engine engine,
                       Scalars scalars)
    : device_(device), function_(std::move(function)), engine_(engine), scalars_(scalars) {}

float StepRunner::run() {
  CommandQueue& queue = device_.command_queue(0);
  if (engine_ == Engine::dynamic) return autograd::read_values(queue, function_(device_))[0];
  if (!static_) static_ = std::make_unique<autograd::StaticStep>(device_, function_, scalars_);
  if (engine_ == Engine::traced && !traced_) {
    traced_ = std::make_unique<autograd::TracedStep>(device_, *static_);
  }
  autograd::Step& step = traced_ ? static_cast<autograd::Step&>(*traced_) : *static_;
  step.run();
  return autograd::read_values(queue, step.loss())[0];
}

std::span<const Program> StepRunner::programs() const {
  if (!static_) return {};
  return static_->programs();
}

}  // namespace howard::training
