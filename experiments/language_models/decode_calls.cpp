// SPDX-License-Identifier: Apache-2.0
#include "experiments/language_models/decode_step.h"

namespace howard::experiments {

WorkGroup DecodeStep::begin() {
  embed(kUserRows);
  move("embedding", interleaved(kUserRows, my_hidden()), residual());
  const TensorSpec places{
      .shape = {1, serving_.batch}, .dtype = DataType::uint32, .layout = Layout::row_major};
  for (const std::int64_t width : rotary_widths()) {
    const TensorSpec angles{.shape = {serving_.room, width}, .layout = Layout::row_major};
    const TensorSpec rows = interleaved(serving_.batch, width);
    for (int i = 0; i < 2; ++i) {  // cosines and sines
      add("rotary", EmbeddingAttributes{}, {places, angles}, {rows});
      move("rotary", TensorSpec{.shape = users_of(1, width).shape}, users_of(1, width));
    }
  }
  return take(1);
}

WorkGroup DecodeStep::layers(const LayerRun& run) {
  if (model_.is_latent()) {
    latent_attention(run);
  } else {
    attention(run);
  }
  if (!run.has_experts) {
    feed_forward(run.formats);
  } else if (model_.is_gpt_oss()) {
    experts_of_replicas(run.formats);
  } else {
    experts(run.formats);
  }
  return take(run.times);
}

WorkGroup DecodeStep::end() {
  gather(kUserRows);
  norm("last norm", wide_cores_);
  const std::int64_t cores = head_cores(serving_, cores_);
  if (cores != wide_cores_) {
    move("head", stream(model_.hidden, wide_cores_), stream(model_.hidden, cores));
  }
  SpecList logits;
  for (const std::int64_t columns : head_splits(serving_, cores_, banks_)) {
    product("head", model_.hidden, columns, kHead, cores, DataType::bfloat8_b);
    logits.push_back(logits_of(columns));
    if (model_.is_gpt_oss()) continue;
    move("logits", stream_of(columns, cores, DataType::bfloat8_b), logits.back());
  }
  finish_logits(logits);
  return take(1);
}

void DecodeStep::attention(const LayerRun& run) {
  const LayerFormats& formats = run.formats;
  const std::int64_t heads = serving_.share(run.heads.heads);
  const std::int64_t groups = serving_.share(run.heads.groups);
  const std::int64_t d = run.heads.width;
  const std::int64_t qkv = serving_.qkv_share(run.heads);
  gather(kUserRows);
  norm("norm", residual_cores_);
  product("qkv", model_.hidden, qkv, formats.qkv, residual_cores_);
  if (model_.has_bias) {
    const TensorSpec x = stream(qkv, residual_cores_);
    add("qkv", EltwiseAttributes{.function = Eltwise::add}, {x, x}, {x});
  }
  const TensorSpec split{.shape = {1, 1, serving_.batch, (heads + 2 * groups) * d},
                         .storage = Storage::l1};
  move("heads", stream(qkv, residual_cores_),
       interleaved(kUserRows, qkv, DataType::bfloat16, Storage::l1));
  const TensorSpec queries = users_of(heads, d);
  const TensorSpec keys = users_of(groups, d);
  add("heads",
      SplitHeadsDecodeAttributes{.heads = static_cast<int>(heads),
                                 .groups = static_cast<int>(groups)},
      {split}, {queries, keys, keys});
  if (model_.norms_heads) {
    add("norm", RmsNormAttributes{}, {queries, interleaved(1, d)}, {queries});
    add("norm", RmsNormAttributes{}, {keys, interleaved(1, d)}, {keys});
  }
  if (model_.norms_values) {
    add("norm", RmsNormAttributes{}, {keys, interleaved(1, d)}, {keys});
  }
  for (const TensorSpec& x : {queries, keys}) {
    add("rotary", RotaryEmbeddingAttributes{}, {x, angles(x), angles(x)}, {x});
  }
  look_up(run, heads, groups);
  add("heads", ConcatHeadsDecodeAttributes{.heads = static_cast<int>(heads)}, {queries},
      {TensorSpec{.shape = {1, 1, serving_.batch, heads * d}, .storage = Storage::l1}});
  project(heads * d, formats.output);
  norm_result();
  add_residual();
}

void DecodeStep::project(std::int64_t k, const WeightFormat& format) {
  const std::int64_t cores = divisor_near(tiles(k), serving_.share(model_.heads));
  product("output", k, model_.hidden, format, cores);
  if (model_.is_gpt_oss()) {
    const TensorSpec x = interleaved(kUserRows, model_.hidden);
    add("output", EltwiseAttributes{.function = Eltwise::add}, {x, interleaved(1, model_.hidden)},
        {x});
    if (serving_.is_divided()) shape_for_sum(x);
  }
  reduce(cores);
}

void DecodeStep::shape_for_sum(const TensorSpec& x) {
  const auto narrow = [&](Storage storage) {
    return interleaved(kUserRows, x.shape.columns(), DataType::bfloat8_b, storage);
  };
  const TensorSpec there = narrow(Storage::dram), here = narrow(Storage::l1);
  add("output", EltwiseAttributes{.function = Eltwise::cast}, {x}, {here});
  add("output", SliceAttributes{}, {here}, {here});
  move("output", here, there);
  move("output", there, here);
}

void DecodeStep::look_up(const LayerRun& run, std::int64_t heads, std::int64_t groups) {
  const LayerFormats& formats = run.formats;
  const std::int64_t d = run.heads.width;
  const TensorSpec place = group_handle();
  const TensorSpec cache{.shape = {serving_.batch, groups, serving_.room, d},
                         .dtype = formats.cache};
  const TensorSpec keys = users_of(groups, d);
  for (int i = 0; i < 2; ++i) {
    add("cache", PagedUpdateCacheAttributes{}, {keys, cache}, {cache});
  }
  const TensorSpec q{.shape = {serving_.batch, heads, 1, d}, .dtype = formats.cache};
  const std::int64_t seen = serving_.context + 1;
  const std::int64_t window = run.window < seen ? run.window : 0;
  add("attention",
      DecodeAttentionAttributes{
          .seen = seen, .window = window, .approximate = false, .compute = formats.attention},
      {q, cache, cache, place}, {q});
  move("heads", TensorSpec{.shape = users_of(heads, d).shape}, users_of(heads, d));
}

void DecodeStep::feed_forward(const LayerFormats& formats) {
  gather(kUserRows);
  if (!serving_.is_divided()) move("reshards", residual(), stream(model_.hidden, wide_cores_));
  norm("norm", wide_cores_);
  const std::int64_t cores = common_divisor(wide(), model_.hidden);
  gated_products(wide(), formats, wide_cores_, cores);
  reduce(cores);
  norm_result();
  add_residual();
}

void DecodeStep::gated_products(std::int64_t wide, const LayerFormats& formats, std::int64_t in,
                                std::int64_t out) {
  product("w1", model_.hidden, wide, formats.gate_up, in);
  if (model_.is_gated) product("w3", model_.hidden, wide, formats.gate_up, in);
  TensorSpec gated = stream(wide, in);
  gated.dtype = formats.gated;
  activate(stream(wide, in), gated);
  move("reshards", gated, stream_of(wide, out, formats.gated));
  product("w2", wide, model_.hidden, formats.down, out);
}

void DecodeStep::sample(const TensorSpec& logits) {
  const TopkAttributes topk;
  const TensorSpec kept = interleaved(kUserRows, topk.k, logits.dtype);
  TensorSpec places = kept;
  places.dtype = DataType::uint32;
  add("sampling", topk, {logits}, {kept, places});
  TensorSpec all = kept;
  all.shape = all.shape.with_columns(topk.k * serving_.vocabulary_parts());
  if (serving_.is_divided()) {
    // The places are as large as numbers of float32, which links pass as well.
    for (const DataType dtype : {kept.dtype, DataType::float32}) {
      TensorSpec part = kept, whole = all;
      part.dtype = whole.dtype = dtype;
      add("all_gather", AllGatherAttributes{.dimension = 3, .use = link_use(serving_)},
          {part, group_handle()}, {whole});
    }
  }
  TensorSpec names = all;
  names.dtype = DataType::uint32;
  names.layout = Layout::row_major;
  const TensorSpec tokens{{kUserRows}, DataType::uint32, Layout::row_major};
  add("sampling", SamplingAttributes{}, {all, names}, {tokens});
  add("sampling", PlusOneAttributes{}, {tokens}, {tokens});
}

void DecodeStep::find_largest(const TensorSpec& logits) {
  TensorSpec rows = logits;
  rows.layout = Layout::row_major;
  rows.dtype = DataType::bfloat16;
  rows.storage = Storage::dram;
  add("logits", LayoutAttributes{.to = Layout::row_major}, {logits}, {rows});
  const TensorSpec places{
      .shape = {1, kUserRows}, .dtype = DataType::uint32, .layout = Layout::row_major};
  add("sampling", ArgmaxAttributes{}, {rows},
      {TensorSpec{rows.shape.with_columns(1), DataType::uint32, Layout::row_major}});
  if (serving_.is_divided()) {
    const TensorSpec part = interleaved(kUserRows, kTileSide);
    add("all_gather", AllGatherAttributes{.dimension = 3, .use = link_use(serving_)},
        {part, group_handle()}, {interleaved(kUserRows, kTileSide * serving_.vocabulary_parts())});
  }
  add("sampling", PlusOneAttributes{}, {places}, {places});
}

void DecodeStep::finish_logits(const SpecList& parts) {
  const std::int64_t columns = serving_.column_share(model_.vocabulary);
  const TensorSpec mine = logits_of(columns);
  if (parts.size() > 1) add("logits", ConcatAttributes{.dimension = 3}, parts, {mine});
  cap(mine);
  if (serving_.sampling == Sampling::device) return sample(mine);
  if (serving_.sampling == Sampling::argmax) return find_largest(mine);
  TensorSpec all = mine;
  if (serving_.is_divided()) {
    all = interleaved(kUserRows, columns * serving_.tensor_parallel, DataType::bfloat8_b);
    TensorSpec part = all;
    part.shape = mine.shape;
    add("all_gather", AllGatherAttributes{.dimension = 3, .use = link_use(serving_)},
        {part, group_handle()}, {all});
  }
  TensorSpec rows = all;
  rows.layout = Layout::row_major;
  rows.dtype = DataType::bfloat16;
  rows.storage = Storage::dram;
  add("logits", LayoutAttributes{.to = Layout::row_major}, {all}, {rows});
}

Work decode_calls(const Serving& serving, const ChipSizes& chip) {
  if (serving.is_on_all_chips()) return galaxy_decode_calls(serving, chip);
  DecodeStep step(serving, chip);
  Work list;
  list.push_back(step.begin());
  for (const LayerRun& run : layer_runs(serving.model, serving.mode)) {
    list.push_back(step.layers(run));
  }
  list.push_back(step.end());
  return list;
}

}  // namespace howard::experiments
