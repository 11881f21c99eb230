// SPDX-License-Identifier: Apache-2.0
#include "engines/models/deepseek.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "base/error.h"
#include "engines/autograd/functions/data_movement/embedding.h"
#include "engines/autograd/functions/elementwise/arithmetic.h"
#include "engines/autograd/functions/matmul/linear.h"
#include "engines/autograd/functions/recomputation.h"
#include "engines/autograd/functions/rows/loss.h"
#include "engines/autograd/functions/rows/rms_norm.h"
#include "engines/autograd/host_values.h"
#include "engines/models/layers.h"
#include "engines/models/llama.h"

namespace howard::models {
namespace {

using autograd::Parameter;
using autograd::Tape;
using autograd::Value;

void require_of_deepseek(bool holds, std::string value, std::string accepted) {
  if (holds) return;
  throw Error(
      {.attempted = "make a deepseek", .value = std::move(value), .accepted = std::move(accepted)});
}

void require_experts(const DeepSeekOptions& own) {
  const auto& require = require_of_deepseek;
  require(own.experts >= 1 && own.groups >= 1 && own.experts % own.groups == 0,
          fmt::format("{} experts in {} groups", own.experts, own.groups),
          "a number of groups that divides the experts");
  require(own.limited >= 1 && own.limited <= own.groups,
          fmt::format("the best {} of {} groups", own.limited, own.groups), "1 up to all of them");
  require(own.chosen >= 1 && own.chosen <= own.available(),
          fmt::format("{} experts of {}", own.chosen, own.available()), "1 up to all of them");
  require(own.shared >= 1 && own.expert_width >= 1,
          fmt::format("{} shared experts of {} columns", own.shared, own.expert_width),
          "1 or more of both");
}

/// Fills in the width of the feed-forward part. Throws Error as the model does.
ModelOptions deepseek_sizes(ModelOptions options) {
  const auto& require = require_of_deepseek;
  const DeepSeekOptions& own = options.deepseek;
  require_experts(own);
  require(options.heads >= 1 && own.plain_width >= 1 && own.value_width >= 1 &&
              own.latent_rank >= 1 && own.query_rank >= 0,
          fmt::format("{} heads of {} and {} columns from rows of {} and {}", options.heads,
                      own.plain_width, own.value_width, own.query_rank, own.latent_rank),
          "1 or more of each, or a query_rank of 0");
  require(own.turned_width >= 2 && own.turned_width % 2 == 0,
          fmt::format("{} columns that are turned", own.turned_width), "an even number");
  require(options.dropout == 0, fmt::format("a dropout of {}", options.dropout), "0");
  require(options.lora.rank == 0, "adapters", "none");
  require(!options.tied, "a head that is the token table", "a head of its own");
  require(options.shards() == 1 && !options.sequence_parallel && !options.divides_parameters(),
          "layers that devices divide", "one device");
  require(options.has_input() && options.has_output(), "a part of the blocks", "all of them");
  options.feed_forward = feed_forward_of(options);
  return options;
}

Parameter deepseek_matrix(Device& device, const ModelOptions& options, const std::string& name,
                          std::int64_t rows, std::int64_t columns) {
  return ParameterMaker::of(device, options).matrix("DeepSeek/" + name, rows, columns);
}

}  // namespace

std::int64_t idle_parameters(const ModelOptions& options) {
  if (options.kind != ModelKind::deepseek) return 0;
  const DeepSeekOptions& own = options.deepseek;
  const std::int64_t layers = std::max(options.layers - own.dense_layers, 0);
  constexpr std::int64_t kMatrices = 3;
  return layers * (own.experts - own.chosen) * kMatrices * options.width * own.expert_width;
}

DeepSeek::DeepSeek(Device& device, const ModelOptions& given)
    : options_(deepseek_sizes(given)),
      token_table_(
          deepseek_matrix(device, options_, "tok_emb/weight", options_.vocabulary, options_.width)),
      last_norm_(deepseek_matrix(device, options_, "norm/gamma", 1, options_.width)),
      head_(deepseek_matrix(device, options_, "head/weight", options_.vocabulary, options_.width)),
      angles_(device, options_.sequence, options_.deepseek.turned_width, options_.compute),
      tokens_(device, {.shape = {options_.batch, options_.sequence},
                       .dtype = DataType::uint32,
                       .layout = Layout::row_major}),
      targets_(device, tokens_.spec()) {
  if (!options_.fused_attention) {
    mask_.emplace(device, TensorSpec{.shape = {options_.sequence, options_.sequence},
                                     .dtype = options_.compute});
  }
  const ParameterMaker make = ParameterMaker::of(device, options_);
  for (int i = 0; i < options_.layers; ++i) {
    const std::string name = fmt::format("DeepSeek/blocks/{}", i);
    Layer& layer = layers_.emplace_back(
        Layer{.attention_norm = make.matrix(name + "/attn_norm/gamma", 1, options_.width),
              .attention = LatentAttention(make, name + "/attn", options_),
              .feed_forward_norm = make.matrix(name + "/ffn_norm/gamma", 1, options_.width),
              .dense = {},
              .experts = {}});
    if (i < options_.deepseek.dense_layers) {
      layer.dense.emplace(make, name + "/ffn", options_.width, options_.feed_forward);
    } else {
      layer.experts.emplace(make, name + "/ffn", options_);
    }
  }
  // On a device that keeps only the time, these would cost more than everything else.
  if (device.holds_values()) write_constants(device.command_queue(0));
}

void DeepSeek::write_constants(CommandQueue& queue) {
  if (mask_) autograd::write_values(queue, *mask_, causal_mask(options_.sequence, 1, 0));
  angles_.write(queue, double{options_.theta}, {});
}

std::vector<Parameter*> DeepSeek::parameters() {
  std::vector<Parameter*> all{&token_table_};
  const auto add = [&](const std::vector<Parameter*>& own) {
    all.insert(all.end(), own.begin(), own.end());
  };
  for (Layer& layer : layers_) {
    all.push_back(&layer.attention_norm);
    add(layer.attention.all());
    all.push_back(&layer.feed_forward_norm);
    add(layer.dense ? layer.dense->all() : layer.experts->all());
  }
  all.push_back(&last_norm_);
  all.push_back(&head_);
  return all;
}

std::vector<Parameter*> DeepSeek::buffers() {
  std::vector<Parameter*> all;
  for (Layer& layer : layers_) {
    if (layer.experts) all.push_back(&layer.experts->bias());
  }
  return all;
}

Value DeepSeek::block(Tape& tape, Value x, int index) {
  Layer& layer = layers_[static_cast<std::size_t>(index)];
  const auto norm = [&](Value of, Parameter& gamma) {
    return autograd::rms_norm(tape, of, tape.parameter(gamma), kRmsEpsilon);
  };
  const autograd::RotaryTables tables = angles_.on(tape);
  const std::optional<Value> mask = mask_ ? std::optional(tape.constant(*mask_)) : std::nullopt;
  const Value normalized = norm(x, layer.attention_norm);
  x = autograd::add(tape, x, layer.attention.run(tape, normalized, options_, tables, mask));
  const Value hidden = norm(x, layer.feed_forward_norm);
  return autograd::add(tape, x,
                       layer.dense ? layer.dense->run(tape, hidden, options_)
                                   : layer.experts->run(tape, hidden, options_));
}

Value DeepSeek::logits(Tape& tape, const ops::Tensor& tokens) {
  const Value rows = autograd::embedding(tape, tape.constant(tokens), tape.parameter(token_table_));
  Value x = autograd::as_shape(tape, rows, {options_.batch, 1, options_.sequence, options_.width});
  for (int i = 0; i < options_.layers; ++i) {
    x = options_.memory_efficient ? autograd::recomputed(tape, x, *this, &DeepSeek::block, i)
                                  : block(tape, x, i);
  }
  x = autograd::rms_norm(tape, x, tape.parameter(last_norm_), kRmsEpsilon);
  return autograd::project(tape, x, tape.parameter(head_));
}

Value DeepSeek::loss(Tape& tape, const ops::Tensor& tokens, const ops::Tensor& targets) {
  return autograd::mean_cross_entropy(
      tape, logits(tape, tokens), tape.constant(targets),
      options_.scaled_slopes ? autograd::SlopeForm::multiplied : autograd::SlopeForm::kernel);
}

void DeepSeek::after_update(CommandQueue& queue) {
  for (Layer& layer : layers_) {
    if (layer.experts) layer.experts->move_bias(queue);
  }
}

std::unique_ptr<LanguageModel> DeepSeek::of_one_sequence(Device& device) const {
  ModelOptions options = options_;
  options.batch = 1;
  return std::make_unique<DeepSeek>(device, options);
}

}  // namespace howard::models
