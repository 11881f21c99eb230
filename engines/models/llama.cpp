// SPDX-License-Identifier: Apache-2.0
#include "engines/models/llama.h"

#include <fmt/format.h>

#include <utility>

#include "base/error.h"
#include "engines/autograd/functions/attention/attention.h"
#include "engines/autograd/functions/attention/grouped_attention.h"
#include "engines/autograd/functions/attention/model_parts.h"
#include "engines/autograd/functions/data_movement/embedding.h"
#include "engines/autograd/functions/elementwise/activation.h"
#include "engines/autograd/functions/elementwise/arithmetic.h"
#include "engines/autograd/functions/matmul/linear.h"
#include "engines/autograd/functions/matmul/swiglu.h"
#include "engines/autograd/functions/recomputation.h"
#include "engines/autograd/functions/rows/loss.h"
#include "engines/autograd/host_values.h"

namespace howard::models {
namespace {

std::int64_t head_width(const ModelOptions& options) { return options.width / options.heads; }

// These are the widths of one share.
std::int64_t query_width(const ModelOptions& options) { return options.width / options.shards(); }
std::int64_t key_value_width(const ModelOptions& options) {
  return 2 * options.groups / options.shards() * head_width(options);
}
std::int64_t wide_width(const ModelOptions& options) {
  return options.feed_forward / options.shards();
}
std::int64_t table_width(const ModelOptions& options) {
  return options.divides_table() ? options.width / options.shards() : options.width;
}

/// Throws Error unless all shares are equal.
void require_shards(const ModelOptions& options) {
  const auto require = [&](std::int64_t size, const char* what) {
    if (size % options.shards() == 0) return;
    throw Error({.attempted = "divide a llama among devices",
                 .value = fmt::format("{} {} among {}", size, what, options.shards()),
                 .accepted = "devices that divide heads, groups, feed-forward columns and "
                             "vocabulary"});
  };
  require(options.heads, "heads");
  require(options.groups, "groups");
  require(options.feed_forward, "columns of the feed-forward part");
  require(options.vocabulary, "rows of the vocabulary");
  if (options.divides_rows() && options.sequence % (kTileSide * options.shards()) != 0) {
    throw Error({.attempted = "divide the rows of a llama among devices",
                 .value = fmt::format("sequences of {} tokens among {}", options.sequence,
                                      options.shards()),
                 .accepted = fmt::format("a multiple of {}", kTileSide * options.shards())});
  }
  if (options.divides_parameters() && !(options.has_input() && options.has_output())) {
    throw Error({.attempted = "divide the parameters of a llama among devices",
                 .value = "it is a stage of a pipeline",
                 .accepted = "the whole model"});
  }
  if (options.shards() == 1 || !options.tied) return;
  throw Error({.attempted = "divide a llama among devices",
               .value = "its head is the token table, which is on each of them",
               .accepted = "a head of its own",
               .hint = "weight_tying: disabled"});
}

/// Throws Error unless a stage has blocks of the model.
void require_blocks(const ModelOptions& options) {
  const bool is_part = !options.has_input() || !options.has_output();
  if (options.first_block >= 0 && options.first_block < options.end_block &&
      options.end_block <= options.layers && !(is_part && options.tied)) {
    return;
  }
  throw Error(
      {.attempted = "make a stage of a llama",
       .value =
           fmt::format("blocks {} up to {} of {}{}", options.first_block, options.end_block,
                       options.layers, options.tied ? " with a head that is the token table" : ""),
       .accepted = "at least one block of the model for each stage, and a head of its own"});
}

/// Fills in the width of the feed-forward part and the last block. Throws Error as the model does.
ModelOptions llama_sizes(ModelOptions options) {
  require_heads("llama", options.heads, options.width);
  const auto refuse = [](std::string value, std::string accepted) {
    throw Error(
        {.attempted = "make a llama", .value = std::move(value), .accepted = std::move(accepted)});
  };
  if (options.groups < 1 || options.heads % options.groups != 0) {
    refuse(fmt::format("{} groups of {} heads", options.groups, options.heads),
           "a number of groups that divides the heads");
  }
  if (head_width(options) % 2 != 0) {
    refuse(fmt::format("heads of {} columns", head_width(options)), "an even number");
  }
  options.feed_forward = feed_forward_of(options);
  if (options.end_block == 0) options.end_block = options.layers;
  require_blocks(options);
  require_shards(options);
  if (options.lora.rank > 0 && options.fused_swiglu) {
    refuse("adapters beside SwiGLU in one program", "SwiGLU of three products");
  }
  return options;
}

autograd::Parameter llama_matrix(Device& device, const ModelOptions& options,
                                 const std::string& name, std::int64_t rows, std::int64_t columns) {
  return ParameterMaker::of(device, options).matrix("llama/" + name, rows, columns);
}

/// Returns x, all rows of which every device has, for products with a device's part of a weight.
autograd::Value shared_rows(autograd::Tape& tape, autograd::Value x, const ModelOptions& options) {
  // What gathers the rows sums their gradients.
  return options.divides_rows() ? x : autograd::shared_input(tape, x, options.group);
}

/// Returns all rows of what follows a norm.
autograd::Value all_rows(autograd::Tape& tape, autograd::Value x, const ModelOptions& options) {
  return options.divides_rows() ? autograd::gathered_rows(tape, x, *options.group) : x;
}

/// Returns this device's rows of the sum of the devices' parts.
autograd::Value summed_parts(autograd::Tape& tape, autograd::Value part,
                             const ModelOptions& options) {
  return options.divides_rows() ? autograd::summed_rows(tape, part, *options.group)
                                : autograd::summed_output(tape, part, options.group);
}

/// Each device has the gradient of gamma of its rows, and sums it over all.
autograd::Value norm_of(autograd::Tape& tape, autograd::Value x, autograd::Parameter& gamma,
                        const ModelOptions& options) {
  autograd::Value scale = tape.parameter(gamma);
  if (options.divides_rows()) scale = autograd::shared_input(tape, scale, options.group);
  return options.composite_rms_norm ? autograd::composed_rms_norm(tape, x, scale, kRmsEpsilon)
                                    : autograd::rms_norm(tape, x, scale, kRmsEpsilon);
}

}  // namespace

using autograd::Parameter;
using autograd::Tape;
using autograd::Value;

std::int64_t feed_forward_of(std::int64_t width) {
  constexpr std::int64_t kMultiple = 256;
  return ceil_div(8 * width / 3, kMultiple) * kMultiple;
}

std::int64_t feed_forward_of(const ModelOptions& options) {
  return options.feed_forward > 0 ? options.feed_forward : feed_forward_of(options.width);
}

std::int64_t parameter_count(const ModelOptions& given) {
  const ModelOptions options = llama_sizes(given);
  const std::int64_t width = options.width;
  const std::int64_t block = 2 * width * query_width(options) + width * key_value_width(options) +
                             3 * width * wide_width(options) + 2 * width;
  const std::int64_t head = options.tied ? 0 : options.vocabulary / options.shards() * width;
  return options.layers * block + width + options.vocabulary * table_width(options) + head;
}

Llama::Llama(Device& device, const ModelOptions& given)
    : options_(llama_sizes(given)),
      mask_(device, {.shape = {options_.sequence, options_.sequence}, .dtype = options_.compute}),
      angles_(device, options_.sequence, head_width(options_), options_.compute),
      tokens_(device, {.shape = {options_.batch, options_.sequence},
                       .dtype = DataType::uint32,
                       .layout = Layout::row_major}),
      targets_(device, tokens_.spec()) {
  const std::int64_t width = options_.width;
  const std::int64_t wide = wide_width(options_);
  const std::int64_t queries = query_width(options_);
  const auto make_matrix = [&](const char* name, std::int64_t rows) {
    return llama_matrix(device, options_, name, rows, width);
  };
  if (options_.has_input()) {
    token_table_ = llama_matrix(device, options_, "tok_emb/weight", options_.vocabulary,
                                table_width(options_));
  }
  if (options_.has_output()) {
    last_norm_ = make_matrix("ln_fc/gamma", 1);
    if (!options_.tied) {
      head_ = make_matrix("fc/weight", options_.vocabulary / options_.shards());
    }
    if (options_.sharded_loss && options_.shards() > 1) {
      vocabulary_share_ = autograd::vocabulary_share(device, options_.vocabulary, *options_.group);
    }
  }
  for (int i = options_.first_block; i < options_.end_block; ++i) {
    const auto make = [&](const char* name, std::int64_t rows, std::int64_t columns) {
      return llama_matrix(device, options_, fmt::format("llama_block_{}/{}", i, name), rows,
                          columns);
    };
    layers_.push_back(
        {.attention_norm = make("attention_norm/gamma", 1, width),
         .query = make("attention/q_linear/weight", queries, width),
         .key_value = make("attention/kv_linear/weight", key_value_width(options_), width),
         .output = make("attention/out_linear/weight", width, queries),
         .feed_forward_norm = make("mlp_norm/gamma", 1, width),
         .w1 = make("mlp/w1/weight", wide, width),
         .w2 = make("mlp/w2/weight", width, wide),
         .w3 = make("mlp/w3/weight", wide, width)});
  }
  adapters_.emplace(device, options_, parameters());
  divide_parameters(device, options_, parameters());
  // On a device that keeps only the time, these would cost more than everything else.
  if (device.holds_values()) write_constants(device.command_queue(0));
}

void Llama::write_constants(CommandQueue& queue) {
  autograd::write_values(queue, mask_, causal_mask(options_.sequence, 1, 0));
  angles_.write(queue, double{options_.theta}, options_.scaling);
}

std::vector<Parameter*> Llama::parameters() {
  std::vector<Parameter*> all;
  if (token_table_) all.push_back(&*token_table_);
  for (Layer& layer : layers_) {
    const std::vector<Parameter*> own = layer.all();
    all.insert(all.end(), own.begin(), own.end());
  }
  if (last_norm_) all.push_back(&*last_norm_);
  if (head_) all.push_back(&*head_);
  if (!adapters_) return all;
  const std::vector<Parameter*> added = adapters_->all();
  all.insert(all.end(), added.begin(), added.end());
  return all;
}

std::vector<Parameter*> Llama::outer_parameters() {
  std::vector<Parameter*> outer;
  for (auto* const parameter : {&token_table_, &last_norm_, &head_}) {
    if (*parameter) outer.push_back(&**parameter);
  }
  return outer;
}

/// Computes a column-parallel layer: returns this device's columns of the product of x.
Value Llama::columns_of(Tape& tape, Value x, Parameter& weight) {
  return adapters_->product(tape, shared_rows(tape, x, options_), weight);
}

/// Computes a row-parallel layer.
Value Llama::summed_product(Tape& tape, Value x, Parameter& weight) {
  return summed_parts(tape, adapters_->product(tape, x, weight), options_);
}

Value Llama::attention(Tape& tape, Value x, Layer& layer) {
  x = all_rows(tape, x, options_);
  const Value query = columns_of(tape, x, layer.query);
  const Value key_value = columns_of(tape, x, layer.key_value);
  const Value heads =
      autograd::grouped_heads(tape, query, key_value, options_.heads / options_.shards(),
                              options_.groups / options_.shards());
  const autograd::RotaryTables tables = angles_.on(tape);
  const Value turned = autograd::rotary_embedding(tape, heads, tables, RotaryStyle::pairs);
  const Value keys = autograd::rotary_embedding(tape, heads.next(1), tables, RotaryStyle::pairs);
  const Value values = heads.next(2);
  const Value attended =
      options_.fused_attention
          ? autograd::fused_attention(tape, turned, keys, values)
          : autograd::grouped_attention(tape, {.q = turned, .k = keys, .v = values},
                                        tape.constant(mask_));
  return summed_product(tape, autograd::join_heads(tape, attended), layer.output);
}

Value Llama::feed_forward(Tape& tape, Value x, Layer& layer) {
  x = all_rows(tape, x, options_);
  if (options_.fused_swiglu) {
    const autograd::SwigluValues weights{.gate = tape.parameter(layer.w1),
                                         .down = tape.parameter(layer.w2),
                                         .up = tape.parameter(layer.w3)};
    return summed_parts(tape, autograd::fused_swiglu(tape, shared_rows(tape, x, options_), weights),
                        options_);
  }
  const Value gate = columns_of(tape, x, layer.w1);
  if (options_.joins_swiglu()) {
    const Value hidden = autograd::gated(tape, gate, columns_of(tape, x, layer.w3));
    return summed_product(tape, hidden, layer.w2);
  }
  const Value open = autograd::silu(tape, gate);
  const Value up = columns_of(tape, x, layer.w3);
  return summed_product(tape, autograd::multiply(tape, open, up), layer.w2);
}

Value Llama::block(Tape& tape, Value x, int index) {
  Layer& layer = layers_[static_cast<std::size_t>(index - options_.first_block)];
  open_part(tape, options_, layer.all());
  const Value normalized = norm_of(tape, x, layer.attention_norm, options_);
  const Value attended = attention(tape, normalized, layer);
  x = autograd::add(tape, x, autograd::dropout(tape, attended, options_.dropout));
  const Value hidden = norm_of(tape, x, layer.feed_forward_norm, options_);
  const Value output = feed_forward(tape, hidden, layer);
  return close_part(tape, options_,
                    autograd::add(tape, x, autograd::dropout(tape, output, options_.dropout)));
}

Value Llama::embedded(Tape& tape, const ops::Tensor& tokens) {
  open_part(tape, options_, outer_parameters());
  const Value rows =
      autograd::embedding(tape, tape.constant(tokens), tape.parameter(*token_table_));
  Value x =
      autograd::as_shape(tape, rows, {options_.batch, 1, options_.sequence, table_width(options_)});
  if (options_.divides_table()) x = autograd::gathered_columns(tape, x, options_.group);
  // A block that runs again is reached by the gradient of what goes into it.
  if (options_.lora.rank > 0 && options_.memory_efficient) x = tape.leaf(tape.tensor(x));
  return options_.divides_rows() ? autograd::own_rows(tape, x, *options_.group) : x;
}

Value Llama::blocks(Tape& tape, Value x) {
  for (int i = options_.first_block; i < options_.end_block; ++i) {
    x = options_.memory_efficient ? autograd::recomputed(tape, x, *this, &Llama::block, i)
                                  : block(tape, x, i);
  }
  return x;
}

Value Llama::own_logits(Tape& tape, Value x) {
  x = all_rows(tape, norm_of(tape, x, *last_norm_, options_), options_);
  return close_part(tape, options_, columns_of(tape, x, head_ ? *head_ : *token_table_));
}

Value Llama::logits_of(Tape& tape, Value x) {
  return autograd::gathered_columns(tape, own_logits(tape, x), options_.group);
}

Value Llama::logits(Tape& tape, const ops::Tensor& tokens) {
  return logits_of(tape, blocks(tape, embedded(tape, tokens)));
}

Value Llama::loss_of(Tape& tape, Value x, const ops::Tensor& targets) {
  const Value own = own_logits(tape, x);
  const Value known = tape.constant(targets);
  if (vocabulary_share_) {
    return autograd::sharded_cross_entropy(tape, own, known, *vocabulary_share_, *options_.group);
  }
  return autograd::mean_cross_entropy(
      tape, autograd::gathered_columns(tape, own, options_.group), known,
      options_.scaled_slopes ? autograd::SlopeForm::multiplied : autograd::SlopeForm::kernel);
}

Value Llama::loss(Tape& tape, const ops::Tensor& tokens, const ops::Tensor& targets) {
  return loss_of(tape, blocks(tape, embedded(tape, tokens)), targets);
}

std::unique_ptr<LanguageModel> Llama::of_one_sequence(Device& device) const {
  ModelOptions options = options_;
  options.batch = 1;
  options.dropout = 0;
  return std::make_unique<Llama>(device, options);
}

}  // namespace howard::models
