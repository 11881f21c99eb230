// SPDX-License-Identifier: Apache-2.0
#include "engines/models/layers.h"

#include <fmt/format.h>

#include <cmath>

#include "base/error.h"
#include "engines/autograd/functions/collective/divided_parameter.h"
#include "engines/autograd/host_values.h"

namespace howard::models {

autograd::Parameter ParameterMaker::matrix(const std::string& name, std::int64_t rows,
                                           std::int64_t columns, Layout layout) const {
  const Shape whole{rows, columns};
  const Shape own =
      sharers == nullptr ? whole : autograd::share_of_parameter(whole, sharers->devices());
  return {name,
          {device, TensorSpec{.shape = own, .dtype = dtype, .layout = layout}},
          {},
          own == whole ? nullptr : sharers};
}

LinearParameters ParameterMaker::linear(const std::string& name, std::int64_t out,
                                        std::int64_t in) const {
  return {matrix(name + ".weight", out, in), matrix(name + ".bias", 1, out)};
}

LayernormParameters ParameterMaker::layernorm(const std::string& name, std::int64_t width) const {
  return {matrix(name + ".gamma", 1, width), matrix(name + ".beta", 1, width)};
}

void divide_parameters(Device& device, const ModelOptions& options,
                       std::span<autograd::Parameter* const> parameters) {
  if (!options.divides_parameters()) return;
  for (autograd::Parameter* parameter : parameters) {
    if (parameter->sharers != nullptr) continue;
    TensorSpec spec = parameter->value.spec();
    spec.shape = autograd::share_of_parameter(spec.shape, options.sharers->devices());
    if (spec.shape == parameter->value.spec().shape) continue;
    parameter->value = ops::Tensor(device, spec);
    parameter->sharers = options.sharers;
  }
}

void open_part(autograd::Tape& tape, const ModelOptions& options,
               std::span<autograd::Parameter* const> parameters) {
  if (!options.divides_parameters()) return;
  tape.open_part();
  for (autograd::Parameter* parameter : parameters) {
    if (parameter->sharers != nullptr) static_cast<void>(tape.parameter(*parameter));
  }
}

autograd::Value close_part(autograd::Tape& tape, const ModelOptions& options,
                           autograd::Value output) {
  return options.divides_parameters() ? tape.close_part(output) : output;
}

std::vector<float> RandomValues::of(std::string_view parameter, std::int64_t rows,
                                    std::int64_t columns) {
  const auto ends = [&](const char* with) { return parameter.ends_with(with); };
  const bool scales = ends("gamma") || ends("norm/weight") || ends("ln_fc/weight");
  const bool is_weight = ends("weight") && !scales;
  std::vector<float> values(static_cast<std::size_t>(rows * columns), scales ? 1.0F : 0.0F);
  // TTML's mlp and DeepSeek keep what their layers begin with.
  const bool of_layer = parameter.starts_with("mlp/") || (parameter.starts_with("DeepSeek/") &&
                                                          !parameter.ends_with("tok_emb/weight"));
  if (is_weight || ends("lora_A")) inputs_ = columns;
  if (ends("lora_A") || (of_layer && !scales)) {
    const float bound = 1 / std::sqrt(static_cast<float>(inputs_));
    std::uniform_real_distribution<float> uniform(-bound, bound);
    for (float& value : values) value = uniform(random_);
    return values;
  }
  if (!is_weight) return values;
  for (float& value : values) value = normal_(random_);
  return values;
}

void write_random(CommandQueue& queue, std::span<autograd::Parameter* const> parameters,
                  std::uint32_t seed) {
  RandomValues random(seed);
  for (const autograd::Parameter* parameter : parameters) {
    const Shape& shape = parameter->value.spec().shape;
    autograd::write_values(queue, parameter->value,
                           random.of(parameter->name, shape.rows(), shape.columns()));
  }
}

void require_heads(std::string_view model, int heads, std::int64_t width) {
  if (heads >= 1 && width % heads == 0) return;
  throw Error({.attempted = fmt::format("make a {}", model),
               .value = fmt::format("{} heads of a width of {}", heads, width),
               .accepted = "a number of heads that divides the width"});
}

std::vector<std::uint32_t> counted_positions(std::int64_t batch, std::int64_t sequence) {
  std::vector<std::uint32_t> positions;
  for (std::int64_t i = 0; i < batch * sequence; ++i) {
    positions.push_back(static_cast<std::uint32_t>(i % sequence));
  }
  return positions;
}

std::vector<float> causal_mask(std::int64_t sequence, float seen, float hidden) {
  std::vector<float> mask;
  for (std::int64_t row = 0; row < sequence; ++row) {
    for (std::int64_t column = 0; column < sequence; ++column) {
      mask.push_back(column <= row ? seen : hidden);
    }
  }
  return mask;
}

}  // namespace howard::models
