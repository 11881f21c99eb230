// SPDX-License-Identifier: Apache-2.0
#include "engines/autograd/adamw.h"

#include <cmath>
#include <utility>

#include "engines/ops/adamw.h"
#include "engines/ops/eltwise.h"

namespace howard::autograd {
namespace {

using ops::Tensor;

/// target = a function b.
void eltwise_to(const Calls& calls, const Tensor& target, Eltwise function, const Tensor& a,
                const Tensor& b) {
  calls.run(ops::eltwise(function, a, b, target));
}

void update_by_parts(const Calls& calls, const Tensor& value, const Tensor& gradient,
                     const ops::Moments& moments, const AdamWAttributes& attributes) {
  const auto& [rate, beta1, beta2, epsilon, decay, step] = attributes;
  const auto& [first, second] = moments;
  const auto steps = static_cast<float>(step);
  eltwise_to(calls, value, Eltwise::subtract, value, calls.multiply(value, decay * rate));

  const Tensor kept = calls.multiply(first, beta1);
  eltwise_to(calls, first, Eltwise::add, kept, calls.multiply(gradient, 1 - beta1));
  const Tensor kept_square = calls.multiply(second, beta2);
  const Tensor square = calls.eltwise(Eltwise::square, gradient);
  eltwise_to(calls, second, Eltwise::add, kept_square, calls.multiply(square, 1 - beta2));

  const Tensor first_hat = calls.multiply(first, 1 / (1 - std::pow(beta1, steps)));
  const Tensor second_hat = calls.multiply(second, 1 / (1 - std::pow(beta2, steps)));
  const Tensor direction = calls.multiply(first_hat, -rate);
  const Tensor root = calls.eltwise(Eltwise::sqrt, second_hat);
  const Tensor divisor =
      calls.eltwise(Eltwise::reciprocal, calls.eltwise(Eltwise::add, root, epsilon));
  eltwise_to(calls, value, Eltwise::add, value, calls.multiply(direction, divisor));
}

}  // namespace

AdamW::AdamW(const Calls& calls, std::vector<Parameter*> parameters,
             const AdamWAttributes& attributes, AdamWForm form)
    : parameters_(std::move(parameters)), attributes_(attributes), form_(form) {
  learning_rate = attributes.learning_rate;
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
    if (form_ == AdamWForm::fused) {
      calls.run(ops::adamw(parameter.value, *parameter.gradient, moments_[i], attributes_));
    } else {
      update_by_parts(calls, parameter.value, *parameter.gradient, moments_[i], attributes_);
    }
    parameter.gradient.reset();
  }
  ++attributes_.step;
}

}  // namespace howard::autograd
