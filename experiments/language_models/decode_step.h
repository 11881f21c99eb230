// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <vector>

#include "engines/chip/kernels/plan/matmul_plan.h"
#include "experiments/language_models/model_calls.h"

namespace howard::experiments {

/// A step computes a whole tile of rows, however many users there are.
inline constexpr std::int64_t kUserRows = kTileSide;

/// Makes the calls of a decoding step on the cores of a chip, with tt_transformers' rules for which
/// cores hold what.
class DecodeStep : protected ModelCalls {
 public:
  DecodeStep(const Serving& serving, const ChipSizes& chip) : ModelCalls(serving, chip) {
    residual_cores_ = divisor_near(tiles(model_.hidden), cores_.cores() / 2);
    wide_cores_ = common_divisor(model_.hidden, wide());
  }

  /// Makes those before the layers, of layers that are alike, and behind them.
  WorkGroup begin();
  WorkGroup layers(const LayerRun& run);
  WorkGroup end();

 protected:
  static std::int64_t tiles(std::int64_t columns) { return ceil_div(columns, kTileSide); }
  std::int64_t wide() const { return serving_.wide(); }
  /// Heads of two widths have tables of their own.
  std::vector<std::int64_t> rotary_widths() const {
    if (model_.is_latent()) return {model_.latent.rotary};
    const std::int64_t width = model_.head_sizes(true).width;
    if (width == model_.head_width) return {width};
    return {model_.head_width, width};
  }

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
  TensorSpec users_of(std::int64_t heads, std::int64_t width) const {
    constexpr std::int64_t kRow = 8;
    const std::int64_t columns = std::min({serving_.batch, kRow, std::int64_t{cores_.columns}});
    TensorSpec spec{.shape = {1, serving_.batch, heads, width}, .storage = Storage::l1};
    spec.sharding = Sharding{
        .layout = ShardLayout::height,
        .grid = {static_cast<int>(columns), static_cast<int>(ceil_div(serving_.batch, columns))},
        .rows = kTileSide * ceil_div(heads, kTileSide),
        .columns = width};
    return spec;
  }

  void move(std::string_view part, const TensorSpec& from, const TensorSpec& to) {
    if (from != to) add(part, MemoryMoveAttributes{}, {from}, {to});
  }

  /// Returns the tiles of K in a step: the most, up to 8, that divide a core's, and whose blocks
  /// have room in L1 beside the shards of the rows and of the result.
  std::int64_t step_of_k(std::int64_t k, std::int64_t n, DataType weights,
                         std::int64_t cores) const {
    const std::int64_t mine = ceil_div(tiles(k), cores);
    const Bytes shards = (mine + ceil_div(tiles(n), cores)) * tile_bytes(DataType::bfloat16);
    chip::MatmulPlan plan{.problem = {.types = {.b = weights}},
                          .config = {.kind = MatmulKind::dram_sharded,
                                     .out_block_h = 1,
                                     .out_block_w = ceil_div(tiles(n), banks_)}};
    const auto fits = [&](std::int64_t step) {
      plan.config.in0_block_w = step;
      return chip::circular_buffer_bytes(plan) + shards <= l1_;
    };
    std::int64_t most = std::min<std::int64_t>(8, mine);
    while (mine % most != 0 || (most > 1 && !fits(most))) --most;
    return most;
  }

  MatmulAttributes product_of(std::int64_t k, std::int64_t n, const WeightFormat& format,
                              std::int64_t cores) const {
    const std::int64_t columns = ceil_div(tiles(n), cores);
    return {.compute = format.compute,
            .config = MatmulConfig{.kind = MatmulKind::dram_sharded,
                                   .grid = grid_of(cores),
                                   .per_core_n = columns,
                                   .in0_block_w = step_of_k(k, n, format.dtype, cores),
                                   .out_block_w = columns}};
  }
  void product(std::string_view part, std::int64_t k, std::int64_t n, const WeightFormat& format,
               std::int64_t cores, DataType out = DataType::bfloat16) {
    if (model_.is_gpt_oss()) {  // its demo leaves the configuration to ttnn
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
    return model_.is_gpt_oss() && columns > kMost ? Storage::dram : Storage::l1;
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

  void attention(const LayerRun& run);

  /// Multiplies what the heads found by the weights of the output.
  void project(std::int64_t k, const WeightFormat& format);

  /// GPT-OSS's demo narrows what its chips add up, cuts the padding off and moves the rows to the
  /// DRAM and back (models/demos/gpt_oss/tt/attention, June 2026).
  void shape_for_sum(const TensorSpec& x);

  static TensorSpec angles(const TensorSpec& x) {
    return interleaved(x.shape.rows(), x.shape.columns());
  }

  /// Writes the keys and values of the token into the cache and looks up what it holds.
  void look_up(const LayerRun& run, std::int64_t heads, std::int64_t groups);

  void feed_forward(const LayerFormats& formats);

  /// Makes of the stream on `in` cores the feed-forward part's sums of a chip on `out` cores.
  void gated_products(std::int64_t wide, const LayerFormats& formats, std::int64_t in,
                      std::int64_t out);

  /// The demo of GPT-OSS has all columns of the stream on each chip.
  void experts_of_replicas(const LayerFormats& formats);

  /// The experts, and beside them the part that all tokens go through.
  void experts(const LayerFormats& formats);

  void mixture(const LayerFormats& formats);

  /// tt_transformers' mixtral_moe.py: each chip multiplies all users' rows by each of its experts,
  /// on eight cores, and weighs by 0 the rows of users who did not choose it.
  void whole_experts(const LayerFormats& formats);

  /// The tokens of all groups go to the groups of their experts and back, over all links of a
  /// Galaxy. A chip reads all its experts that somebody asked for in one kernel: by analogy, one
  /// product as wide as these together.
  void sent_experts(const LayerFormats& formats);

  /// DeepSeek's demo of June 2026 (models/demos/deepseek_v3/tt/mla): the stream's columns lie over
  /// the chips, whose parts of the products down are added up; queries meet the latent rows of the
  /// cache, and chips exchange heads for users around it.
  void latent_attention(const LayerRun& run);

  /// A norm of columns that lie over the chips: each has the sums of its own, which chips gather.
  void norm_of_parts();
  void norm_rows(std::int64_t columns);
  /// Chips show each other their parts, which each adds up.
  void sum_of_parts(std::int64_t columns);
  /// Of rows of its own heads and all users each chip gets those of all heads and its own users.
  void swap_heads(std::int64_t rows, std::int64_t columns);
  void gather_heads(std::int64_t columns);

  /// Each chip keeps the largest of its logits, of which one is drawn, and counts the positions on:
  /// tt_transformers of November 2025.
  void sample(const TensorSpec& logits);
  /// Each chip finds the largest of its logits, of which there are one for each user and chip.
  void find_largest(const TensorSpec& logits);

  void finish_logits(const SpecList& parts);

  std::int64_t residual_cores_ = 1, wide_cores_ = 1;
};

}  // namespace howard::experiments
