// SPDX-License-Identifier: Apache-2.0
#include "engines/models/mlp.h"

#include <fmt/format.h>

#include "base/error.h"
#include "engines/autograd/functions/elementwise/activation.h"
#include "engines/autograd/functions/elementwise/arithmetic.h"
#include "engines/autograd/functions/matmul/linear.h"
#include "engines/autograd/functions/rows/loss.h"
#include "engines/autograd/host_values.h"

namespace howard::models {

using autograd::Parameter;
using autograd::Tape;
using autograd::Value;

Mlp::Mlp(Device& device, const MlpOptions& options)
    : options_(options),
      input_(device, {.shape = {options.batch, options.width}, .dtype = options.compute}),
      target_(device, {.shape = {options.batch, options.width}, .dtype = options.parameters}) {
  if (options.layers < 1) {
    throw Error({.attempted = "make an MLP",
                 .value = fmt::format("{} layers", options.layers),
                 .accepted = "1 or more"});
  }
  const auto parameter = [&](int layer, std::string_view name, std::int64_t rows) {
    const TensorSpec spec{.shape = {rows, options.width}, .dtype = options.parameters};
    return Parameter{fmt::format("layers.{}.{}", layer, name), {device, spec}, {}};
  };
  for (int i = 0; i < options.layers; ++i) {
    layers_.push_back({parameter(i, "weight", options.width), parameter(i, "bias", 1)});
  }
}

std::vector<Parameter*> Mlp::parameters() {
  std::vector<Parameter*> all;
  for (Layer& layer : layers_) {
    all.push_back(&layer.weight);
    all.push_back(&layer.bias);
  }
  return all;
}

void Mlp::write_constants(CommandQueue& queue, const MlpConstants& constants) {
  for (Layer& layer : layers_) {
    autograd::write_constant(queue, layer.weight.value, constants.weight);
    autograd::write_constant(queue, layer.bias.value, 0);
  }
  autograd::write_constant(queue, input_, constants.input);
  autograd::write_constant(queue, target_, constants.target);
}

Value Mlp::linear(Tape& tape, Value x, Layer& layer, MlpFunctions functions) {
  const Value weight = tape.parameter(layer.weight);
  if (functions == MlpFunctions::in_python) return autograd::matmul(tape, x, weight);
  const autograd::LinearValues values{weight, tape.parameter(layer.bias)};
  if (functions == MlpFunctions::by_op) return autograd::composed_linear(tape, x, values);
  return functions == MlpFunctions::by_fused_layer ? autograd::fused_linear(tape, x, values)
                                                   : autograd::linear(tape, x, values);
}

Value Mlp::loss(Tape& tape, MlpFunctions functions) {
  const bool by_layer =
      functions == MlpFunctions::by_layer || functions == MlpFunctions::by_fused_layer;
  Value x = tape.constant(input_);
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    if (i > 0) x = by_layer ? autograd::masked_relu(tape, x) : autograd::relu(tape, x);
    x = linear(tape, x, layers_[i], functions);
  }
  const Value target = tape.constant(target_);
  switch (functions) {
    case MlpFunctions::by_layer:
    case MlpFunctions::by_fused_layer:
      return autograd::mean_squared_error(tape, x, target);
    case MlpFunctions::by_op:
      return autograd::composed_mean_squared_error(tape, x, target);
    case MlpFunctions::in_python:
      break;
  }
  return autograd::summed_squared_error(tape, x, target);
}

}  // namespace howard::models
