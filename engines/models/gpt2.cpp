// SPDX-License-Identifier: Apache-2.0
#include "engines/models/gpt2.h"

#include <fmt/format.h>

#include <random>

#include "base/error.h"
#include "engines/autograd/functions/attention/attention.h"
#include "engines/autograd/functions/data_movement/embedding.h"
#include "engines/autograd/functions/elementwise/activation.h"
#include "engines/autograd/functions/elementwise/arithmetic.h"
#include "engines/autograd/functions/rows/layernorm.h"
#include "engines/autograd/functions/rows/loss.h"
#include "engines/autograd/host_values.h"

namespace howard::models {
namespace {

constexpr float kHidden = -1e9F;

}  // namespace

using autograd::Parameter;
using autograd::Tape;
using autograd::Value;
using autograd::WeightGradient;

Gpt2::Gpt2(Device& device, const Gpt2Options& options)
    : options_(options),
      token_table_(ParameterMaker{device, options.parameters}.matrix(
          "token_embedding.weight", options.vocabulary, options.width, Layout::row_major)),
      position_table_(ParameterMaker{device, options.parameters}.matrix(
          "position_embedding.weight", options.sequence, options.width, Layout::row_major)),
      head_(ParameterMaker{device, options.parameters}.linear("head", options.vocabulary,
                                                              options.width)),
      mask_(device, {.shape = {options.sequence, options.sequence}, .dtype = options.compute}),
      tokens_(device, {.shape = {options.batch, options.sequence},
                       .dtype = DataType::uint32,
                       .layout = Layout::row_major}),
      positions_(device, tokens_.spec()),
      target_(device, {.shape = {options.batch, options.sequence, options.vocabulary},
                       .dtype = options.parameters}) {
  require_heads("GPT-2", options.heads, options.width);
  if (options.fused && options.as_published) {
    throw Error({.attempted = "make GPT-2 as published of fused functions",
                 .value = "the published code has none",
                 .hint = "gradients that are summed"});
  }
  const ParameterMaker make{device, options.parameters};
  const std::int64_t width = options.width;
  for (int i = 0; i < options.layers; ++i) {
    const std::string name = fmt::format("layers.{}.", i);
    layers_.push_back({.attention_norm = make.layernorm(name + "attention_norm", width),
                       .feed_forward_norm = make.layernorm(name + "feed_forward_norm", width),
                       .query = make.linear(name + "query", width, width),
                       .key = make.linear(name + "key", width, width),
                       .value = make.linear(name + "value", width, width),
                       .output = make.linear(name + "output", width, width),
                       .expand = make.linear(name + "expand", options.feed_forward, width),
                       .contract = make.linear(name + "contract", width, options.feed_forward)});
  }
  autograd::write_values(device.command_queue(0), mask_, causal_mask(options.sequence, 0, kHidden));
}

std::vector<Parameter*> Gpt2::parameters() {
  std::vector<Parameter*> all{&token_table_, &position_table_};
  const auto add_linear = [&](LinearParameters& layer) {
    all.push_back(&layer.weight);
    all.push_back(&layer.bias);
  };
  for (Layer& layer : layers_) {
    for (LayernormParameters* norm : {&layer.attention_norm, &layer.feed_forward_norm}) {
      all.push_back(&norm->gamma);
      all.push_back(&norm->beta);
    }
    for (LinearParameters* linear :
         {&layer.query, &layer.key, &layer.value, &layer.output, &layer.expand, &layer.contract}) {
      add_linear(*linear);
    }
  }
  add_linear(head_);
  return all;
}

void Gpt2::write_constants(CommandQueue& queue) {
  for (const Parameter* parameter : parameters()) {
    const bool is_bias = parameter->name.ends_with("bias") || parameter->name.ends_with("beta");
    const bool is_layer = parameter->name.starts_with("layers.");
    const float weight = parameter->name.ends_with("gamma") ? 1.0F : is_layer ? 0.01F : 0.02F;
    autograd::write_constant(queue, parameter->value, is_bias ? 0 : weight);
  }
  std::mt19937 random(42);
  std::vector<std::uint32_t> tokens(static_cast<std::size_t>(options_.batch * options_.sequence));
  for (std::uint32_t& token : tokens) {
    token = static_cast<std::uint32_t>(random() % static_cast<std::uint64_t>(options_.vocabulary));
  }
  autograd::write_indices(queue, tokens_, tokens);
  autograd::write_indices(queue, positions_, counted_positions(options_.batch, options_.sequence));
  autograd::write_constant(queue, target_, 0);
}

WeightGradient Gpt2::weight_gradient() const {
  return options_.as_published ? WeightGradient::rows_of_each_matrix : WeightGradient::rows;
}

Value Gpt2::linear(Tape& tape, Value x, LinearParameters& layer) const {
  if (options_.fused) return autograd::fused_linear(tape, x, layer.on(tape));
  return autograd::linear(tape, x, layer.on(tape), weight_gradient());
}

Value Gpt2::layernorm(Tape& tape, Value x, LayernormParameters& scale) const {
  return options_.fused
             ? autograd::fused_layernorm(tape, x, scale.on(tape), autograd::kLayernormEpsilon)
             : autograd::composed_layernorm(tape, x, scale.on(tape), autograd::kLayernormEpsilon);
}

Value Gpt2::block(Tape& tape, Value x, Layer& layer, std::optional<Value> probabilities) {
  const Value normalized = layernorm(tape, x, layer.attention_norm);
  const Value query = autograd::three_linears(
      tape, normalized, {layer.query.on(tape), layer.key.on(tape), layer.value.on(tape)},
      weight_gradient());
  const Value attended = autograd::composed_attention(tape, query, tape.constant(mask_),
                                                      options_.heads, probabilities);
  x = autograd::add(tape, x, linear(tape, attended, layer.output));
  const Value hidden = linear(tape, layernorm(tape, x, layer.feed_forward_norm), layer.expand);
  const Value activated = autograd::gelu(tape, hidden, options_.fused);
  return autograd::add(tape, x, linear(tape, activated, layer.contract));
}

Value Gpt2::loss(Tape& tape) {
  std::optional<Value> shared;
  if (options_.as_published) {
    const Shape scores{options_.batch, options_.heads, options_.sequence, options_.sequence};
    shared = tape.constant(tape.calls().make({.shape = scores, .dtype = options_.compute}));
  }
  const Value tokens =
      autograd::embedding(tape, tape.constant(tokens_), tape.parameter(token_table_));
  const Value positions =
      autograd::embedding(tape, tape.constant(positions_), tape.parameter(position_table_));
  Value x = autograd::add(tape, tokens, positions);
  for (Layer& layer : layers_) x = block(tape, x, layer, shared);
  return autograd::mean_squared_error(tape, linear(tape, x, head_), tape.constant(target_));
}

}  // namespace howard::models
