// SPDX-License-Identifier: Apache-2.0
#include "engines/autograd/optimizers/sgd.h"

#include <utility>

#include "engines/ops/eltwise.h"

namespace howard::autograd {

using ops::Tensor;

Sgd::Sgd(std::vector<Parameter*> parameters, float rate, bool fills_rate)
    : parameters_(std::move(parameters)), fills_rate_(fills_rate) {
  learning_rate = rate;
}

Sgd::Sgd(const Calls& calls, std::vector<Parameter*> parameters, float rate,
         const SgdAttributes& attributes)
    : parameters_(std::move(parameters)), attributes_(attributes) {
  learning_rate = rate;
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
  const Tensor fresh = calls.multiply(gradient, 1 - attributes_.dampening);
  calls.run(ops::eltwise(Eltwise::add, kept, fresh, buffer));
  if (!attributes_.nesterov) return buffer;
  return calls.add(gradient, calls.multiply(buffer, attributes_.momentum));
}

void Sgd::update(const Calls& calls, std::size_t index) const {
  Parameter& parameter = *parameters_[index];
  Tensor& value = parameter.value;
  Tensor gradient = std::move(*parameter.gradient);
  parameter.gradient.reset();
  if (gradient.spec().layout != value.spec().layout) {
    gradient = calls.to_layout(gradient, value.spec().layout);
  }
  gradient = direction(calls, std::move(gradient), value, index);
  const Tensor change = fills_rate_
                            ? calls.multiply(gradient, calls.fill(learning_rate, gradient.spec()))
                            : calls.multiply(gradient, learning_rate);
  const TensorSpec result = ops::eltwise_output(Eltwise::subtract, value.spec(), change.spec());
  const Tensor updated = result == value.spec() ? value : calls.make(result);
  calls.run(ops::eltwise(Eltwise::subtract, value, change, updated));
  value = updated;
}

void Sgd::step(const Calls& calls) {
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    if (parameters_[i]->gradient) update(calls, i);
  }
}

}  // namespace howard::autograd
