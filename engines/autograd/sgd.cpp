// SPDX-License-Identifier: Apache-2.0
#include "engines/autograd/sgd.h"

#include <utility>

#include "engines/ops/eltwise.h"

namespace howard::autograd {

using ops::Tensor;

Sgd::Sgd(std::vector<Parameter*> parameters, float rate, bool fills_rate)
    : parameters_(std::move(parameters)), fills_rate_(fills_rate) {
  learning_rate = rate;
}

void Sgd::update(const Calls& calls, Parameter& parameter) const {
  Tensor& value = parameter.value;
  Tensor gradient = std::move(*parameter.gradient);
  parameter.gradient.reset();
  if (gradient.spec().layout != value.spec().layout) {
    gradient = calls.to_layout(gradient, value.spec().layout);
  }
  const Tensor change = fills_rate_
                            ? calls.multiply(gradient, calls.fill(learning_rate, gradient.spec()))
                            : calls.multiply(gradient, learning_rate);
  const TensorSpec result = ops::eltwise_output(Eltwise::subtract, value.spec(), change.spec());
  const Tensor updated = result == value.spec() ? value : calls.make(result);
  calls.run(ops::eltwise(Eltwise::subtract, value, change, updated));
  value = updated;
}

void Sgd::step(const Calls& calls) {
  for (Parameter* parameter : parameters_) {
    if (parameter->gradient) update(calls, *parameter);
  }
}

}  // namespace howard::autograd
