// SPDX-License-Identifier: Apache-2.0
#include "experiments/language_models/model_calls.h"

#include <algorithm>

namespace howard::experiments {

TensorSpec interleaved(std::int64_t rows, std::int64_t columns, DataType dtype, Storage storage) {
  return {.shape = {rows, columns}, .dtype = dtype, .storage = storage};
}

TensorSpec heads_of(std::int64_t heads, std::int64_t rows, std::int64_t columns, DataType dtype) {
  return {.shape = {1, heads, rows, columns}, .dtype = dtype};
}

TensorSpec group_handle() {
  return {.shape = {1}, .dtype = DataType::uint32, .layout = Layout::row_major};
}

void ModelCalls::add(std::string_view part, const Attributes& attributes, const SpecList& inputs,
                     const SpecList& outputs) {
  calls_.push_back({part, make_program(attributes, {inputs.begin(), inputs.end()},
                                       {outputs.begin(), outputs.end()})});
}

void ModelCalls::embed(std::int64_t rows) {
  const TensorSpec token{
      .shape = {1, rows}, .dtype = DataType::uint32, .layout = Layout::row_major};
  const TensorSpec table{.shape = {model_.vocabulary, my_hidden()}, .layout = Layout::row_major};
  const TensorSpec x = interleaved(rows, my_hidden());
  add("embedding", EmbeddingAttributes{}, {token, table}, {x});
  // Gemma's tokens are multiplied by the root of hidden_size.
  if (model_.norms_results) {
    add("embedding", EltwiseAttributes{.function = Eltwise::multiply, .scalar = 1.0F}, {x}, {x});
  }
}

TensorSpec ModelCalls::weights(std::int64_t k, std::int64_t n, DataType dtype) const {
  TensorSpec spec = interleaved(k, n, dtype);
  const std::int64_t columns = ceil_div(ceil_div(n, kTileSide), banks_);
  spec.sharding = Sharding{.layout = ShardLayout::width,
                           .grid = {banks_, 1},
                           .rows = kTileSide * ceil_div(k, kTileSide),
                           .columns = kTileSide * columns};
  return spec;
}

void ModelCalls::gather(std::int64_t rows) {
  if (!serving_.is_divided() || model_.is_gpt_oss()) return;
  add("all_gather", AllGatherAttributes{.dimension = 3, .use = link_use(serving_)},
      {interleaved(rows, my_hidden()), group_handle()},
      {interleaved(rows, my_hidden() * serving_.tensor_parallel)});
}

void ModelCalls::scatter_sum(std::int64_t rows) {
  const std::int64_t mine = serving_.column_share(model_.hidden);
  const TensorSpec all = interleaved(rows, mine * serving_.tensor_parallel, DataType::bfloat8_b);
  const TensorSpec part = interleaved(rows, mine, DataType::bfloat8_b);
  add("reduce_scatter",
      ReduceScatterAttributes{.dimension = Dimension::columns, .use = link_use(serving_)},
      {all, group_handle()}, {part});
  if (!model_.is_gpt_oss()) return;
  add("all_gather", AllGatherAttributes{.dimension = 3, .use = link_use(serving_)},
      {part, group_handle()}, {all});
}

void ModelCalls::activate(const TensorSpec& gate, const TensorSpec& gated) {
  EltwiseAttributes attributes{.function = Eltwise::multiply, .on_a = {step_of(model_.gate)}};
  if (!model_.is_gated) attributes.on_b = {step_of(model_.gate)};
  add("activation", attributes, {gate, gate}, {gated});
}

void ModelCalls::cap(const TensorSpec& logits) {
  if (!model_.caps_logits) return;
  const auto step = [&](const EltwiseAttributes& one) { add("logits", one, {logits}, {logits}); };
  step({.function = Eltwise::multiply, .scalar = 1.0F});
  step({.function = Eltwise::tanh});
  step({.function = Eltwise::multiply, .scalar = 1.0F});
}

std::int64_t head_cores(const Serving& serving, CoreGrid cores) {
  constexpr int kMostSide = 8;  // The grid of tt_transformers' head, on every chip.
  const std::int64_t tiles = ceil_div(serving.model.hidden, kTileSide);
  for (int rows = std::min(cores.rows, kMostSide); rows >= 1; --rows) {
    const std::int64_t wanted = std::int64_t{rows} * std::min(cores.columns, kMostSide);
    if (tiles % wanted == 0) return wanted;
  }
  return 1;
}

std::vector<std::int64_t> head_splits(const Serving& serving, CoreGrid cores, int banks) {
  // The head of GPT-OSS is one plain product.
  if (serving.model.is_gpt_oss()) return {serving.column_share(serving.model.vocabulary)};
  // tt_transformers gives each core at most 668 columns on Wormhole, whose DRAM has 12 banks, and a
  // product 16032 on Blackhole (max_columns_per_device_lm_head).
  constexpr int kWormholeBanks = 12;
  constexpr std::int64_t kMostOnBlackhole = 16'032;
  const std::int64_t most = banks == kWormholeBanks
                                ? 668 * head_cores(serving, cores) / kTileSide * kTileSide
                                : kMostOnBlackhole;
  std::int64_t left = serving.column_share(serving.model.vocabulary);
  std::vector<std::int64_t> splits;
  for (; left > most; left -= most) splits.push_back(most);
  splits.push_back(left);
  return splits;
}

}  // namespace howard::experiments
