// SPDX-License-Identifier: Apache-2.0
#include "engines/models/classifier.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "engines/autograd/functions/elementwise/arithmetic.h"
#include "engines/autograd/functions/matmul/linear.h"
#include "engines/autograd/functions/rows/loss.h"
#include "engines/autograd/host_values.h"

namespace howard::models {

using autograd::Parameter;
using autograd::Tape;
using autograd::Value;

Classifier::Classifier(Device& device, const ModelOptions& options)
    : options_(options),
      pictures_(device, {.shape = {options.batch, 1, 1, options.width}, .dtype = options.compute}),
      classes_(
          device,
          {.shape = {options.batch, 1}, .dtype = DataType::uint32, .layout = Layout::row_major}) {
  const std::vector<std::int64_t>& hidden = options.hidden;
  if (hidden.empty() || std::ranges::min(hidden) < 1) {
    throw Error({.attempted = "make an MLP",
                 .value = fmt::format("hidden layers of [{}]", fmt::join(hidden, ", ")),
                 .accepted = "one width or more, of 1 or more each"});
  }
  const ParameterMaker make = ParameterMaker::of(device, options);
  std::int64_t in = options.width;
  const auto add = [&](std::int64_t out) {
    layers_.push_back(make.linear(fmt::format("mlp/layer_{}", layers_.size()), out, in));
    in = out;
  };
  for (const std::int64_t width : hidden) add(width);
  add(options.vocabulary);
}

std::vector<Parameter*> Classifier::parameters() {
  std::vector<Parameter*> all;
  for (LinearParameters& layer : layers_) all.insert(all.end(), {&layer.weight, &layer.bias});
  return all;
}

Value Classifier::logits(Tape& tape, const ops::Tensor& pictures) {
  Value x = tape.constant(pictures);
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    if (i > 0) x = autograd::relu(tape, x);
    x = autograd::fused_linear(tape, x, layers_[i].on(tape));
  }
  return x;
}

Value Classifier::loss(Tape& tape, const ops::Tensor& pictures, const ops::Tensor& classes) {
  return autograd::mean_cross_entropy(
      tape, logits(tape, pictures), tape.constant(classes),
      options_.scaled_slopes ? autograd::SlopeForm::multiplied : autograd::SlopeForm::kernel);
}

void Classifier::write_tokens(CommandQueue& queue, const ops::Tensor& to,
                              std::span<const std::uint32_t> values) const {
  constexpr float kBrightest = 255;
  std::vector<float> numbers;
  numbers.reserve(values.size());
  for (const std::uint32_t value : values) {
    numbers.push_back(static_cast<float>(value) / kBrightest - 0.5F);
  }
  autograd::write_values(queue, to, numbers);
}

std::unique_ptr<LanguageModel> Classifier::of_one_sequence(Device& device) const {
  ModelOptions options = options_;
  options.batch = 1;
  return std::make_unique<Classifier>(device, options);
}

}  // namespace howard::models
