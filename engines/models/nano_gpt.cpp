// SPDX-License-Identifier: Apache-2.0
#include "engines/models/nano_gpt.h"

#include <fmt/format.h>

#include <cmath>

#include "base/error.h"
#include "engines/autograd/functions/attention/attention.h"
#include "engines/autograd/functions/attention/model_parts.h"
#include "engines/autograd/functions/data_movement/embedding.h"
#include "engines/autograd/functions/elementwise/activation.h"
#include "engines/autograd/functions/elementwise/arithmetic.h"
#include "engines/autograd/functions/recomputation.h"
#include "engines/autograd/functions/rows/layernorm.h"
#include "engines/autograd/functions/rows/loss.h"
#include "engines/autograd/host_values.h"

namespace howard::models {
namespace {

constexpr int kFeedForwardFactor = 4;

/// Returns the [sequence, width] values of ModelOptions::fixed_positions.
std::vector<float> sinusoids(std::int64_t sequence, std::int64_t width) {
  std::vector<float> values;
  for (std::int64_t position = 0; position < sequence; ++position) {
    for (std::int64_t column = 0; column < width; ++column) {
      const double exponent = static_cast<double>(column / 2 * 2) / static_cast<double>(width);
      const double angle = static_cast<double>(position) / std::pow(10000.0, exponent);
      values.push_back(static_cast<float>(column % 2 == 0 ? std::sin(angle) : std::cos(angle)));
    }
  }
  return values;
}

/// Throws Error unless all shares are equal.
const ModelOptions& require_equal_shares(const ModelOptions& options) {
  const auto require = [&](bool holds, std::int64_t size, const char* what) {
    if (holds) return;
    throw Error({.attempted = "divide a nano_gpt among devices",
                 .value = fmt::format("{} {} among {}", size, what, options.shards()),
                 .accepted = "devices that divide heads and vocabulary, and a head of its own"});
  };
  require(options.heads % options.shards() == 0, options.heads, "heads");
  const std::int64_t wide =
      options.feed_forward > 0 ? options.feed_forward : kFeedForwardFactor * options.width;
  require(wide % options.shards() == 0, wide, "columns of the feed-forward part");
  require(options.vocabulary % options.shards() == 0, options.vocabulary, "rows of the vocabulary");
  require(options.shards() == 1 || !options.tied, options.vocabulary,
          "rows of the token table, which is the head,");
  return options;
}

}  // namespace

using autograd::Parameter;
using autograd::Tape;
using autograd::Value;

NanoGpt::NanoGpt(Device& device, const ModelOptions& options)
    : options_(require_equal_shares(options)),
      token_table_(ParameterMaker::of(device, options)
                       .matrix("token_embedding.weight", options.vocabulary, options.width)),
      position_table_((options.fixed_positions ? ParameterMaker{device, options.compute}
                                               : ParameterMaker::of(device, options))
                          .matrix("position_embedding.weight", options.sequence, options.width)),
      last_norm_(ParameterMaker::of(device, options).layernorm("last_norm", options.width)),
      head_(options.tied
                ? std::nullopt
                : std::optional(ParameterMaker::of(device, options)
                                    .matrix("head.weight", options.vocabulary / options.shards(),
                                            options.width))),
      mask_(device, {.shape = {options.sequence, options.sequence}, .dtype = options.compute}),
      tokens_(device, {.shape = {options.batch, options.sequence},
                       .dtype = DataType::uint32,
                       .layout = Layout::row_major}),
      targets_(device, tokens_.spec()) {
  require_heads("nano_gpt", options.heads, options.width);
  const ParameterMaker make = ParameterMaker::of(device, options);
  const std::int64_t width = options.width;
  const std::int64_t own = width / options.shards();
  const std::int64_t wide =
      (options.feed_forward > 0 ? options.feed_forward : kFeedForwardFactor * width) /
      options.shards();
  for (int i = 0; i < options.layers; ++i) {
    const std::string name = fmt::format("blocks.{}.", i);
    layers_.push_back({.attention_norm = make.layernorm(name + "attention_norm", width),
                       .query_key_value = make.linear(name + "query_key_value", 3 * own, width),
                       .output = make.linear(name + "output", width, own),
                       .feed_forward_norm = make.layernorm(name + "feed_forward_norm", width),
                       .expand = make.linear(name + "expand", wide, width),
                       .contract = make.linear(name + "contract", width, wide)});
  }
  divide_parameters(device, options_, parameters());
  // On a device that keeps only the time, these would cost more than everything else.
  if (!device.holds_values()) return;
  CommandQueue& queue = device.command_queue(0);
  autograd::write_values(queue, mask_, causal_mask(options.sequence, 1, 0));
  if (options.fixed_positions) {
    autograd::write_values(queue, position_table_.value, sinusoids(options.sequence, width));
  }
}

std::vector<Parameter*> NanoGpt::Layer::all() {
  return {&attention_norm.gamma,    &attention_norm.beta,
          &query_key_value.weight,  &query_key_value.bias,
          &output.weight,           &output.bias,
          &feed_forward_norm.gamma, &feed_forward_norm.beta,
          &expand.weight,           &expand.bias,
          &contract.weight,         &contract.bias};
}

std::vector<Parameter*> NanoGpt::parameters() {
  std::vector<Parameter*> all{&token_table_};
  if (!options_.fixed_positions) all.push_back(&position_table_);
  for (Layer& layer : layers_) {
    const std::vector<Parameter*> own = layer.all();
    all.insert(all.end(), own.begin(), own.end());
  }
  all.insert(all.end(), {&last_norm_.gamma, &last_norm_.beta});
  if (head_) all.push_back(&*head_);
  return all;
}

Value NanoGpt::layernorm(Tape& tape, Value x, LayernormParameters& scale) const {
  return options_.composite_layernorm
             ? autograd::composed_layernorm(tape, x, scale.on(tape), autograd::kLayernormEpsilon)
             : autograd::fused_layernorm(tape, x, scale.on(tape), autograd::kLayernormEpsilon);
}

Value NanoGpt::attention(Tape& tape, Value qkv) const {
  const Value q = autograd::split_heads(tape, qkv, options_.heads / options_.shards());
  const Value k = q.next(1);
  const Value v = q.next(2);
  return autograd::join_heads(
      tape, options_.fused_attention
                ? autograd::fused_attention(tape, q, k, v)
                : autograd::scaled_attention(tape, q, k, v, tape.constant(mask_)));
}

Value NanoGpt::row_parallel(Tape& tape, Value x, LinearParameters& layer) const {
  if (options_.shards() == 1) return autograd::fused_linear(tape, x, layer.on(tape));
  // The bias belongs to the sum, not to each device's summand.
  const Value part = autograd::project(tape, x, tape.parameter(layer.weight));
  const Shape shape = tape.spec(part).shape;
  const Value rows =
      autograd::as_shape(tape, part, {shape.batch() * shape.rows(), shape.columns()});
  const Value sum = autograd::summed_output(tape, rows, options_.group);
  return autograd::as_shape(tape, autograd::add(tape, sum, tape.parameter(layer.bias)), shape);
}

Value NanoGpt::block(Tape& tape, Value x, int index) {
  Layer& layer = layers_[static_cast<std::size_t>(index)];
  open_part(tape, options_, layer.all());
  const float dropped = options_.dropout;
  const Value normalized = layernorm(tape, x, layer.attention_norm);
  const Value attended = attention(
      tape, autograd::fused_linear(tape, autograd::shared_input(tape, normalized, options_.group),
                                   layer.query_key_value.on(tape)));
  const Value mixed = row_parallel(tape, attended, layer.output);
  x = autograd::add(tape, x, autograd::dropout(tape, mixed, dropped));
  const Value narrow =
      autograd::shared_input(tape, layernorm(tape, x, layer.feed_forward_norm), options_.group);
  const Value hidden = autograd::fused_linear(tape, narrow, layer.expand.on(tape));
  const Value output = row_parallel(
      tape, autograd::gelu(tape, hidden, options_.fused_gelu_backward), layer.contract);
  return close_part(tape, options_,
                    autograd::add(tape, x, autograd::dropout(tape, output, dropped)));
}

Value NanoGpt::logits(Tape& tape, const ops::Tensor& tokens) {
  std::vector<Parameter*> outer{&token_table_, &last_norm_.gamma, &last_norm_.beta};
  if (!options_.fixed_positions) outer.push_back(&position_table_);
  if (head_) outer.push_back(&*head_);
  open_part(tape, options_, outer);
  const Value table = tape.parameter(token_table_);
  const Value rows = autograd::embedding(tape, tape.constant(tokens), table);
  Value x = autograd::as_shape(tape, rows, {options_.batch, 1, options_.sequence, options_.width});
  const Value positions = options_.fixed_positions ? tape.constant(position_table_.value)
                                                   : tape.parameter(position_table_);
  x = autograd::add_positions(tape, x, positions);
  x = autograd::dropout(tape, x, options_.dropout);
  for (int i = 0; i < options_.layers; ++i) {
    x = options_.memory_efficient ? autograd::recomputed(tape, x, *this, &NanoGpt::block, i)
                                  : block(tape, x, i);
  }
  x = autograd::shared_input(tape, layernorm(tape, x, last_norm_), options_.group);
  const Value own = autograd::project(tape, x, head_ ? tape.parameter(*head_) : table);
  return autograd::gathered_columns(tape, close_part(tape, options_, own), options_.group);
}

Value NanoGpt::loss(Tape& tape, const ops::Tensor& tokens, const ops::Tensor& targets) {
  return autograd::mean_cross_entropy(
      tape, logits(tape, tokens), tape.constant(targets),
      options_.scaled_slopes ? autograd::SlopeForm::multiplied : autograd::SlopeForm::kernel);
}

std::unique_ptr<LanguageModel> NanoGpt::of_one_sequence(Device& device) const {
  ModelOptions options = options_;
  options.batch = 1;
  options.dropout = 0;
  return std::make_unique<NanoGpt>(device, options);
}

}  // namespace howard::models
