// SPDX-License-Identifier: Apache-2.0
#include "engines/models/qwen3.h"

#include <fmt/format.h>

#include <string>
#include <utility>

#include "base/error.h"
#include "engines/autograd/functions/attention/attention.h"
#include "engines/autograd/functions/attention/grouped_attention.h"
#include "engines/autograd/functions/attention/model_parts.h"
#include "engines/autograd/functions/data_movement/embedding.h"
#include "engines/autograd/functions/elementwise/activation.h"
#include "engines/autograd/functions/elementwise/arithmetic.h"
#include "engines/autograd/functions/matmul/linear.h"
#include "engines/autograd/functions/recomputation.h"
#include "engines/autograd/functions/rows/loss.h"
#include "engines/autograd/host_values.h"
#include "engines/models/layers.h"
#include "engines/models/llama.h"

namespace howard::models {
namespace {

using autograd::Parameter;
using autograd::Tape;
using autograd::Value;

/// Fills in the width of the feed-forward part. Throws Error as the model does.
ModelOptions qwen3_sizes(ModelOptions options) {
  const auto require = [](bool holds, std::string value, std::string accepted) {
    if (holds) return;
    throw Error(
        {.attempted = "make a qwen3", .value = std::move(value), .accepted = std::move(accepted)});
  };
  require(options.heads >= 1 && options.groups >= 1 && options.heads % options.groups == 0,
          fmt::format("{} groups of {} heads", options.groups, options.heads),
          "a number of groups that divides the heads");
  require(options.head_columns() >= 2 && options.head_columns() % 2 == 0,
          fmt::format("heads of {} columns", options.head_columns()), "an even number");
  require(options.dropout == 0, fmt::format("a dropout of {}", options.dropout), "0");
  require(options.shards() == 1 && !options.sequence_parallel,
          fmt::format("{} devices for its layers", options.shards()),
          "one: devices share a qwen3 by its batch");
  require(options.has_input() && options.has_output(), "a part of the blocks", "all of them");
  options.feed_forward = feed_forward_of(options);
  return options;
}

Parameter qwen3_matrix(Device& device, const ModelOptions& options, const std::string& name,
                       std::int64_t rows, std::int64_t columns) {
  return ParameterMaker::of(device, options).matrix("qwen3/" + name, rows, columns);
}

Value norm_of(Tape& tape, Value x, Parameter& gamma) {
  return autograd::scaled_rms_norm(tape, x, tape.parameter(gamma), kQwenEpsilon);
}

}  // namespace

Qwen3::Qwen3(Device& device, const ModelOptions& given)
    : options_(qwen3_sizes(given)),
      token_table_(
          qwen3_matrix(device, options_, "tok_emb/weight", options_.vocabulary, options_.width)),
      last_norm_(qwen3_matrix(device, options_, "ln_fc/weight", 1, options_.width)),
      mask_(device, {.shape = {options_.sequence, options_.sequence}, .dtype = options_.compute}),
      angles_(device, options_.sequence, options_.head_columns(), options_.compute),
      tokens_(device, {.shape = {options_.batch, options_.sequence},
                       .dtype = DataType::uint32,
                       .layout = Layout::row_major}),
      targets_(device, tokens_.spec()) {
  const std::int64_t width = options_.width;
  const std::int64_t head = options_.head_columns();
  const std::int64_t keys = options_.groups * head;
  const std::int64_t wide = options_.feed_forward;
  for (int i = 0; i < options_.layers; ++i) {
    const auto make = [&](const char* name, std::int64_t rows, std::int64_t columns) {
      return qwen3_matrix(device, options_, fmt::format("blocks/{}/{}/weight", i, name), rows,
                          columns);
    };
    layers_.push_back({.input_norm = make("input_layernorm", 1, width),
                       .query = make("self_attn/q_proj", options_.heads * head, width),
                       .key = make("self_attn/k_proj", keys, width),
                       .value = make("self_attn/v_proj", keys, width),
                       .output = make("self_attn/o_proj", width, options_.heads * head),
                       .query_norm = make("self_attn/q_norm", 1, head),
                       .key_norm = make("self_attn/k_norm", 1, head),
                       .feed_forward_norm = make("post_attention_layernorm", 1, width),
                       .gate = make("mlp/gate_proj", wide, width),
                       .up = make("mlp/up_proj", wide, width),
                       .down = make("mlp/down_proj", width, wide)});
  }
  if (!options_.tied) {
    head_ = qwen3_matrix(device, options_, "fc/weight", options_.vocabulary, width);
  }
  adapters_.emplace(device, options_, parameters());
  divide_parameters(device, options_, parameters());
  // On a device that keeps only the time, these would cost more than everything else.
  if (device.holds_values()) write_constants(device.command_queue(0));
}

void Qwen3::write_constants(CommandQueue& queue) {
  autograd::write_values(queue, mask_, causal_mask(options_.sequence, 1, 0));
  angles_.write(queue, double{options_.theta}, {});
}

std::vector<Parameter*> Qwen3::Layer::all() {
  return {&input_norm,        &query, &key, &value, &output, &query_norm, &key_norm,
          &feed_forward_norm, &gate,  &up,  &down};
}

std::vector<Parameter*> Qwen3::parameters() {
  std::vector<Parameter*> all{&token_table_};
  for (Layer& layer : layers_) {
    const std::vector<Parameter*> own = layer.all();
    all.insert(all.end(), own.begin(), own.end());
  }
  all.push_back(&last_norm_);
  if (head_) all.push_back(&*head_);
  if (!adapters_) return all;
  const std::vector<Parameter*> added = adapters_->all();
  all.insert(all.end(), added.begin(), added.end());
  return all;
}

Value Qwen3::attention(Tape& tape, Value x, Layer& layer) {
  const Value query = adapters_->product(tape, x, layer.query);
  const Value key = adapters_->product(tape, x, layer.key);
  const Value joined = autograd::side_by_side(tape, key, adapters_->product(tape, x, layer.value));
  const Value heads = autograd::grouped_heads(tape, query, joined, options_.heads, options_.groups);
  const autograd::RotaryTables tables = angles_.on(tape);
  const auto turned = [&](Value of, Parameter& gamma) {
    return autograd::rotary_embedding(tape, norm_of(tape, of, gamma), tables, RotaryStyle::pairs);
  };
  const Value queries = turned(heads, layer.query_norm);
  const Value keys = turned(heads.next(1), layer.key_norm);
  const Value values = heads.next(2);
  const Value attended =
      options_.fused_attention
          ? autograd::fused_attention(tape, queries, keys, values)
          : autograd::grouped_attention(tape, {.q = queries, .k = keys, .v = values},
                                        tape.constant(mask_));
  return adapters_->product(tape, autograd::join_heads(tape, attended), layer.output);
}

Value Qwen3::block(Tape& tape, Value x, int index) {
  Layer& layer = layers_[static_cast<std::size_t>(index)];
  open_part(tape, options_, layer.all());
  x = autograd::add(tape, x, attention(tape, norm_of(tape, x, layer.input_norm), layer));
  const Value hidden = norm_of(tape, x, layer.feed_forward_norm);
  const Value gate = adapters_->product(tape, hidden, layer.gate);
  const Value open = options_.joins_swiglu() ? gate : autograd::silu(tape, gate);
  const Value up = adapters_->product(tape, hidden, layer.up);
  const Value joined = options_.joins_swiglu() ? autograd::gated(tape, gate, up)
                                               : autograd::multiply(tape, open, up);
  const Value output = adapters_->product(tape, joined, layer.down);
  return close_part(tape, options_, autograd::add(tape, x, output));
}

Value Qwen3::logits(Tape& tape, const ops::Tensor& tokens) {
  std::vector<Parameter*> outer{&token_table_, &last_norm_};
  if (head_) outer.push_back(&*head_);
  open_part(tape, options_, outer);
  const Value table = tape.parameter(token_table_);
  const Value rows = autograd::embedding(tape, tape.constant(tokens), table);
  Value x = autograd::as_shape(tape, rows, {options_.batch, 1, options_.sequence, options_.width});
  // A block that runs again is reached by the gradient of what goes into it.
  if (options_.lora.rank > 0 && options_.memory_efficient) x = tape.leaf(tape.tensor(x));
  for (int i = 0; i < options_.layers; ++i) {
    x = options_.memory_efficient ? autograd::recomputed(tape, x, *this, &Qwen3::block, i)
                                  : block(tape, x, i);
  }
  x = norm_of(tape, x, last_norm_);
  return close_part(
      tape, options_,
      head_ ? adapters_->product(tape, x, *head_) : autograd::project(tape, x, table));
}

Value Qwen3::loss(Tape& tape, const ops::Tensor& tokens, const ops::Tensor& targets) {
  return autograd::mean_cross_entropy(
      tape, logits(tape, tokens), tape.constant(targets),
      options_.scaled_slopes ? autograd::SlopeForm::multiplied : autograd::SlopeForm::kernel);
}

std::unique_ptr<LanguageModel> Qwen3::of_one_sequence(Device& device) const {
  ModelOptions options = options_;
  options.batch = 1;
  return std::make_unique<Qwen3>(device, options);
}

}  // namespace howard::models
