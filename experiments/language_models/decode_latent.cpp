// SPDX-License-Identifier: Apache-2.0
#include "experiments/language_models/decode_step.h"

namespace howard::experiments {

void DecodeStep::latent_attention(const LayerRun& run) {
  const LatentSizes& latent = model_.latent;
  const std::int64_t users = serving_.batch, heads = serving_.share(model_.heads);
  const std::int64_t down = latent.query_rank + latent.cached();
  const std::int64_t mine = ceil_div(users, serving_.tensor_parallel);
  const auto multiply = [&](std::int64_t batch, std::int64_t rows, std::int64_t k, std::int64_t n) {
    add("latent", MatmulAttributes{.compute = run.formats.qkv.compute},
        {heads_of(batch, rows, k, DataType::bfloat16),
         heads_of(batch, k, n, run.formats.qkv.dtype)},
        {heads_of(batch, rows, n, DataType::bfloat16)});
  };
  norm_of_parts();
  multiply(1, kUserRows, my_hidden(), down);
  sum_of_parts(down);
  norm_rows(latent.query_rank);
  norm_rows(latent.rank);
  multiply(1, kUserRows, latent.query_rank, heads * (latent.plain + latent.rotary));
  const TensorSpec turned = heads_of(heads, kUserRows, latent.rotary, DataType::bfloat16);
  add("rotary", RotaryEmbeddingAttributes{}, {turned, angles(turned), angles(turned)}, {turned});
  multiply(heads, kUserRows, latent.plain, latent.rank);
  swap_heads(heads * users, latent.cached());
  const TensorSpec cache{.shape = {mine, 1, serving_.room, latent.cached()},
                         .dtype = run.formats.cache};
  TensorSpec row = users_of(1, latent.cached());
  row.shape = Shape{1, mine, 1, latent.cached()};
  row.sharding->grid = grid_of(mine);
  add("cache", PagedUpdateCacheAttributes{}, {row, cache}, {cache});
  const TensorSpec q{.shape = {mine, model_.heads, 1, latent.cached()}, .dtype = run.formats.cache};
  add("attention", DecodeAttentionAttributes{.seen = serving_.context + 1, .approximate = false},
      {q, cache, cache, group_handle()}, {q});
  multiply(model_.heads, kTileSide, latent.rank, latent.value);
  gather_heads(model_.heads * latent.value);
  multiply(1, kUserRows, model_.heads * latent.value, my_hidden());
  add_residual();
}

void DecodeStep::norm_of_parts() {
  norm_rows(my_hidden());
  if (!serving_.is_divided()) return;
  const TensorSpec part = interleaved(kUserRows, kTileSide);
  add("all_gather", AllGatherAttributes{.dimension = 3, .use = link_use(serving_)},
      {part, group_handle()}, {interleaved(kUserRows, kTileSide * serving_.tensor_parallel)});
}

void DecodeStep::norm_rows(std::int64_t columns) {
  const TensorSpec x = stream(columns, divisor_near(tiles(columns), 8));
  add("norm", RmsNormAttributes{}, {x, interleaved(1, columns)}, {x});
}

void DecodeStep::sum_of_parts(std::int64_t columns) {
  if (!serving_.is_divided()) return;
  const std::int64_t chips = serving_.tensor_parallel;
  add("all_gather", AllGatherAttributes{.dimension = 2, .use = link_use(serving_)},
      {interleaved(kUserRows, columns), group_handle()}, {interleaved(kUserRows * chips, columns)});
  add("latent", ReduceAttributes{.dimension = Dimension::batch},
      {TensorSpec{.shape = {1, chips, kUserRows, columns}}},
      {TensorSpec{.shape = {1, 1, kUserRows, columns}}});
}

void DecodeStep::swap_heads(std::int64_t rows, std::int64_t columns) {
  if (!serving_.is_divided()) return;
  const std::int64_t whole = kTileSide * ceil_div(rows, kTileSide);
  add("exchange", AllGatherAttributes{.dimension = 2, .use = link_use(serving_)},
      {interleaved(ceil_div(whole, serving_.tensor_parallel), columns), group_handle()},
      {interleaved(ceil_div(whole, serving_.tensor_parallel) * serving_.tensor_parallel, columns)});
}

void DecodeStep::gather_heads(std::int64_t columns) {
  if (!serving_.is_divided()) return;
  const std::int64_t mine = kTileSide;
  const std::int64_t part = ceil_div(columns, serving_.tensor_parallel);
  add("all_gather", AllGatherAttributes{.dimension = 3, .use = link_use(serving_)},
      {interleaved(mine, part), group_handle()},
      {interleaved(mine, part * serving_.tensor_parallel)});
}

}  // namespace howard::experiments
