// SPDX-License-Identifier: Apache-2.0
#include "engines/autograd/sgd.h"

#include <utility>

#include "engines/ops/eltwise.h"

namespace howard::autograd {
namespace {

using ops::Tensor;

void update(const Calls& calls, Parameter& parameter, float learning_rate) {
  Tensor& value = parameter.value;
  Tensor gradient = std::move(*parameter.gradient);
  parameter.gradient.reset();
  if (gradient.spec().layout != value.spec().layout) {
    gradient = calls.to_layout(gradient, value.spec().layout);
  }
  const Tensor change = calls.multiply(gradient, learning_rate);
  const TensorSpec result = ops::eltwise_output(Eltwise::subtract, value.spec(), change.spec());
  const Tensor updated = result == value.spec() ? value : calls.make(result);
  calls.run(ops::eltwise(Eltwise::subtract, value, change, updated));
  value = updated;
}

}  // namespace

Sgd::Sgd(std::vector<Parameter*> parameters, float rate) : parameters_(std::move(parameters)) {
  learning_rate = rate;
}

void Sgd::step(const Calls& calls) {
  for (Parameter* parameter : parameters_) {
    if (parameter->gradient) update(calls, *parameter, learning_rate);
  }
}

}  // namespace howard::autograd
