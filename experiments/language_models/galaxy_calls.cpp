// SPDX-License-Identifier: Apache-2.0
#include "experiments/language_models/decode_step.h"

namespace howard::experiments {
namespace {

// The mesh of a Galaxy: rows divide heads and the feed-forward part, columns hidden_size and users.
constexpr std::int64_t kMeshRows = 8, kMeshColumns = 4;
/// Neighbours have four links, and rows and columns go all around.
constexpr LinkUse kUse{.links = 4, .ring = true};

/// Makes the calls of tt-metal's demo for all chips of a Galaxy (models/demos/llama3_70b_galaxy).
class GalaxyCalls : protected DecodeStep {
 protected:
  GalaxyCalls(const Serving& serving, const ChipSizes& chip)
      : DecodeStep(serving, chip),
        hidden_(model_.hidden / kMeshColumns),
        wide_(model_.feed_forward / kMeshRows),
        heads_(model_.heads / kMeshRows),
        groups_(model_.groups / kMeshRows),
        qkv_((heads_ + 2 * groups_) * model_.head_width) {}

  /// Returns the columns of a chip, whole tiles, of those that so many chips divide.
  static std::int64_t part_of(std::int64_t columns, std::int64_t chips) {
    return kTileSide * ceil_div(columns, kTileSide * chips);
  }
  /// Returns the columns of the vocabulary of a chip.
  std::int64_t logit_columns() const {
    return kTileSide * ceil_div(model_.vocabulary, kTileSide * kMeshRows);
  }

  std::int64_t hidden_, wide_, heads_, groups_, qkv_;  ///< Of a chip.
};

/// A step: weights come from the DRAM ahead of the products, whose operands go round a ring of 24
/// cores; collectives are fused with what is beside them.
class GalaxyStep : GalaxyCalls {
 public:
  GalaxyStep(const Serving& serving, const ChipSizes& chip) : GalaxyCalls(serving, chip) {}

  WorkGroup begin() {
    const TensorSpec token{
        .shape = {1, kUserRows}, .dtype = DataType::uint32, .layout = Layout::row_major};
    const TensorSpec table{.shape = {model_.vocabulary, hidden_}, .layout = Layout::row_major};
    add("embedding", EmbeddingAttributes{}, {token, table}, {interleaved(kUserRows, hidden_)});
    return take(1);
  }

  WorkGroup layers(const LayerRun& run) {
    norm_columns();
    ring_product("qkv", hidden_, qkv_, run.formats.qkv);
    scatter(qkv_, DataType::bfloat16);
    attend(run);
    ring_product("output", heads_ * run.heads.width, hidden_, run.formats.output);
    sum_up(hidden_, kMeshRows);
    norm_columns();
    ring_product("w1", hidden_, 2 * wide_, run.formats.gate_up);  // and w3, in one kernel
    scatter(wide_, DataType::bfloat8_b);
    const std::int64_t part = wide_ / kMeshColumns;
    const TensorSpec gate = stream(part, divisor_near(tiles(part), cores_.cores()));
    activate(gate, gate);
    show(wide_, kMeshColumns, DataType::bfloat8_b);
    ring_product("w2", wide_, hidden_, run.formats.down);
    sum_up(hidden_, kMeshRows);
    return take(run.times);
  }

  WorkGroup end() {
    norm_columns();
    const std::int64_t columns = logit_columns();
    product("head", hidden_, columns, kHead, norm_cores(), DataType::bfloat8_b);
    sum_up(columns, kMeshColumns);
    if (serving_.sampling == Sampling::host) {
      show(columns * kMeshRows, kMeshRows, DataType::bfloat8_b);
      const TensorSpec all = interleaved(kUserRows, columns * kMeshRows, DataType::bfloat8_b);
      TensorSpec rows = interleaved(kUserRows, columns * kMeshRows);
      rows.layout = Layout::row_major;
      add("logits", LayoutAttributes{.to = Layout::row_major}, {all}, {rows});
      return take(1);
    }
    std::int64_t padded = kTileSide;  // topk takes a power of two of columns.
    while (padded < columns) padded *= 2;
    const TensorSpec logits = interleaved(kUserRows, padded);
    if (serving_.sampling == Sampling::device) {
      sample(logits);
    } else {
      find_largest(logits);
    }
    return take(1);
  }

 private:
  /// Chips of a row or of a column show each other a part of so many columns, from shards in L1 to
  /// shards in L1 that are there before.
  void show(std::int64_t columns, std::int64_t chips, DataType dtype) {
    constexpr std::int64_t kShards = 16;
    const auto shards = [&](std::int64_t of_chip) {
      return stream_of(of_chip, divisor_near(tiles(of_chip), kShards), dtype);
    };
    const std::int64_t part = part_of(columns, chips);
    add("all_gather", AllGatherAttributes{.dimension = 3, .use = kUse},
        {shards(part), group_handle()}, {shards(part * chips)});
  }
  /// Each chip of a row gets its part of the sum. All send each other what they have for them at
  /// once: by analogy, as much passes as when they show their parts.
  void scatter(std::int64_t columns, DataType dtype) { show(columns, kMeshColumns, dtype); }
  /// Each chip gets the sum of what all show each other: by analogy, as if it was scattered and
  /// gathered.
  void sum_up(std::int64_t columns, std::int64_t chips) {
    show(2 * columns, chips, DataType::bfloat8_b);
  }

  /// Chips of a row divide the users.
  void attend(const LayerRun& run) {
    const std::int64_t d = run.heads.width, users = ceil_div(serving_.batch, kMeshColumns);
    const TensorSpec queries = spread(users, heads_, d), keys = spread(users, groups_, d);
    if (model_.norms_heads) {
      add("norm", RmsNormAttributes{}, {queries, interleaved(1, d)}, {queries});
    }
    add("rotary", RotaryEmbeddingAttributes{}, {queries, angles(queries), angles(queries)},
        {queries});
    const TensorSpec cache{.shape = {users, groups_, serving_.room, d}, .dtype = run.formats.cache};
    add("cache", PagedUpdateCacheAttributes{}, {keys, cache}, {cache});
    const TensorSpec q{.shape = {users, heads_, 1, d}, .dtype = run.formats.cache};
    add("attention", DecodeAttentionAttributes{.seen = serving_.context + 1, .approximate = false},
        {q, cache, cache, group_handle()}, {q});
    show(heads_ * d, kMeshColumns, DataType::bfloat16);
  }

  /// The norm of a chip's columns, and the sums that the chips of a row show each other.
  void norm_columns() {
    const TensorSpec x = stream(hidden_, norm_cores());
    add("norm", RmsNormAttributes{}, {x, interleaved(1, hidden_)}, {x});
    show(kTileSide * kMeshColumns, kMeshColumns, DataType::bfloat16);
  }

  std::int64_t norm_cores() const {
    constexpr std::int64_t kWanted = 16;
    return divisor_near(tiles(hidden_), kWanted);
  }

  /// Each of eight users of a chip has a core.
  static TensorSpec spread(std::int64_t users, std::int64_t heads, std::int64_t width) {
    TensorSpec spec{.shape = {1, users, heads, width}, .storage = Storage::l1};
    spec.sharding = Sharding{.layout = ShardLayout::height,
                             .grid = {static_cast<int>(users), 1},
                             .rows = kTileSide,
                             .columns = width};
    return spec;
  }

  void ring_product(std::string_view part, std::int64_t k, std::int64_t n,
                    const WeightFormat& format) {
    constexpr CoreGrid kRing{8, 3};
    constexpr std::int64_t kUnit = kTileSide * 24;
    const std::int64_t inner = ceil_div(k, kUnit), outer = ceil_div(n, kUnit);
    const auto shards = [&](std::int64_t rows, std::int64_t of_core, DataType dtype) {
      TensorSpec spec = interleaved(rows, kUnit * of_core, dtype, Storage::l1);
      spec.sharding = Sharding{.layout = ShardLayout::width,
                               .grid = kRing,
                               .rows = rows,
                               .columns = kTileSide * of_core};
      return spec;
    };
    std::int64_t subblock = std::min<std::int64_t>(outer, 8);
    while (outer % subblock != 0) --subblock;
    add(part,
        MatmulAttributes{.compute = format.compute,
                         .config = MatmulConfig{.kind = MatmulKind::multicast_1d_in0,
                                                .grid = kRing,
                                                .per_core_m = 1,
                                                .per_core_n = outer,
                                                .in0_block_w = inner,
                                                .out_block_h = 1,
                                                .out_block_w = outer,
                                                .subblock_w = subblock,
                                                .gather_in0 = true}},
        {shards(kUserRows, inner, DataType::bfloat16), shards(kUnit * inner, outer, format.dtype)},
        {shards(kUserRows, outer, DataType::bfloat16)});
  }
};

/// A prompt, whose places the chips of a row divide while they attend.
class GalaxyPrompt : GalaxyCalls {
 public:
  GalaxyPrompt(const Serving& serving, const ChipSizes& chip, std::int64_t tokens)
      : GalaxyCalls(serving, chip), tokens_(tokens) {}

  WorkGroup layers(const LayerRun& run) {
    norm_columns();
    product("qkv", hidden_, qkv_, run.formats.qkv);
    sum_up(tokens_, qkv_, kMeshColumns);
    attend(run);
    product("output", heads_ * run.heads.width, hidden_, run.formats.output);
    sum_up(tokens_, hidden_, kMeshRows);
    add_up();
    norm_columns();
    for (const char* const part : {"w1", "w3"}) {
      product(part, hidden_, wide_, run.formats.gate_up);
      scatter(tokens_, wide_, DataType::bfloat8_b);
    }
    const TensorSpec gate = interleaved(tokens_, wide_ / kMeshColumns, DataType::bfloat8_b);
    activate(gate, gate);
    show(tokens_, wide_, kMeshColumns, DataType::bfloat8_b);
    product("w2", wide_, hidden_, run.formats.down);
    sum_up(tokens_, hidden_, kMeshRows);
    add_up();
    return take(run.times);
  }

  /// The tile of the last token goes through the head.
  WorkGroup end() {
    const std::int64_t columns = logit_columns();
    add("head", MatmulAttributes{.compute = kHead.compute},
        {interleaved(kTileSide, hidden_), interleaved(hidden_, columns, kHead.dtype)},
        {interleaved(kTileSide, columns, DataType::bfloat8_b)});
    sum_up(kTileSide, columns, kMeshColumns);
    return take(1);
  }

 private:
  void show(std::int64_t rows, std::int64_t columns, std::int64_t chips, DataType dtype) {
    const std::int64_t part = part_of(columns, chips);
    add("all_gather", AllGatherAttributes{.dimension = 3, .use = kUse},
        {interleaved(rows, part, dtype), group_handle()}, {interleaved(rows, part * chips, dtype)});
  }
  /// Each chip of a row gets its part of the sum: by analogy, as much passes as when they show it.
  void scatter(std::int64_t rows, std::int64_t columns, DataType dtype) {
    show(rows, columns, kMeshColumns, dtype);
  }
  /// Each chip gets the sum: by analogy, twice as much passes.
  void sum_up(std::int64_t rows, std::int64_t columns, std::int64_t chips) {
    show(rows, 2 * columns, chips, DataType::bfloat8_b);
  }

  TensorSpec x() const { return interleaved(tokens_, hidden_); }
  void add_up() { add("add", EltwiseAttributes{.function = Eltwise::add}, {x(), x()}, {x()}); }
  void norm_columns() {
    add("norm", RmsNormAttributes{}, {x(), interleaved(1, hidden_)}, {x()});
    show(tokens_, kTileSide * kMeshColumns, kMeshColumns, DataType::bfloat16);
  }
  void product(std::string_view part, std::int64_t k, std::int64_t n, const WeightFormat& format) {
    add(part, MinimalMatmulAttributes{.compute = format.compute},
        {interleaved(tokens_, k), interleaved(k, n, format.dtype)}, {interleaved(tokens_, n)});
  }

  void attend(const LayerRun& run) {
    const std::int64_t d = run.heads.width;
    const TensorSpec q = heads_of(heads_, tokens_, d, DataType::bfloat16);
    const TensorSpec k = heads_of(groups_, tokens_, d, DataType::bfloat16);
    add("heads",
        SplitHeadsAttributes{.heads = static_cast<int>(heads_),
                             .groups = static_cast<int>(groups_)},
        {interleaved(tokens_, qkv_)}, {q, k, k});
    for (const TensorSpec& turned : {q, k}) {
      if (model_.norms_heads) {
        add("norm", RmsNormAttributes{}, {turned, interleaved(1, d)}, {turned});
      }
      add("rotary", RotaryEmbeddingAttributes{},
          {turned, interleaved(tokens_, d), interleaved(tokens_, d)}, {turned});
    }
    TensorSpec stored = k;
    stored.dtype = run.formats.cache;
    const TensorSpec cache = heads_of(groups_, serving_.room, d, run.formats.cache);
    for (int i = 0; i < 2; ++i) {
      add("cache", EltwiseAttributes{.function = Eltwise::cast}, {k}, {stored});
      add("cache", PagedFillCacheAttributes{}, {stored, cache}, {cache});
    }
    look_back(run.formats.cache, d);
    show(tokens_, heads_ * d, kMeshColumns, DataType::bfloat16);
    add("heads", ConcatHeadsAttributes{}, {q}, {interleaved(tokens_, heads_ * d)});
  }

  /// A quarter of the places sees half of them on average.
  void look_back(DataType dtype, std::int64_t d) {
    const std::int64_t mine = std::max(kTileSide, tokens_ / kMeshColumns);
    const std::int64_t chunk = tokens_ >= 2048 ? 256 : 32;
    const TensorSpec part = heads_of(heads_, mine, d, dtype);
    const TensorSpec seen = heads_of(groups_, std::max(kTileSide, tokens_ / 2), d, dtype);
    add("attention",
        AttentionAttributes{
            .query_chunk = chunk,
            .key_chunk = chunk,
            .approximate = false,
            .compute = {.fidelity = MathFidelity::hifi4, .fp32_accumulation = true}},
        {part, seen, seen}, {part});
  }

  std::int64_t tokens_;
};

template <class Calls>
void add_layers(Calls& calls, const Serving& serving, Work& list) {
  for (const LayerRun& run : layer_runs(serving.model, serving.mode)) {
    list.push_back(calls.layers(run));
  }
  list.push_back(calls.end());
}

}  // namespace

Work galaxy_decode_calls(const Serving& serving, const ChipSizes& chip) {
  GalaxyStep step(serving, chip);
  Work list{step.begin()};
  add_layers(step, serving, list);
  return list;
}

Work galaxy_prefill_calls(const Serving& serving, const ChipSizes& chip, std::int64_t tokens) {
  GalaxyPrompt prompt(serving, chip, tokens);
  Work list;
  add_layers(prompt, serving, list);
  return list;
}

}  // namespace howard::experiments
