// SPDX-License-Identifier: Apache-2.0
#include "engines/autograd/adamw.h"

#include <utility>

#include "engines/ops/adamw.h"

namespace howard::autograd {

AdamW::AdamW(const Calls& calls, std::vector<Parameter*> parameters,
             const AdamWAttributes& attributes)
    : parameters_(std::move(parameters)), attributes_(attributes) {
  learning_rate = attributes.learning_rate;
  calls.device().begin_phase("optimizer");
  for (const Parameter* parameter : parameters_) {
    const TensorSpec& spec = parameter->value.spec();
    moments_.push_back({calls.fill(0, spec), calls.fill(0, spec)});
  }
}

void AdamW::step(const Calls& calls) {
  attributes_.learning_rate = learning_rate;
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    Parameter& parameter = *parameters_[i];
    if (!parameter.gradient) continue;
    calls.run(ops::adamw(parameter.value, *parameter.gradient, moments_[i], attributes_));
    parameter.gradient.reset();
  }
  ++attributes_.step;
}

}  // namespace howard::autograd
