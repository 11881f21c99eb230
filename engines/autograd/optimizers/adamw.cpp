// SPDX-License-Identifier: Apache-2.0
#include "engines/autograd/optimizers/adamw.h"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "base/error.h"
#include "engines/autograd/host_values.h"
#include "engines/ops/tensor.h"

namespace howard::autograd {
namespace {

using ops::Tensor;

/// Computes target = a function b.
void eltwise_to(const Calls& calls, const Tensor& target, Eltwise function, const Tensor& a,
                const Tensor& b) {
  calls.run(make_program(eltwise_of(function), {a, b}, {target}));
}

}  // namespace

AdamW::AdamW(const Calls& calls, std::vector<Parameter*> parameters,
             const AdamWAttributes& attributes, AdamWForm form)
    : parameters_(std::move(parameters)), attributes_(attributes), form_(form) {
  require_options();
  learning_rate = attributes.learning_rate;
  for (const Parameter* parameter : parameters_) {
    const TensorSpec& spec = parameter->value.spec();
    moments_.push_back({calls.fill(0, spec), calls.fill(0, spec)});
    if (attributes.amsgrad) moments_.back().largest = calls.fill(0, spec);
    if (attributes.kahan) moments_.back().compensation = calls.fill(0, spec);
  }
  if (form == AdamWForm::replayable) {
    const auto number = [&] { return calls.make({{1, 1}, DataType::float32}); };
    tensors_ = NumberTensors{number(), number(), number(), number()};
  }
}

void AdamW::require_options() const {
  const bool replayable = form_ == AdamWForm::replayable;
  if (replayable && attributes_.kahan) {
    throw Error({.attempted = "make an AdamW whose steps can be replayed",
                 .value = "it compensates its sums",
                 .accepted = "sums without compensation"});
  }
  if (attributes_.rounding_seed && form_ != AdamWForm::fused) {
    throw Error({.attempted = "make an AdamW that rounds by chance",
                 .value = "it is made of many calls",
                 .accepted = "AdamW in one call"});
  }
  for (const Parameter* parameter : parameters_) {
    const DataType dtype = parameter->value.spec().dtype;
    if (replayable && dtype != DataType::float32) {
      throw Error({.attempted = "make an AdamW whose steps can be replayed",
                   .value = fmt::format("{} is {}", parameter->name, name_of(dtype)),
                   .accepted =
                       "float32 parameters: a tensor of another type would round the step's "
                       "numbers",
                   .hint = "float32 parameters with a compute type of bfloat16"});
    }
    if (attributes_.rounding_seed && dtype != DataType::bfloat16) {
      throw Error({.attempted = "make an AdamW that rounds by chance",
                   .value = fmt::format("{} is {}", parameter->name, name_of(dtype)),
                   .accepted = "bfloat16 parameters"});
    }
  }
}

/// Returns the attributes for one parameter: each has draws of its own in each step.
AdamWAttributes AdamW::attributes_for(std::size_t index) const {
  AdamWAttributes attributes = attributes_;
  if (attributes.rounding_seed) {
    const auto step = static_cast<std::uint32_t>(attributes_.step);
    *attributes.rounding_seed +=
        step * static_cast<std::uint32_t>(parameters_.size()) + static_cast<std::uint32_t>(index);
  }
  return attributes;
}

AdamW::Numbers AdamW::numbers() const {
  const auto steps = static_cast<float>(attributes_.step);
  return {.decay = attributes_.weight_decay * learning_rate,
          .first_factor = 1 / (1 - std::pow(attributes_.beta1, steps)),
          .second_factor = 1 / (1 - std::pow(attributes_.beta2, steps)),
          .direction = -learning_rate};
}

template <class AllNumbers>
void AdamW::update_by_parts(const Calls& calls, const Parameter& parameter, std::size_t index,
                            const AllNumbers& numbers) const {
  const Tensor& value = parameter.value;
  const Tensor& gradient = *parameter.gradient;
  const ops::Moments& moments = moments_[index];
  const Tensor& first = moments.first;
  const Tensor& second = moments.second;
  const float beta1 = attributes_.beta1;
  const float beta2 = attributes_.beta2;
  eltwise_to(calls, value, Eltwise::subtract, value, calls.multiply(value, numbers.decay));

  const Tensor kept = calls.multiply(first, beta1);
  eltwise_to(calls, first, Eltwise::add, kept, calls.multiply(gradient, 1 - beta1));
  const Tensor kept_square = calls.multiply(second, beta2);
  const Tensor square = calls.eltwise(Eltwise::square, gradient);
  eltwise_to(calls, second, Eltwise::add, kept_square, calls.multiply(square, 1 - beta2));

  const Tensor first_hat = calls.multiply(first, numbers.first_factor);
  const Tensor second_hat = calls.multiply(second, numbers.second_factor);
  const Tensor direction = calls.multiply(first_hat, numbers.direction);
  if (moments.largest) {
    eltwise_to(calls, *moments.largest, Eltwise::maximum, *moments.largest, second_hat);
  }
  const Tensor root = calls.eltwise(Eltwise::sqrt, moments.largest ? *moments.largest : second_hat);
  const Tensor divisor =
      calls.eltwise(Eltwise::reciprocal, calls.eltwise(Eltwise::add, root, attributes_.epsilon));
  const Tensor update = calls.multiply(direction, divisor);
  if (!moments.compensation) {
    eltwise_to(calls, value, Eltwise::add, value, update);
    return;
  }
  const Tensor& lost = *moments.compensation;
  const Tensor added = calls.subtract(update, lost);
  const Tensor sum = calls.add(value, added);
  eltwise_to(calls, lost, Eltwise::subtract, calls.subtract(sum, value), added);
  calls.run(make_program(eltwise_of(Eltwise::add, 0.0F), {sum}, {value}));
}

void AdamW::step(const Calls& calls) {
  attributes_.learning_rate = learning_rate;
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    Parameter& parameter = *parameters_[i];
    if (!parameter.gradient) continue;
    switch (form_) {
      case AdamWForm::composite:
        update_by_parts(calls, parameter, i, numbers());
        break;
      case AdamWForm::replayable:
        update_by_parts(calls, parameter, i, *tensors_);
        break;
      case AdamWForm::fused:
        calls.run(ops::adamw(parameter.value, *parameter.gradient, moments_[i], attributes_for(i)));
        break;
    }
    parameter.gradient.reset();
  }
  if (form_ != AdamWForm::replayable) ++attributes_.step;
}

void AdamW::set_numbers(const StepNumbers& numbers) {
  learning_rate = numbers.learning_rate;
  attributes_.beta1 = numbers.beta1;
  attributes_.step = numbers.step;
}

std::vector<KeptTensor> AdamW::kept(std::size_t parameter) const {
  const ops::Moments& moments = moments_[parameter];
  std::vector<KeptTensor> all{{"first moment", moments.first}, {"second moment", moments.second}};
  if (moments.largest) all.push_back({"largest moment", *moments.largest});
  if (moments.compensation) all.push_back({"compensation", *moments.compensation});
  return all;
}

void AdamW::write_numbers(CommandQueue& queue) {
  if (!tensors_) return;
  const Numbers now = numbers();
  write_constant(queue, tensors_->decay, now.decay);
  write_constant(queue, tensors_->first_factor, now.first_factor);
  write_constant(queue, tensors_->second_factor, now.second_factor);
  write_constant(queue, tensors_->direction, now.direction);
  ++attributes_.step;
}

}  // namespace howard::autograd
