// SPDX-License-Identifier: Apache-2.0
#include "engines/training/step_runner.h"

#include <utility>

#include "engines/autograd/host_values.h"
#include "engines/device/bfloat16.h"

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

void LossReads::read(Device& on, const ops::Tensor& loss) {
  if (&on != &device_) return;
  CommandQueue& queue = device_.command_queue(0);
  queue.finish();
  losses_.push_back(autograd::read_values(queue, loss)[0]);
  is_rounded_ = loss.spec().dtype == DataType::bfloat16;
}

std::optional<float> LossReads::take_mean() {
  const std::vector<float> losses = std::exchange(losses_, {});
  if (losses.empty()) return std::nullopt;
  const auto stored = [&](float value) { return is_rounded_ ? rounded_to_bfloat16(value) : value; };
  float total = losses[0];
  for (std::size_t i = 1; i < losses.size(); ++i) total = stored(total + losses[i]);
  return losses.size() == 1 ? total : stored(total * (1 / static_cast<float>(losses.size())));
}

StepRunner::StepRunner(Device& device, autograd::StepFunction function, Engine engine,
                       Scalars scalars, LossReads* reads)
    : device_(device),
      function_(std::move(function)),
      engine_(engine),
      scalars_(scalars),
      reads_(reads) {}

float StepRunner::run() {
  CommandQueue& queue = device_.command_queue(0);
  if (engine_ == Engine::dynamic) {
    if (reads_ != nullptr) static_cast<void>(reads_->take_mean());  // of a step that failed
    const ops::Tensor loss = function_(device_);
    const auto mean = reads_ != nullptr ? reads_->take_mean() : std::nullopt;
    if (!mean) return autograd::read_values(queue, loss)[0];
    queue.finish();
    return *mean;
  }
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
