// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <utility>

#include "experiments/language_models/model_calls.h"

namespace howard::experiments {
namespace {

constexpr std::int64_t kUserRows = kTileSide;  ///< A step has a tile of rows, whoever is there.

/// Makes the calls of a decoding step on the cores of a chip, with tt_transformers' rules for which
/// cores hold what.
class DecodeStep : private ModelCalls {
 public:
  DecodeStep(const Serving& serving, const ChipSizes& chip) : ModelCalls(serving, chip) {
    residual_cores_ = divisor_near(tiles(model_.hidden), cores_.cores() / 2);
    wide_cores_ = common_divisor(model_.hidden, wide());
  }

  WorkGroup begin() {
    embed(kUserRows);
    move("embedding", interleaved(kUserRows, my_hidden()), residual());
    const TensorSpec places{
        .shape = {1, serving_.batch}, .dtype = DataType::uint32, .layout = Layout::row_major};
    const TensorSpec angles{.shape = {serving_.room, model_.head_width},
                            .layout = Layout::row_major};
    const TensorSpec rows = interleaved(serving_.batch, model_.head_width);
    for (int i = 0; i < 2; ++i) {  // cosines and sines
      add("rotary", EmbeddingAttributes{}, {places, angles}, {rows});
      move("rotary", TensorSpec{.shape = users_of(1).shape}, users_of(1));
    }
    return take(1);
  }

  WorkGroup layers(const LayerRun& run) {
    attention(run);
    feed_forward(run.formats);
    return take(run.times);
  }

  WorkGroup end() {
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
      if (model_.has_experts()) continue;
      move("logits", stream_of(columns, cores, DataType::bfloat8_b), logits.back());
    }
    finish_logits(logits);
    return take(1);
  }

 private:
  static std::int64_t tiles(std::int64_t columns) { return ceil_div(columns, kTileSide); }
  std::int64_t wide() const { return serving_.wide(); }

  /// Says whether so many cores form a rectangle of the grid.
  bool is_rectangle(std::int64_t cores) const { return grid_of(cores).cores() == cores; }

  CoreGrid grid_of(std::int64_t cores) const {
    for (int columns = cores_.columns; columns >= 1; --columns) {
      if (cores % columns == 0 && cores / columns <= cores_.rows) {
        return {columns, static_cast<int>(cores / columns)};
      }
    }
    return {};
  }

  /// Returns the divisor of `number` nearest to `wanted` whose cores form a rectangle.
  std::int64_t divisor_near(std::int64_t number, std::int64_t wanted) const {
    std::int64_t best = 1;
    for (std::int64_t d = 1; d <= std::min<std::int64_t>(number, cores_.cores()); ++d) {
      if (number % d != 0 || !is_rectangle(d)) continue;
      if (std::abs(d - wanted) <= std::abs(best - wanted)) best = d;
    }
    return best;
  }

  /// Returns the most cores that divide the tiles of both sides of a product.
  std::int64_t common_divisor(std::int64_t k, std::int64_t n) const {
    const std::int64_t common = std::gcd(tiles(k), tiles(n));
    std::int64_t best = 1;
    for (std::int64_t d = 1; d <= std::min<std::int64_t>(common, cores_.cores()); ++d) {
      if (common % d == 0 && is_rectangle(d)) best = d;
    }
    return best;
  }

  TensorSpec stream_of(std::int64_t columns, std::int64_t cores, DataType dtype) const {
    TensorSpec spec = interleaved(kUserRows, columns, dtype, Storage::l1);
    spec.sharding = Sharding{.layout = ShardLayout::width,
                             .grid = grid_of(cores),
                             .rows = kUserRows,
                             .columns = kTileSide * ceil_div(tiles(columns), cores)};
    return spec;
  }
  TensorSpec stream(std::int64_t columns, std::int64_t cores) const {
    return stream_of(columns, cores, DataType::bfloat16);
  }
  /// Returns what goes from layer to layer.
  TensorSpec residual() const { return residual_on(residual_cores_); }
  TensorSpec residual_on(std::int64_t cores) const {
    return stream(my_hidden(), divisor_near(tiles(my_hidden()), cores));
  }

  /// A user has a core, row by row of eight, with the rows of one tile for the heads. The last row
  /// of cores need not be full.
  TensorSpec users_of(std::int64_t heads) const {
    constexpr std::int64_t kRow = 8;
    const std::int64_t columns = std::min({serving_.batch, kRow, std::int64_t{cores_.columns}});
    TensorSpec spec{.shape = {1, serving_.batch, heads, model_.head_width}, .storage = Storage::l1};
    spec.sharding = Sharding{
        .layout = ShardLayout::height,
        .grid = {static_cast<int>(columns), static_cast<int>(ceil_div(serving_.batch, columns))},
        .rows = kTileSide * ceil_div(heads, kTileSide),
        .columns = model_.head_width};
    return spec;
  }

  void move(std::string_view part, const TensorSpec& from, const TensorSpec& to) {
    if (from != to) add(part, MemoryMoveAttributes{}, {from}, {to});
  }

  /// The columns of the weights lie over the banks of the DRAM, each of which has a core beside it.
  TensorSpec weights(std::int64_t k, std::int64_t n, DataType dtype) const {
    TensorSpec spec = interleaved(k, n, dtype);
    spec.sharding = Sharding{.layout = ShardLayout::width,
                             .grid = {banks_, 1},
                             .rows = kTileSide * tiles(k),
                             .columns = kTileSide * ceil_div(tiles(n), banks_)};
    return spec;
  }

  /// Returns the tiles of K in a step: the most, up to 8, that divide a core's.
  static std::int64_t step_of_k(std::int64_t k, std::int64_t cores) {
    const std::int64_t mine = ceil_div(tiles(k), cores);
    std::int64_t most = std::min<std::int64_t>(8, mine);
    while (mine % most != 0) --most;
    return most;
  }

  MatmulAttributes product_of(std::int64_t k, std::int64_t n, const WeightFormat& format,
                              std::int64_t cores) const {
    const std::int64_t columns = ceil_div(tiles(n), cores);
    return {.compute = format.compute,
            .config = MatmulConfig{.kind = MatmulKind::dram_sharded,
                                   .grid = grid_of(cores),
                                   .per_core_n = columns,
                                   .in0_block_w = step_of_k(k, cores),
                                   .out_block_w = columns}};
  }
  void product(std::string_view part, std::int64_t k, std::int64_t n, const WeightFormat& format,
               std::int64_t cores, DataType out = DataType::bfloat16) {
    if (model_.has_experts()) {  // its demo leaves the configuration to ttnn
      move("reshards", stream(k, cores),
           interleaved(kUserRows, k, DataType::bfloat16, Storage::l1));
      add(part, MatmulAttributes{.compute = format.compute},
          {interleaved(kUserRows, k, DataType::bfloat16, Storage::l1),
           interleaved(k, n, format.dtype)},
          {interleaved(kUserRows, n, out, result_storage(n))});
      return;
    }
    add(part, product_of(k, n, format, cores), {stream(k, cores), weights(k, n, format.dtype)},
        {stream_of(n, cores, out)});
  }

  /// A plain product's result lies in L1, but for the logits of all the vocabulary.
  Storage result_storage(std::int64_t columns) const {
    constexpr std::int64_t kMost = 1 << 14;
    return model_.has_experts() && columns > kMost ? Storage::dram : Storage::l1;
  }
  TensorSpec logits_of(std::int64_t columns) const {
    return interleaved(kUserRows, columns, DataType::bfloat8_b, result_storage(columns));
  }

  void norm(std::string_view part, std::int64_t cores) {
    const TensorSpec x = stream(model_.hidden, cores);
    add(part, RmsNormAttributes{}, {x, weights_of_norm()}, {x});
  }
  TensorSpec weights_of_norm() const { return interleaved(1, model_.hidden); }

  void reduce(std::int64_t cores) {
    if (!serving_.is_divided()) {
      move("reshards", stream(model_.hidden, cores), residual());
    } else {
      scatter_sum(kUserRows);
    }
  }
  void add_residual() {
    add("add", EltwiseAttributes{.function = Eltwise::add}, {residual(), residual()}, {residual()});
  }

  /// What a part of Gemma's layers gives has a norm of its own, for which chips gather it.
  void norm_result() {
    if (!model_.norms_results) return;
    gather(kUserRows);
    norm("norm", residual_cores_);
  }

  void attention(const LayerRun& run) {
    const LayerFormats& formats = run.formats;
    const std::int64_t heads = serving_.share(model_.heads);
    const std::int64_t groups = serving_.share(model_.groups);
    const std::int64_t d = model_.head_width;
    const std::int64_t qkv = (heads + 2 * groups) * d;
    gather(kUserRows);
    norm("norm", residual_cores_);
    product("qkv", model_.hidden, qkv, formats.qkv, residual_cores_);
    if (model_.has_bias) {
      const TensorSpec x = stream(qkv, residual_cores_);
      add("qkv", EltwiseAttributes{.function = Eltwise::add}, {x, x}, {x});
    }
    const TensorSpec split{.shape = {1, 1, serving_.batch, qkv}, .storage = Storage::l1};
    move("heads", stream(qkv, residual_cores_),
         interleaved(kUserRows, qkv, DataType::bfloat16, Storage::l1));
    const TensorSpec queries = users_of(heads);
    const TensorSpec keys = users_of(groups);
    add("heads",
        SplitHeadsDecodeAttributes{.heads = static_cast<int>(heads),
                                   .groups = static_cast<int>(groups)},
        {split}, {queries, keys, keys});
    if (model_.norms_heads) {
      add("norm", RmsNormAttributes{}, {queries, interleaved(1, d)}, {queries});
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

  /// Multiplies what the heads found by the weights of the output.
  void project(std::int64_t k, const WeightFormat& format) {
    const std::int64_t cores = divisor_near(tiles(k), serving_.share(model_.heads));
    product("output", k, model_.hidden, format, cores);
    if (model_.has_experts()) {
      const TensorSpec x = interleaved(kUserRows, model_.hidden);
      add("output", EltwiseAttributes{.function = Eltwise::add}, {x, interleaved(1, model_.hidden)},
          {x});
    }
    reduce(cores);
  }

  static TensorSpec angles(const TensorSpec& x) {
    return interleaved(x.shape.rows(), x.shape.columns());
  }

  /// Writes the keys and values of the token into the cache and looks up what it holds.
  void look_up(const LayerRun& run, std::int64_t heads, std::int64_t groups) {
    const LayerFormats& formats = run.formats;
    const std::int64_t d = model_.head_width;
    const TensorSpec place = group_handle();
    const TensorSpec cache{.shape = {serving_.batch, groups, serving_.room, d},
                           .dtype = formats.cache};
    const TensorSpec keys = users_of(groups);
    for (int i = 0; i < 2; ++i) {
      add("cache", PagedUpdateCacheAttributes{}, {keys, cache}, {cache});
    }
    const TensorSpec q{.shape = {serving_.batch, heads, 1, d}, .dtype = formats.cache};
    const std::int64_t seen = std::min(serving_.context + 1, run.window);
    add("attention", DecodeAttentionAttributes{.seen = seen, .approximate = false},
        {q, cache, cache, place}, {q});
    move("heads", TensorSpec{.shape = users_of(heads).shape}, users_of(heads));
  }

  void feed_forward(const LayerFormats& formats) {
    if (model_.has_experts()) {
      norm("norm", residual_cores_);
      experts(kUserRows, model_.experts_used, formats);
      reduce(residual_cores_);
      return add_residual();
    }
    gather(kUserRows);
    if (!serving_.is_divided()) move("reshards", residual(), stream(model_.hidden, wide_cores_));
    norm("norm", wide_cores_);
    product("w1", model_.hidden, wide(), formats.gate_up, wide_cores_);
    product("w3", model_.hidden, wide(), formats.gate_up, wide_cores_);
    const std::int64_t cores = common_divisor(wide(), model_.hidden);
    const TensorSpec gate = stream(wide(), wide_cores_);
    TensorSpec gated = gate;
    gated.dtype = DataType::bfloat8_b;
    add("activation",
        EltwiseAttributes{.function = Eltwise::multiply, .on_a = {step_of(gate_of(model_))}},
        {gate, gate}, {gated});
    move("reshards", gated, stream_of(wide(), cores, DataType::bfloat8_b));
    product("w2", wide(), model_.hidden, formats.down, cores);
    reduce(cores);
    norm_result();
    add_residual();
  }

  /// Each chip keeps the largest of its logits, of which one is drawn, and counts the positions on:
  /// tt_transformers of November 2025.
  void sample(const TensorSpec& logits) {
    const TopkAttributes topk;
    const TensorSpec kept = interleaved(kUserRows, topk.k, logits.dtype);
    TensorSpec places = kept;
    places.dtype = DataType::uint32;
    add("sampling", topk, {logits}, {kept, places});
    TensorSpec all = kept;
    all.shape = all.shape.with_columns(topk.k * serving_.tensor_parallel);
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

  void finish_logits(const SpecList& parts) {
    const std::int64_t columns = serving_.column_share(model_.vocabulary);
    const TensorSpec mine = logits_of(columns);
    if (parts.size() > 1) add("logits", ConcatAttributes{.dimension = 3}, parts, {mine});
    if (serving_.sampling == Sampling::device) {
      sample(mine);
      return;
    }
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

  std::int64_t residual_cores_ = 1, wide_cores_ = 1;
};

}  // namespace

Work decode_calls(const Serving& serving, const ChipSizes& chip) {
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
