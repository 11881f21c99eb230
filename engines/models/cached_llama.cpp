// SPDX-License-Identifier: Apache-2.0
#include "engines/models/cached_llama.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "base/error.h"
#include "engines/autograd/functions/attention/attention_parts.h"
#include "engines/autograd/functions/attention/grouped_attention.h"
#include "engines/autograd/functions/attention/model_parts.h"
#include "engines/autograd/functions/data_movement/embedding.h"
#include "engines/autograd/functions/elementwise/arithmetic.h"
#include "engines/autograd/functions/matmul/linear.h"
#include "engines/autograd/host_values.h"
#include "engines/ops/tensor.h"

namespace howard::models {

using autograd::Calls;
using autograd::RotaryTables;
using autograd::Tape;
using autograd::Value;
using ops::Tensor;

namespace {

/// Returns the number of rows rounded up to whole tiles.
std::int64_t tiled(std::int64_t rows) { return ceil_div(rows, kTileSide) * kTileSide; }

TensorSpec indices_of(std::int64_t count, std::int64_t batch = 1) {
  return {.shape = {batch, count}, .dtype = DataType::uint32, .layout = Layout::row_major};
}

[[noreturn]] void refuse_cache(std::string value, std::string accepted, std::string hint) {
  throw Error({.attempted = "read tokens into a cache",
               .value = std::move(value),
               .accepted = std::move(accepted),
               .hint = std::move(hint)});
}

const CacheOptions& require_cache(const CacheOptions& options, const ModelOptions& model) {
  if (options.length < 1 || options.length > model.sequence) {
    refuse_cache(fmt::format("a cache of {} tokens", options.length),
                 fmt::format("1 to {}, the sequence of the model", model.sequence), "");
  }
  if (options.calls == CacheCalls::ttml && options.engine != DecodeEngine::dynamic) {
    refuse_cache("TTML's calls, which are told the place, to be made once for all tokens",
                 "the dynamic engine", "the calls of ttnn's kernels");
  }
  if (options.batch < 1 || (options.batch > 1 && options.calls != CacheCalls::ttml)) {
    refuse_cache(fmt::format("{} sequences", options.batch), "1, or more with TTML's calls", "");
  }
  if (model.shards() != 1 || !model.has_input() || !model.has_output()) {
    refuse_cache("a share or a stage of a model", "a whole one", "");
  }
  return options;
}

}  // namespace

CachedLlama::CachedLlama(Device& device, Llama& model, const CacheOptions& options)
    : device_(device),
      queue_(device.command_queue(0)),
      model_(model),
      options_(require_cache(options, model.options())),
      cosines_(device, {.shape = {tiled(options.length) + kTileSide,
                                  model.options().width / model.options().heads},
                        .dtype = model.compute()}),
      sines_(device, cosines_.spec()),
      token_(device, indices_of(1)),
      place_(device, indices_of(1)) {
  const ModelOptions& sizes = model.options();
  const TensorSpec cache{
      .shape = {options.batch, sizes.groups, tiled(options.length), sizes.width / sizes.heads},
      .dtype = model.compute()};
  for (int i = 0; i < sizes.layers; ++i) {
    blocks_.push_back({.keys = {device, cache}, .values = {device, cache}});
  }
  make_tables();
  if (!device.holds_values()) return;
  for (const Block& block : blocks_) {
    autograd::write_constant(queue_, block.keys, 0);
    autograd::write_constant(queue_, block.values, 0);
  }
}

CachedLlama::~CachedLlama() = default;

void CachedLlama::make_tables() {
  const ModelOptions& sizes = model_.options();
  const Shape& shape = cosines_.spec().shape;
  RotaryAngles angles;
  if (device_.holds_values()) {
    angles = rotary_angles(shape.rows(), shape.columns(), double{sizes.theta}, sizes.scaling);
    autograd::write_values(queue_, cosines_, angles.cosines);
    autograd::write_values(queue_, sines_, angles.sines);
  }
  if (is_ttml()) return;
  const Calls calls(device_);
  const Tensor& table = model_.token_table_->value;
  const bool same = table.spec().dtype == model_.compute();
  token_rows_ =
      calls.to_layout(same ? table : calls.cast(table, model_.compute()), Layout::row_major);
  cosine_rows_ = calls.to_layout(cosines_, Layout::row_major);
  sine_rows_ = calls.to_layout(sines_, Layout::row_major);
}

Bytes CachedLlama::cache_bytes() const {
  Bytes bytes;
  for (const Block& block : blocks_) {
    bytes += block.keys.spec().padded_bytes() + block.values.spec().padded_bytes();
  }
  return bytes;
}

void CachedLlama::require_room(std::int64_t tokens) const {
  if (tokens >= 1 && position_ + tokens <= options_.length) return;
  refuse_cache(fmt::format("{} tokens behind {}", tokens, position_),
               fmt::format("up to {} tokens in all", options_.length),
               "a longer cache, or a shorter prompt");
}

void CachedLlama::prefill(std::span<const std::uint32_t> prompt) {
  position_ = 0;
  require_room(static_cast<std::int64_t>(prompt.size()));
  write_step(prompt);
  logits_ = read(device_);
  position_ += new_;
}

void CachedLlama::write_decode(std::uint32_t token) {
  require_room(1);
  write_step({&token, 1});
}

void CachedLlama::decode(std::uint32_t token) {
  write_decode(token);
  if (options_.engine == DecodeEngine::dynamic) {
    logits_ = read(device_);
  } else {
    if (!static_) {
      static_ = std::make_unique<autograd::StaticStep>(device_, decode_function());
    }
    if (options_.engine == DecodeEngine::traced && !traced_) {
      traced_ = std::make_unique<autograd::TracedStep>(device_, *static_);
    }
    traced_ ? traced_->run() : static_->run();
    logits_ = static_->loss();
  }
  position_ += new_;
}

void CachedLlama::skip_to(std::int64_t position) {
  position_ = 0;
  require_room(position);
  position_ = position;
}

/// Writes what the host hands to a step: the tokens, their place and TTML's mask.
void CachedLlama::write_step(std::span<const std::uint32_t> tokens) {
  new_ = static_cast<std::int64_t>(tokens.size());
  if (!is_ttml() && new_ == 1 && position_ > 0) {
    tokens_ = token_;
    const auto place = static_cast<std::uint32_t>(position_);
    autograd::write_indices(queue_, place_, std::span(&place, 1));
    autograd::write_indices(queue_, token_, tokens);
    return;
  }
  const std::int64_t rows = tiled(new_);
  tokens_.emplace(device_, indices_of(rows, options_.batch));
  std::vector<std::uint32_t> padded(static_cast<std::size_t>(options_.batch * rows), 0);
  for (std::int64_t i = 0; i < options_.batch; ++i) {
    std::ranges::copy(tokens, padded.begin() + i * rows);
  }
  autograd::write_indices(queue_, *tokens_, padded);
  if (is_ttml()) write_mask(rows);
}

void CachedLlama::write_mask(std::int64_t rows) {
  const std::int64_t places = tiled(position_ + new_);
  const std::int64_t all = options_.batch * rows;
  mask_.emplace(device_,
                TensorSpec{.shape = {options_.batch, 1, rows, places}, .dtype = model_.compute()});
  std::vector<float> seen(static_cast<std::size_t>(all * places), 0);
  for (std::int64_t row = 0; row < all; ++row) {
    const std::int64_t until = std::min(position_ + row % rows + 1, places);
    std::fill_n(seen.begin() + row * places, until, 1.0F);
  }
  autograd::write_values(queue_, *mask_, seen);
}

std::vector<float> CachedLlama::logits() {
  if (!logits_) refuse_cache("nothing was read yet", "a prompt", "prefill()");
  const std::vector<float> all = autograd::read_values(queue_, *logits_);
  const Shape& shape = logits_->spec().shape;
  const auto row = all.begin() + (shape.rows() == 1 ? 0 : new_ - 1) * shape.columns();
  return {row, row + shape.columns()};
}

Tensor CachedLlama::read(Device& device) {
  Tape tape(device,
            {.calls = {.products = kTtmlProducts}, .compute = model_.compute(), .records = false});
  const RotaryTables tables = tables_of_step(tape);
  Value x = read_tokens(tape);
  for (std::size_t i = 0; i < blocks_.size(); ++i) x = block(tape, x, tables, i);
  if (!is_ttml()) x = tape.constant(last_row(tape, x));
  x = autograd::rms_norm(tape, x, tape.parameter(*model_.last_norm_), kRmsEpsilon);
  autograd::Parameter& head = model_.head_ ? *model_.head_ : *model_.token_table_;
  return tape.tensor(model_.adapters_->product(tape, x, head));
}

Value CachedLlama::read_tokens(Tape& tape) {
  const Value table =
      token_rows_ ? tape.constant(*token_rows_) : tape.parameter(*model_.token_table_);
  const Value rows = autograd::embedding(tape, tape.constant(*tokens_), table);
  const std::int64_t count = tokens_->spec().shape.columns();
  return autograd::as_shape(tape, rows, {options_.batch, 1, count, model_.options().width});
}

/// Returns the angles of the step's places: the first rows of the table, a slice of it, or rows
/// that are looked up.
RotaryTables CachedLlama::tables_of_step(Tape& tape) const {
  const Calls& calls = tape.calls();
  const auto angles = [&](const Tensor& table, const std::optional<Tensor>& rows) {
    if (decodes()) return calls.call(EmbeddingAttributes{}, {place_, *rows});
    if (position_ == 0) return table;
    const std::int64_t count = tokens_->spec().shape.columns();
    return calls.call(SliceAttributes{.begins = {0, 0, position_, 0}}, {table},
                      {{count, table.spec().shape.columns()}, table.spec().dtype});
  };
  const Value sines = tape.constant(angles(sines_, sine_rows_));
  return {tape.constant(angles(cosines_, cosine_rows_)), sines, sines};
}

Value CachedLlama::block(Tape& tape, Value x, const RotaryTables& tables, std::size_t index) {
  Llama::Layer& layer = model_.layers_[index];
  const ModelOptions& sizes = model_.options();
  const Value normalized =
      autograd::rms_norm(tape, x, tape.parameter(layer.attention_norm), kRmsEpsilon);
  const Value query = model_.adapters_->product(tape, normalized, layer.query);
  const Value key_value = model_.adapters_->product(tape, normalized, layer.key_value);
  const Value heads = autograd::grouped_heads(tape, query, key_value, sizes.heads, sizes.groups);
  const Value q = autograd::rotary_embedding(tape, heads, tables, RotaryStyle::pairs);
  const Value k = autograd::rotary_embedding(tape, heads.next(1), tables, RotaryStyle::pairs);
  const Value attended = attend(tape, q, k, heads.next(2), blocks_[index]);
  x = autograd::add(tape, x, model_.adapters_->product(tape, attended, layer.output));
  const Value hidden =
      autograd::rms_norm(tape, x, tape.parameter(layer.feed_forward_norm), kRmsEpsilon);
  return autograd::add(tape, x, model_.feed_forward(tape, hidden, layer));
}

Value CachedLlama::attend(Tape& tape, Value q, Value k, Value v, const Block& cache) const {
  keep(tape, k, cache.keys);
  keep(tape, v, cache.values);
  if (is_ttml()) {
    const Value keys = tape.constant(kept(tape, cache.keys));
    const Value values = tape.constant(kept(tape, cache.values));
    return autograd::join_heads(
        tape,
        autograd::grouped_attention(tape, {.q = q, .k = keys, .v = values}, tape.constant(*mask_)));
  }
  const Calls& calls = tape.calls();
  const Tensor& query = tape.tensor(q);
  const Tensor mixed = calls.make(query.spec());
  const float scale = autograd::attention_scale(query);
  if (decodes()) {
    calls.run(
        make_program(DecodeAttentionAttributes{.scale = scale, .compute = kTtmlProducts.compute},
                     {query, cache.keys, cache.values, place_}, {mixed}));
  } else {
    // ttnn's own chunks of 32 rows are the slowest. Larger chunks must be powers of two.
    constexpr std::int64_t kMostRows = 256;
    const auto rows = static_cast<std::uint64_t>(query.spec().shape.rows());
    const std::int64_t chunk = std::min(kMostRows, static_cast<std::int64_t>(std::bit_floor(rows)));
    const AttentionAttributes attributes{.causal = true,
                                         .scale = scale,
                                         .query_chunk = chunk,
                                         .key_chunk = chunk,
                                         .compute = kTtmlProducts.compute};
    calls.run(make_program(attributes, {query, tape.tensor(k), tape.tensor(v)}, {mixed}));
  }
  return tape.constant(calls.call(ConcatHeadsAttributes{}, {mixed}));
}

/// Writes the new rows of keys or values into their cache.
void CachedLlama::keep(Tape& tape, Value rows, const Tensor& cache) const {
  const Calls& calls = tape.calls();
  const Tensor all = tape.tensor(rows);
  if (decodes())
    return calls.run(make_program(UpdateCacheAttributes{}, {all, cache, place_}, {cache}));
  if (!is_ttml())
    return calls.run(make_program(WriteRowsAttributes{.row = position_}, {all, cache}, {cache}));
  const Shape& shape = all.spec().shape;
  const Tensor added =
      calls.call(SliceAttributes{.begins = {0, 0, 0, 0}}, {all},
                 {{options_.batch, shape.heads(), new_, shape.columns()}, all.spec().dtype});
  calls.run(make_program(WriteRowsAttributes{.row = position_}, {added, cache}, {cache}));
}

/// Returns the rows, in whole tiles, that hold what was read, new rows included.
Tensor CachedLlama::kept(Tape& tape, const Tensor& cache) const {
  const Calls& calls = tape.calls();
  const Shape& shape = cache.spec().shape;
  return calls.call(SliceAttributes{.begins = {0, 0, 0, 0}}, {cache},
                    {{options_.batch, shape.heads(), tiled(position_ + new_), shape.columns()},
                     cache.spec().dtype});
}

/// Returns the row of the last token, the only one whose logits are needed.
Tensor CachedLlama::last_row(Tape& tape, Value x) const {
  const Tensor& rows = tape.tensor(x);
  if (rows.spec().shape.rows() == 1) return rows;
  const Calls& calls = tape.calls();
  const Tensor last = calls.make({{1, 1, 1, rows.spec().shape.columns()}, rows.spec().dtype});
  calls.run(make_program(SliceAttributes{.begins = {0, 0, new_ - 1, 0}}, {rows}, {last}));
  return last;
}

}  // namespace howard::models
