// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "engines/chip/kernels/plan/matmul_plan.h"
#include "experiments/language_models/model_calls.h"

namespace howard::experiments {
namespace {

/// Makes the calls for the tokens of a prompt on the cores of a chip.
class PrefillStep : private ModelCalls {
 public:
  PrefillStep(const Serving& serving, const ChipSizes& chip, std::int64_t tokens)
      : ModelCalls(serving, chip), tokens_(tokens) {}

  WorkGroup begin() {
    embed(tokens_);
    return take(1);
  }

  /// `before` tokens of the prompt are in the cache already.
  WorkGroup layers(const LayerRun& run, std::int64_t before) {
    if (model_.is_latent()) {
      latent_attention(run, before);
    } else {
      attention(run, before);
    }
    if (run.has_experts) {
      experts(run.formats);
    } else {
      feed_forward(run.formats);
    }
    return take(run.times);
  }

  /// The tile of the last token goes through the head.
  WorkGroup end() {
    const TensorSpec all = interleaved(tokens_, my_hidden());
    const TensorSpec last = interleaved(kTileSide, my_hidden());
    if (tokens_ > kTileSide) {
      add("logits", SliceAttributes{.begins = {0, 0, tokens_ - kTileSide, 0}}, {all}, {last});
    }
    gather_normed("last norm", kTileSide);
    SpecList parts;
    for (const std::int64_t columns : head_splits(serving_, cores_, banks_)) {
      const TensorSpec part = interleaved(kTileSide, columns, DataType::bfloat8_b);
      add("head", MatmulAttributes{.compute = kHead.compute},
          {interleaved(kTileSide, model_.hidden), interleaved(model_.hidden, columns, kHead.dtype)},
          {part});
      parts.push_back(part);
    }
    const std::int64_t columns = serving_.column_share(model_.vocabulary);
    const TensorSpec logits = interleaved(kTileSide, columns, DataType::bfloat8_b);
    if (parts.size() > 1) add("logits", ConcatAttributes{.dimension = 3}, parts, {logits});
    cap(logits);
    TensorSpec rows = logits;
    rows.layout = Layout::row_major;
    rows.dtype = DataType::bfloat16;
    add("logits", LayoutAttributes{.to = Layout::row_major}, {logits}, {rows});
    return take(1);
  }

 private:
  void norm(std::string_view part, std::int64_t rows, std::int64_t columns) {
    const TensorSpec x = interleaved(rows, columns);
    add(part, RmsNormAttributes{}, {x, interleaved(1, columns)}, {x});
  }
  /// tt_transformers lets each chip norm its own columns of wide rows, whose sums chips show each
  /// other (DistributedNorm).
  bool norms_parts() const {
    constexpr std::int64_t kWide = 4096;
    return serving_.is_divided() && model_.hidden > kWide && !model_.is_gpt_oss();
  }
  void norm_parts(std::string_view part, std::int64_t rows) {
    const TensorSpec x = interleaved(rows, my_hidden());
    add(part, ReduceAttributes{.reduction = Reduction::sum, .dimension = Dimension::columns}, {x},
        {interleaved(rows, 1)});
    add("all_gather", AllGatherAttributes{.dimension = 3, .use = link_use(serving_)},
        {interleaved(rows, kTileSide), group_handle()},
        {interleaved(rows, kTileSide * serving_.tensor_parallel)});
    norm(part, rows, my_hidden());
  }
  /// Makes the norm of rows whose columns lie over the chips, and gives each chip all columns.
  void gather_normed(std::string_view part, std::int64_t rows) {
    if (norms_parts()) {
      norm_parts(part, rows);
      gather(rows);
    } else {
      gather(rows);
      norm(part, rows, model_.hidden);
    }
  }
  void reduce() {
    if (serving_.is_divided()) scatter_sum(tokens_);
  }
  /// What a part of Gemma's layers gives has a norm of its own, for which chips gather it.
  void norm_result() {
    if (!model_.norms_results) return;
    if (norms_parts()) return norm_parts("norm", tokens_);
    gather(tokens_);
    norm("norm", tokens_, model_.hidden);
  }
  void add_residual() {
    const TensorSpec x = interleaved(tokens_, my_hidden());
    add("add", EltwiseAttributes{.function = Eltwise::add}, {x, x}, {x});
  }

  /// Returns the largest divisor of `number` that is at most `most`.
  static std::int64_t divisor(std::int64_t number, std::int64_t most) {
    while (number % most != 0) --most;
    return most;
  }

  /// Multiplies on all cores, A multicast along the rows and B along the columns, in steps of
  /// `step` tiles of K. More than `most_rows` tokens are a batch of so many.
  void product(std::string_view part, std::int64_t k, std::int64_t n, const WeightFormat& format,
               std::int64_t most_rows, std::int64_t step) {
    const std::int64_t rows = std::min(tokens_, most_rows);
    const std::int64_t folded = ceil_div(tokens_, rows);
    const TensorSpec a{.shape = {1, folded, rows, k}};
    const TensorSpec result{.shape = {1, folded, rows, n}};
    MatmulConfig config{.kind = MatmulKind::multicast_2d,
                        .grid = cores_,
                        .per_core_m = ceil_div(ceil_div(rows, kTileSide), cores_.rows),
                        .per_core_n = ceil_div(ceil_div(n, kTileSide), cores_.columns),
                        .in0_block_w = step,
                        .fuse_batch = folded == 1};
    config.out_block_h = config.per_core_m;
    config.out_block_w = config.per_core_n;
    const auto fits = [&] {
      const chip::MatmulPlan plan{
          .problem = {.types = {.b = format.dtype}},
          .config = config,
          .batch = folded,
          .k = ceil_div(k, kTileSide),
          .fp32_accumulation = format.compute.fp32_accumulation.value_or(false)};
      return chip::circular_buffer_bytes(plan) <= l1_;
    };
    while (config.in0_block_w > 1 && !fits()) {
      config.in0_block_w = divisor(config.in0_block_w, config.in0_block_w - 1);
    }
    if (step > 1) config.subblock_w = divisor(config.per_core_n, 4);
    add(part, MatmulAttributes{.compute = format.compute, .config = config},
        {a, model_.is_gpt_oss() ? interleaved(k, n, format.dtype) : weights(k, n, format.dtype)},
        {result});
  }

  /// Returns the most tiles, up to 8, that divide what a row of cores has of K.
  std::int64_t step_of_k(std::int64_t k) const {
    const std::int64_t tiles = ceil_div(k, kTileSide);
    return tiles % cores_.rows == 0 ? divisor(tiles / cores_.rows, 8) : 1;
  }

  void attention(const LayerRun& run, std::int64_t before) {
    const LayerFormats& formats = run.formats;
    const std::int64_t heads = serving_.share(run.heads.heads);
    const std::int64_t groups = serving_.share(run.heads.groups);
    const std::int64_t d = run.heads.width;
    const std::int64_t qkv = serving_.qkv_share(run.heads);
    constexpr std::int64_t kFolded = 2048;
    gather_normed("norm", tokens_);
    product("qkv", model_.hidden, qkv, formats.qkv, kFolded, 1);
    if (model_.has_bias) {
      const TensorSpec x = interleaved(tokens_, qkv);
      add("qkv", EltwiseAttributes{.function = Eltwise::add}, {x, interleaved(1, qkv)}, {x});
    }
    const TensorSpec q = heads_of(heads, tokens_, d, DataType::bfloat16);
    const TensorSpec k = heads_of(groups, tokens_, d, DataType::bfloat16);
    add("heads",
        SplitHeadsAttributes{.heads = static_cast<int>(heads), .groups = static_cast<int>(groups)},
        {interleaved(tokens_, (heads + 2 * groups) * d)}, {q, k, k});
    const TensorSpec angles = interleaved(tokens_, d);
    for (const TensorSpec& x : {q, k}) {
      if (model_.norms_heads) add("norm", RmsNormAttributes{}, {x, interleaved(1, d)}, {x});
      add("rotary", RotaryEmbeddingAttributes{}, {x, angles, angles}, {x});
    }
    if (model_.norms_values) add("norm", RmsNormAttributes{}, {k, interleaved(1, d)}, {k});
    fill_cache(k, formats.cache);
    see(q, groups, run, before);
    add("heads", ConcatHeadsAttributes{}, {q}, {interleaved(tokens_, heads * d)});
    constexpr std::int64_t kFoldedOutput = 1024;
    product("output", heads * d, model_.hidden, formats.output, kFoldedOutput,
            step_of_k(heads * d));
    reduce();
    norm_result();
    add_residual();
  }

  static TensorSpec in_format(TensorSpec spec, DataType dtype) {
    spec.dtype = dtype;
    return spec;
  }

  void fill_cache(const TensorSpec& rows, DataType dtype) {
    const TensorSpec stored = in_format(rows, dtype);
    const TensorSpec cache =
        heads_of(rows.shape.heads(), serving_.room, rows.shape.columns(), dtype);
    for (int i = 0; i < 2; ++i) {
      if (dtype != rows.dtype) {
        add("cache", EltwiseAttributes{.function = Eltwise::cast}, {rows}, {stored});
      }
      add("cache", PagedFillCacheAttributes{}, {stored, cache}, {cache});
    }
  }

  /// The tokens see those before them in the cache, and each other up to themselves.
  void see(const TensorSpec& queries, std::int64_t groups, const LayerRun& run,
           std::int64_t before) {
    const LayerFormats& formats = run.formats;
    const std::int64_t d = queries.shape.columns();
    const TensorSpec q = in_format(queries, formats.cache);
    if (formats.cache != DataType::bfloat16) {
      add("attention", EltwiseAttributes{.function = Eltwise::cast}, {queries}, {q});
    }
    constexpr std::int64_t kLong = 2048;
    // L1 has room for the chunks of heads of up to 256 columns.
    const std::int64_t chunk = tokens_ < kLong ? 64 : d <= 256 ? 256 : 128;
    AttentionAttributes attributes{
        .query_chunk = chunk,
        .key_chunk = chunk,
        .approximate = false,
        .compute = {.fidelity = MathFidelity::hifi4, .fp32_accumulation = true}};
    if (before > 0) {
      const TensorSpec earlier = heads_of(groups, before, d, formats.cache);
      add("attention", attributes, {q, earlier, earlier}, {q});
    }
    attributes.causal = true;
    if (run.window < tokens_) attributes.window = run.window;
    const TensorSpec k = heads_of(groups, tokens_, d, formats.cache);
    add("attention", attributes, {q, k, k}, {q});
  }

  void feed_forward(const LayerFormats& formats) {
    gather_normed("norm", tokens_);
    gated_products(serving_.wide(), formats);
    reduce();
    norm_result();
    add_residual();
  }

  void gated_products(std::int64_t wide, const LayerFormats& formats) {
    // One chip has no room in L1 for more rows of a model as wide as the 8B.
    const std::int64_t folded = !serving_.is_divided() && wide >= 14336 ? 512 : 1024;
    product("w1", model_.hidden, wide, formats.gate_up, folded, step_of_k(model_.hidden));
    if (model_.is_gated) {
      product("w3", model_.hidden, wide, formats.gate_up, folded, step_of_k(model_.hidden));
    }
    const TensorSpec gate = interleaved(tokens_, wide);
    activate(gate, in_format(gate, formats.gated));
    product("w2", wide, model_.hidden, formats.down, folded, step_of_k(wide));
  }

  /// Of a prompt's tiles every expert is used by some token. Where groups of chips share the
  /// experts, a prompt of one group's user goes to all of them and comes back.
  void experts(const LayerFormats& formats) {
    gather_normed("norm", tokens_);
    const TensorSpec x = interleaved(tokens_, model_.hidden);
    if (model_.shared_width > 0) {
      gated_products(serving_.column_share(model_.shared_width), formats);
      add("add", EltwiseAttributes{.function = Eltwise::add}, {x, x}, {x});
    }
    if (serving_.has_whole_experts()) {
      route(tokens_);
      for (std::int64_t i = 0; i < serving_.my_experts(); ++i) {
        gated_products(serving_.expert_columns(), formats);
        add("experts", EltwiseAttributes{.function = Eltwise::multiply},
            {x, interleaved(tokens_, 1)}, {x});
      }
    } else {
      sparse_experts(tokens_, serving_.my_experts(), formats);
    }
    reduce();
    norm_result();
    add_residual();
  }

  /// DeepSeek's: keys and values of all heads of a chip are made of the latent rows, which go into
  /// the cache.
  void latent_attention(const LayerRun& run, std::int64_t before) {
    const LayerFormats& formats = run.formats;
    const LatentSizes& latent = model_.latent;
    const std::int64_t heads = serving_.share(model_.heads);
    const std::int64_t d = latent.plain + latent.rotary;
    constexpr std::int64_t kFolded = 1024;
    gather_normed("norm", tokens_);
    const std::int64_t down = latent.query_rank + latent.cached();
    product("latent", model_.hidden, down, formats.qkv, kFolded, step_of_k(model_.hidden));
    for (const std::int64_t rank : {latent.query_rank, latent.rank}) {
      add("norm", RmsNormAttributes{}, {interleaved(tokens_, rank), interleaved(1, rank)},
          {interleaved(tokens_, rank)});
    }
    product("latent", latent.query_rank, heads * d, formats.qkv, kFolded, 1);
    product("latent", latent.rank, heads * (latent.plain + latent.value), formats.qkv, kFolded, 1);
    const TensorSpec q = heads_of(heads, tokens_, d, DataType::bfloat16);
    const TensorSpec turned = heads_of(heads, tokens_, latent.rotary, DataType::bfloat16);
    const TensorSpec angles = interleaved(tokens_, latent.rotary);
    add("rotary", RotaryEmbeddingAttributes{}, {turned, angles, angles}, {turned});
    const TensorSpec row = heads_of(1, tokens_, latent.cached(), formats.cache);
    const TensorSpec cache = heads_of(1, serving_.room, latent.cached(), formats.cache);
    add("cache", PagedFillCacheAttributes{}, {row, cache}, {cache});
    see(q, heads, run, before);
    add("heads", ConcatHeadsAttributes{}, {heads_of(heads, tokens_, latent.value, q.dtype)},
        {interleaved(tokens_, heads * latent.value)});
    product("output", heads * latent.value, model_.hidden, formats.output, kFolded,
            step_of_k(heads * latent.value));
    reduce();
    add_residual();
  }

  std::int64_t tokens_;
};

}  // namespace

Work prefill_calls(const Serving& serving, const ChipSizes& chip, std::int64_t tokens) {
  if (serving.is_on_all_chips()) return galaxy_prefill_calls(serving, chip, tokens);
  const std::int64_t chunk = std::min(tokens, prefill_chunk(serving));
  PrefillStep step(serving, chip, chunk);
  Work list;
  for (std::int64_t before = 0; before < tokens; before += chunk) {
    list.push_back(step.begin());
    for (const LayerRun& run : layer_runs(serving.model, serving.mode)) {
      list.push_back(step.layers(run, before));
    }
  }
  list.push_back(step.end());
  return list;
}

}  // namespace howard::experiments
