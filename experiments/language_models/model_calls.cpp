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

void ModelCalls::gather(std::int64_t rows) {
  if (!serving_.is_divided() || model_.has_experts()) return;
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
  if (!model_.has_experts()) return;
  add("all_gather", AllGatherAttributes{.dimension = 3, .use = link_use(serving_)},
      {part, group_handle()}, {all});
}

/// Chooses the experts of each token and weighs them.
void ModelCalls::route(std::int64_t rows) {
  const TensorSpec logits = interleaved(rows, model_.experts);
  const TensorSpec chosen = interleaved(rows, model_.experts_used);
  TensorSpec places = chosen;
  places.dtype = DataType::uint32;
  add("router", MatmulAttributes{},
      {interleaved(rows, model_.hidden), interleaved(model_.hidden, model_.experts)}, {logits});
  add("router", EltwiseAttributes{.function = Eltwise::add},
      {logits, interleaved(1, model_.experts)}, {logits});
  add("router", TopkAttributes{.k = model_.experts_used}, {logits}, {chosen, places});
  add("router", SoftmaxAttributes{}, {chosen}, {chosen});
}

void ModelCalls::experts(std::int64_t rows, std::int64_t used, const LayerFormats& formats) {
  const std::int64_t blocks = ceil_div(rows, kTileSide);
  const std::int64_t wide = serving_.wide(), hidden = model_.hidden;
  const auto of_all = [&](std::int64_t columns) {
    return TensorSpec{.shape = {blocks, model_.experts, kTileSide, columns}};
  };
  const auto bias = [&](std::int64_t columns) {
    return TensorSpec{.shape = {1, model_.experts, 1, columns}};
  };
  const auto eltwise = [&](EltwiseAttributes attributes, const SpecList& inputs) {
    add("experts", attributes, inputs, {inputs.front()});
  };
  const auto product = [&](std::string_view part, std::int64_t k, std::int64_t n,
                           const WeightFormat& format, CoreGrid cores, std::int64_t step) {
    const std::int64_t products = blocks * used;
    const std::int64_t columns = ceil_div(ceil_div(n, kTileSide), cores.cores());
    while (ceil_div(k, kTileSide) % step != 0) --step;
    add(part,
        MatmulAttributes{.compute = format.compute,
                         .config = MatmulConfig{.kind = MatmulKind::multicast_1d_in0,
                                                .grid = cores,
                                                .per_core_m = 1,
                                                .per_core_n = columns,
                                                .in0_block_w = step,
                                                .out_block_h = 1,
                                                .out_block_w = columns,
                                                .fuse_batch = false}},
        {TensorSpec{.shape = {1, products, kTileSide, k}},
         TensorSpec{.shape = {1, products, k, n}, .dtype = format.dtype}},
        {TensorSpec{.shape = {1, products, kTileSide, n}}});
  };
  route(rows);
  // The demo's grids and blocks of K: 3x4 cores and 30 tiles, 5x6 and 12.
  product("w1", hidden, wide, formats.gate_up, {3, 4}, 30);
  eltwise({.function = Eltwise::add}, {of_all(wide), bias(wide)});
  product("w3", hidden, wide, formats.gate_up, {3, 4}, 30);
  eltwise({.function = Eltwise::add}, {of_all(wide), bias(wide)});
  // (min(gate, 7) sigmoid(1.702 gate)) (clamp(up, -7, 7) + 1), each step an op.
  eltwise({.function = Eltwise::clamp}, {of_all(wide)});
  eltwise({.function = Eltwise::clamp}, {of_all(wide)});
  eltwise({.function = Eltwise::multiply, .scalar = 1.702F}, {of_all(wide)});
  eltwise({.function = Eltwise::sigmoid}, {of_all(wide)});
  eltwise({.function = Eltwise::multiply}, {of_all(wide), of_all(wide)});
  eltwise({.function = Eltwise::add, .scalar = 1.0F}, {of_all(wide)});
  eltwise({.function = Eltwise::multiply}, {of_all(wide), of_all(wide)});
  product("w2", wide, hidden, formats.down, {5, 6}, 12);
  eltwise({.function = Eltwise::add}, {of_all(hidden), bias(hidden)});
  eltwise({.function = Eltwise::multiply},
          {of_all(hidden), TensorSpec{.shape = {blocks, model_.experts, kTileSide, 1}}});
  add("experts", ReduceAttributes{.dimension = Dimension::batch}, {of_all(hidden)},
      {TensorSpec{.shape = {blocks, 1, kTileSide, hidden}}});
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
  // The head of a mixture of experts is one plain product.
  if (serving.model.has_experts()) return {serving.column_share(serving.model.vocabulary)};
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
