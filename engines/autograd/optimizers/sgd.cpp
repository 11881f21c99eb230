// SPDX-License-Identifier: Apache-2.0
#include "engines/autograd/optimizers/sgd.h"

#include <optional>
#include <utility>

#include "engines/ops/tensor.h"
#include "engines/ops/training.h"

namespace howard::autograd {

using ops::Tensor;

namespace {

/// Takes the gradient from a parameter, in the parameter's layout.
Tensor taken_gradient(const Calls& calls, Parameter& parameter) {
  Tensor gradient = std::move(*parameter.gradient);
  parameter.gradient.reset();
  const Layout layout = parameter.value.spec().layout;
  return gradient.spec().layout == layout ? gradient : calls.to_layout(gradient, layout);
}

}  // namespace

Sgd::Sgd(std::vector<Parameter*> parameters, float rate, bool fills_rate)
    : parameters_(std::move(parameters)), fills_rate_(fills_rate) {
  learning_rate = rate;
}

Sgd::Sgd(const Calls& calls, std::vector<Parameter*> parameters, const SgdAttributes& attributes,
         SgdForm form)
    : parameters_(std::move(parameters)), attributes_(attributes), form_(form) {
  learning_rate = attributes.learning_rate;
  if (attributes.momentum == 0) return;
  for (const Parameter* parameter : parameters_) {
    buffers_.push_back(calls.fill(0, parameter->value.spec()));
  }
}

Tensor Sgd::direction(const Calls& calls, Tensor gradient, const Tensor& value,
                      std::size_t index) const {
  if (attributes_.weight_decay != 0) {
    gradient = calls.add(gradient, calls.multiply(value, attributes_.weight_decay));
  }
  if (buffers_.empty()) return gradient;
  const Tensor& buffer = buffers_[index];
  const Tensor kept = calls.multiply(buffer, attributes_.momentum);
  const Tensor fresh = calls.multiply(gradient, 1 - dampening());
  calls.run(make_program(eltwise_of(Eltwise::add), {kept, fresh}, {buffer}));
  if (!attributes_.nesterov) return buffer;
  return calls.add(gradient, calls.multiply(buffer, attributes_.momentum));
}

void Sgd::update_at_once(const Calls& calls, std::size_t index) const {
  Parameter& parameter = *parameters_[index];
  SgdAttributes attributes = attributes_;
  attributes.learning_rate = learning_rate;
  attributes.dampening = dampening();
  calls.run(ops::sgd(parameter.value, taken_gradient(calls, parameter),
                     buffers_.empty() ? std::nullopt : std::optional(buffers_[index]), attributes));
}

void Sgd::update(const Calls& calls, std::size_t index) const {
  Parameter& parameter = *parameters_[index];
  Tensor& value = parameter.value;
  Tensor gradient = taken_gradient(calls, parameter);
  gradient = direction(calls, std::move(gradient), value, index);
  const Tensor change = fills_rate_
                            ? calls.multiply(gradient, calls.fill(learning_rate, gradient.spec()))
                            : calls.multiply(gradient, learning_rate);
  const TensorSpec result =
      results_of(eltwise_of(Eltwise::subtract), std::array{value.spec(), change.spec()})[0];
  const Tensor updated = result == value.spec() ? value : calls.make(result);
  calls.run(make_program(eltwise_of(Eltwise::subtract), {value, change}, {updated}));
  value = updated;
}

void Sgd::set_numbers(const StepNumbers& numbers) {
  learning_rate = numbers.learning_rate;
  next_step_ = numbers.step;
}

std::vector<KeptTensor> Sgd::kept(std::size_t parameter) const {
  if (buffers_.empty()) return {};
  return {{"momentum", buffers_[parameter]}};
}

void Sgd::step(const Calls& calls) {
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    if (!parameters_[i]->gradient) continue;
    if (form_ == SgdForm::fused) {
      update_at_once(calls, i);
    } else {
      update(calls, i);
    }
  }
  ++next_step_;
}

}  // namespace howard::autograd
