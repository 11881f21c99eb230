// SPDX-License-Identifier: Apache-2.0
#include "profiler/silicon/logged_program.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/text.h"
#include "engines/chip/calibration/bands.h"
#include "engines/chip/kernels/planner.h"
#include "engines/chip/kernels/ttnn_names.h"
#include "profiler/silicon/logged_call.h"
#include "profiler/silicon/logged_shards.h"

namespace howard::profiler {
namespace {

using logged::Call;
using logged::program_of;
using logged::refuse;

Program product(const Call& call, const MatmulAttributes& attributes) {
  const TensorSpec& a = call.in(0);
  const TensorSpec& b = call.in(1);
  if (call.inputs() < 3) return make_program(attributes, {a, b}, {call.out()});
  TensorSpec bias = call.in(2);
  // Logs of version 1 have the sides of whole tiles.
  if (bias.shape.rows() == kTileSide) bias.shape = bias.shape.with_rows(1);
  return make_program(attributes, {a, b, bias}, {call.out()});
}

Program matmul(const Call& call) { return product(call, logged::product_attributes(call)); }

/// Returns the side of the tiles that hold `side` numbers.
std::int64_t tiled(std::int64_t side) { return ceil_div(side, kTileSide) * kTileSide; }

/// Reduces in one step, or in several, of which one op makes one.
Program reduce(const Call& call, Reduction reduction, Dimension dimension, bool moreh) {
  const Sides& in = call.in(0).shape.dimensions();
  const Sides& told = call.out().shape.dimensions();
  Sides sides = told;
  for (std::size_t i = 0; i < in.size(); ++i) {
    const Dimension here = i == 3   ? Dimension::columns
                           : i == 2 ? Dimension::rows
                                    : Dimension::batch;
    // A result may call the padding of the operand's tiles its own.
    const bool kept = told[i] == in[i] || (i >= 2 && told[i] == tiled(in[i]));
    // Logs of version 1 have the sides of whole tiles.
    const bool is_one = told[i] == 1 || (i >= 2 && told[i] == kTileSide);
    if (here == dimension && is_one) sides[i] = 1;
    const bool fits = here == dimension ? is_one || (kept && i < 2) : kept;
    if (!fits) {
      refuse(fmt::format("{} to {}", layout_text(call.in(0)), layout_text(call.out())),
             "one dimension that shrinks to one");
    }
  }
  if (call.in(0).layout != Layout::tile || call.out().layout != Layout::tile) {
    refuse("row-major tensors", "tiles");
  }
  TensorSpec out = call.out();
  out.shape = {sides[0], sides[1], sides[2], sides[3]};
  return {.name = name_of(reduction),
          .attributes =
              ReduceAttributes{.reduction = reduction, .dimension = dimension, .moreh = moreh},
          .inputs = {call.in(0)},
          .outputs = {out}};
}

Program reduce_one(const Call& call) {
  const std::string_view op = enumerator(call.attributes.find("math_op").value_or("SUM"));
  const std::string_view dim = enumerator(call.attributes.find("dim").value_or("missing"));
  if (op != "SUM" && op != "MAX") refuse(fmt::format("math_op '{}'", op), "SUM, MAX");
  if (dim != "W" && dim != "H") refuse(fmt::format("dim '{}'", dim), "W, H");
  return reduce(call, op == "SUM" ? Reduction::sum : Reduction::max,
                dim == "W" ? Dimension::columns : Dimension::rows, false);
}

Program reduce_batch(const Call& call) {
  return reduce(call, Reduction::sum, Dimension::batch, false);
}

Program reduce_moreh(const Call& call) {
  const std::string_view dim = call.attributes.find("dim").value_or("missing");
  const bool known = dim == "0" || dim == "1" || dim == "2" || dim == "3";
  if (!known) refuse(fmt::format("dim '{}'", dim), "0 to 3");
  const Reduction reduction = call.code == "MorehMeanOperation" ? Reduction::mean : Reduction::sum;
  return reduce(call, reduction,
                dim == "3"   ? Dimension::columns
                : dim == "2" ? Dimension::rows
                             : Dimension::batch,
                true);
}

/// Returns the op that is told what its fields are, if it has any, of what the log lists.
template <class Kind>
Program as(const Call& call) {
  return program_of(call, Kind{});
}

/// Brings tiles to other places and does nothing else.
constexpr auto move_tiles = as<MoveTilesAttributes>;

/// Moves a tensor to another memory. Both need not have room beside each other: a move within L1
/// may be in place.
constexpr auto move = as<MemoryMoveAttributes>;

Program transpose(const Call& call) {
  const std::string_view dim = enumerator(call.attributes.find("dim").value_or("missing"));
  if (dim == "CN" && call.in(0).layout == Layout::tile) return move_tiles(call);
  return program_of(call, TransposeAttributes{});
}

/// Of row-major tensors the kernel moves the pieces of rows that are together in both: as many as
/// the tensor with the shorter rows has of them.
Program reshape(const Call& call) {
  const TensorSpec& in = call.in(0);
  const TensorSpec& out = call.out();
  const bool rows = in.layout == Layout::row_major && out.layout == Layout::row_major;
  if (!rows) return make_program(ReshapeAttributes{}, {call.in(0)}, {call.out()});
  const bool narrow = in.shape.columns() <= out.shape.columns();
  TensorSpec from = narrow ? in : out, to = from;
  from.storage = in.storage;
  to.storage = out.storage;
  from.sharding.reset();
  to.sharding.reset();
  return make_program(SliceAttributes{.begins = {}, .steps = {1, 1, 1, 1}}, {from}, {to});
}
Program to_layout(const Call& call) {
  TensorSpec in = call.in(0), out = call.out();
  // Logs of version 1 have the sides of whole tiles; rows have their own.
  TensorSpec& tiled = in.layout == Layout::tile ? in : out;
  const TensorSpec& rows = in.layout == Layout::tile ? out : in;
  // Tiles behind all rows are padding.
  const bool has_all =
      tiled.shape.tiles() >= rows.shape.tiles() &&
      tiled.shape.outer() * tiled.shape.heads() == rows.shape.outer() * rows.shape.heads() &&
      tiled.shape.tile_columns() == rows.shape.tile_columns();
  if (has_all || tiled.shape.tiles() == rows.shape.tiles()) tiled.shape = rows.shape;
  return make_program(logged::told(call, LayoutAttributes{.to = out.layout}), {in}, {out});
}

/// A slice may take the padding of tiles along, which the result then calls its own.
Program slice(const Call& call) {
  TensorSpec in = call.in(0);
  const Shape& out = call.out().shape;
  if (in.layout == Layout::tile) {
    if (out.rows() > in.shape.rows()) in.shape = in.shape.with_rows(tiled(in.shape.rows()));
    if (out.columns() > in.shape.columns()) {
      in.shape = in.shape.with_columns(tiled(in.shape.columns()));
    }
  }
  return make_program(logged::told<SliceAttributes>(call), {in}, {call.out()});
}

/// Returns what fills a tensor with a number; what else the call was given is not read.
Program fill(const Call& call) {
  if (call.out().layout != Layout::tile) refuse("row-major tensors", "tiles");
  return {.name = name_of(Eltwise::fill),
          .attributes = EltwiseAttributes{.function = Eltwise::fill, .scalar = 0.0F},
          .inputs = {},
          .outputs = {call.out()}};
}

Program minimal_matmul(const Call& call) {
  auto op = logged::told<MinimalMatmulAttributes>(call, {.subblock_h = 0, .subblock_w = 0});
  // These are ttnn's sub-blocks where the caller gives no configuration.
  const bool wide =
      call.out().shape.columns() >= call.in(0).shape.batch() * call.in(0).shape.rows();
  const bool fp32 = op.compute.fp32_accumulation.value_or(false);
  if (op.subblock_h == 0) op.subblock_h = fp32 || wide ? 2 : 4;
  if (op.subblock_w == 0) op.subblock_w = fp32 || !wide ? 2 : 4;
  return program_of(call, op);
}

/// What is updated is so in place: all operands but the gradient.
template <class Kind>
Program optimizer(const Call& call) {
  std::vector<Operand> inputs, results;
  for (std::size_t i = 0; i < call.inputs(); ++i) {
    inputs.emplace_back(call.in(i));
    if (i != 1) results.emplace_back(call.in(i));
  }
  return make_program(logged::told<Kind>(call), std::move(inputs), std::move(results));
}

Program fused_gelu_backward(const Call& call) {
  return program_of(call, GeluBackwardAttributes{.fused = true});
}

/// TTML's attention sees only what lies before, unless it has a mask or says otherwise.
template <class Kind>
Program ttml_attention(const Call& call) {
  return program_of(call, Kind{.causal = call.inputs() < Kind::kInputs.size()});
}

Program split_heads(const Call& call) {
  if (call.inputs() > 1) return program_of(call, SplitGroupsAttributes{});
  return program_of(call, SplitHeadsAttributes{});
}

/// Of what is repeated otherwise, tiles are brought to other places.
Program repeat(const Call& call) {
  const Shape &in = call.in(0).shape, &out = call.out().shape;
  const bool heads = in.outer() == out.outer() && in.rows() == out.rows() &&
                     in.columns() == out.columns() && out.heads() % in.heads() == 0;
  return heads ? program_of(call, RepeatAttributes{}) : move_tiles(call);
}

/// Of a part other than rows, what is written is moved to the other memory.
Program slice_write(const Call& call) {
  const auto begins = parse_ttnn_list(call.attributes.find("slice_start").value_or(""));
  const bool rows = begins && begins->size() == 4 && call.inputs() > 1 &&
                    call.in(0).shape.with_rows(1) == call.out().shape.with_rows(1) &&
                    (*begins)[0] == 0 && (*begins)[1] == 0 && (*begins)[3] == 0;
  if (!rows) return logged::memory_to_part(call);
  return program_of(call, WriteRowsAttributes{.row = (*begins)[2]});
}

struct Builder {
  std::string_view code;
  Program (*build)(const Call& call);
  bool stands_in = false;
};
constexpr std::array kBuilders{
    Builder{MatmulAttributes::kTtnn, matmul}, Builder{"BinaryNg", logged::binary},
    Builder{"Unary", logged::unary}, Builder{"Reduce", reduce_one},
    Builder{"FastReduceNC", reduce_batch}, Builder{"MorehSum", reduce_moreh},
    Builder{"MorehMean", reduce_moreh}, Builder{TransposeAttributes::kTtnn, transpose},
    Builder{"ReshapeViewDeviceOperation", reshape}, Builder{"Tilize", to_layout},
    Builder{"TilizeWithValPaddingDeviceOperation", to_layout}, Builder{"Untilize", to_layout},
    Builder{"UntilizeWithUnpaddingDeviceOperation", to_layout},
    Builder{SplitHeadsAttributes::kTtnn, split_heads},
    Builder{UpdateCacheAttributes::kTtnn, logged::update_cache},
    Builder{"PagedFusedUpdateCache", logged::update_cache},
    Builder{"UpdateKVCache", logged::update_cache}, Builder{"FillCache", logged::fill_cache},
    Builder{PagedFillCacheAttributes::kTtnn, logged::fill_cache},
    Builder{DecodeAttentionAttributes::kTtnn, logged::decode_attention},
    Builder{"ChunkedScaledDotProductAttention", logged::chunked_attention},
    Builder{AllGatherAttributes::kTtnn, logged::all_gather},
    Builder{"AllGather", logged::all_gather},
    Builder{ReduceScatterAttributes::kTtnn, logged::reduce_scatter},
    Builder{"ReduceScatter", logged::reduce_scatter}, Builder{"AllReduceAsync", logged::all_reduce},
    Builder{"AllReduce", logged::all_reduce},
    Builder{AllToAllDispatchAttributes::kTtnn, logged::all_to_all_dispatch},
    Builder{AllToAllCombineAttributes::kTtnn, logged::all_to_all_combine},
    Builder{SparseMatmulAttributes::kTtnn, logged::sparse_matmul},
    Builder{CumsumAttributes::kTtnn, logged::running_sums}, Builder{"UnarySharded", logged::unary},
    Builder{"AllGatherMatmulAsync", logged::all_gather_matmul},
    Builder{"AllGatherMatmul", logged::all_gather_matmul},
    Builder{"AllGatherMinimalMatmulAsync", logged::all_gather_matmul},
    Builder{"LlamaAllGatherMatmulAsync", logged::all_gather_matmul},
    Builder{"MatmulReduceScatterAsync", logged::matmul_reduce_scatter},
    Builder{Conv2dAttributes::kTtnn, logged::convolution},
    Builder{HaloAttributes::kTtnn, logged::halo}, Builder{Pool2dAttributes::kTtnn, logged::pool},
    Builder{UpsampleAttributes::kTtnn, logged::upsample},
    Builder{GroupNormAttributes::kTtnn, logged::group_norm},
    Builder{SoftmaxAttributes::kTtnn, logged::softmax},
    Builder{"MorehSoftmaxOperation", logged::softmax},
    Builder{LayernormAttributes::kTtnn, logged::layernorm},
    Builder{GeluBackwardAttributes::kTtnn, fused_gelu_backward},
    Builder{TtmlAttentionAttributes::kTtnn, ttml_attention<TtmlAttentionAttributes>},
    Builder{AttentionBackwardQAttributes::kTtnn, ttml_attention<AttentionBackwardQAttributes>},
    Builder{AttentionBackwardKvAttributes::kTtnn, ttml_attention<AttentionBackwardKvAttributes>},
    Builder{AdamWAttributes::kTtnn, optimizer<AdamWAttributes>},
    Builder{SgdAttributes::kTtnn, optimizer<SgdAttributes>}, Builder{"Ternary", logged::ternary},
    Builder{"SiLUBackward", logged::silu_backward},
    Builder{"TypecastDeviceOperation", logged::cast},
    Builder{"InterleavedToShardedDeviceOperation", move},
    Builder{"ShardedToInterleavedDeviceOperation", move}, Builder{"ReshardDeviceOperation", move},
    Builder{"CopyDeviceOperation", move}, Builder{"MoveDeviceOperation", move},
    Builder{"NlpCreateHeadsSegformer", move_tiles}, Builder{"NlpCreateHeadsFalcon7B", move_tiles},
    Builder{"NlpCreateHeadsVit", move_tiles}, Builder{"SplitFusedQKVAndSplitHeads", move_tiles},
    Builder{"NlpKVCacheLoadSlice", move_tiles}, Builder{RepeatAttributes::kTtnn, repeat},
    Builder{"CloneOperation", move}, Builder{"AssignOperation", move},
    Builder{"ExpandDeviceOperation", move_tiles}, Builder{"BcastToOperation", move_tiles},
    Builder{"FullOperation", fill}, Builder{"FullLikeOperation", fill},
    Builder{MinimalMatmulAttributes::kTtnn, minimal_matmul},
    Builder{AttentionAttributes::kTtnn, logged::attention},
    Builder{TopkAttributes::kTtnn, logged::topk},
    Builder{SamplingAttributes::kTtnn, logged::sampling},
    Builder{"RotaryEmbeddingLlama", logged::rotary},
    Builder{"RotaryEmbeddingLlamaFusedQk", logged::rotary},
    Builder{"RotaryEmbedding", logged::rotary},
    Builder{ConcatAttributes::kTtnn, as<ConcatAttributes>}, Builder{SliceAttributes::kTtnn, slice},
    Builder{PadAttributes::kTtnn, as<PadAttributes>},
    Builder{PermuteAttributes::kTtnn, as<PermuteAttributes>},
    Builder{ScatterAttributes::kTtnn, logged::scatter},
    // From here on the emulator has no such op, and another one stands for it.
    Builder{"LayerNormPreAllGather", logged::statistics_of_norm, true},
    Builder{"RMSNormPreAllGather", logged::statistics_of_norm, true},
    Builder{"FusedRMSNormPreAllGather", logged::statistics_of_norm, true},
    Builder{"LayerNormPostAllGather", logged::norm_of_statistics, true},
    Builder{"RMSNormPostAllGather", logged::norm_of_statistics, true},
    Builder{"FusedRMSNormPostAllGather", logged::norm_of_statistics, true},
    Builder{"FusedRmsnormPostAllGather", logged::norm_of_statistics, true},
    Builder{"RMSAllGather", logged::norm_of_statistics, true},
    Builder{"DistributedLayerNorm", logged::layernorm, true},
    Builder{"MorehLayerNorm", logged::layernorm, true},
    Builder{"MorehBiasAddBackward", logged::sum_of_rows, true},
    Builder{"MorehLinearBackward", logged::sum_of_rows, true},
    Builder{"MorehAdam", optimizer<AdamWAttributes>, true},
    Builder{"AdamW", optimizer<AdamWAttributes>, true},
    Builder{"AdamWFused", optimizer<AdamWAttributes>, true},
    Builder{"MorehSGD", optimizer<SgdAttributes>, true}, Builder{"ProdNc", reduce_batch, true},
    Builder{"Rand", logged::random, true}, Builder{"Uniform", logged::random, true},
    Builder{"Bernoulli", logged::random, true}, Builder{"Arange", fill, true},
    Builder{"FillRM", fill, true}, Builder{"FillPad", logged::fill_padding, true},
    Builder{"RotateHalf", move_tiles, true}, Builder{"IntImg", logged::integral_image, true},
    Builder{"LlamaReduceScatter", logged::scatter_at_once, true},
    Builder{"LlamaReduceScatterCreateHeads", logged::scatter_heads, true},
    Builder{"AllReduceCreateQkvHeads", logged::all_reduce, true},
    Builder{"Split", logged::all_parts, true}, Builder{"PaddedSlice", logged::part_to_memory, true},
    Builder{"InterleavedToShardedPartial", logged::part_to_memory, true},
    Builder{"ShardedToInterleavedPartial", logged::memory_to_part, true},
    Builder{WriteRowsAttributes::kTtnn, slice_write, true},
    Builder{"MeshPartition", logged::part_to_memory, true}, Builder{"NdReshard", move, true},
    Builder{"ReduceScatterAsync", logged::reduce_scatter, true},
    Builder{"AllBroadcast", logged::all_reduce, true},
    Builder{"AllGatherConcat", logged::gather_heads, true},
    Builder{"GridSample", logged::grid_sample, true},
    Builder{"JointSDPA", logged::joint_attention, true},
    Builder{"JointScaledDotProductAttention", logged::joint_attention, true}};

}  // namespace

namespace {

/// Says whether no time depends on an attribute: tensors say it too, only the host sees it, or it
/// is as it usually is.
bool is_harmless(std::string_view name, std::string_view value) {
  constexpr std::array<std::string_view, 18> kNames{
      "bcast_batch",      "embeddings_type", "enough_space_height",    "enough_space_width",
      "head_dim",         "is_sfpu",         "m_num_repeats",          "m_repeat_dim",
      "num_slices",       "output_tile",     "output_tensor_end",      "seq_len",
      "slice_end",        "softmax_type",    "subtile_broadcast_type", "tilized",
      "user_run_batched", "worker_grid"};
  constexpr std::array<std::string_view, 4> kEnds{"mem_config", "memory_config", "dtype",
                                                  "_layout"};
  if (std::ranges::find(kNames, name) != kNames.end()) return true;
  if (name.find("_layout_") != std::string_view::npos ||
      name.find("shape") != std::string_view::npos) {
    return true;
  }
  if (std::ranges::any_of(kEnds, [&](std::string_view end) { return name.ends_with(end); })) {
    return true;
  }
  const bool is_default =
      value.find("Default") != std::string_view::npos || value.ends_with("NOT_DISTRIBUTED");
  return is_default || (name == "use_pack_untilize" && value == "true");
}

std::vector<std::string> unread_of(const OpAttributes& attributes) {
  std::vector<std::string> names;
  for (const auto& [name, value] : attributes.unread()) {
    if (!is_harmless(name, value)) names.emplace_back(name);
  }
  return names;
}

}  // namespace

MatmulAttributes logged::product_attributes(const Call& call) {
  auto op = told<MatmulAttributes>(call);
  if (op.config) {
    op.core_grid.reset();
    // What the caller asked for and the configuration has not is a program of its own.
    const auto function = call.attributes.member("program_config", "fused_activation");
    const auto chain = parse_ttnn_chain(function.value_or(""));
    if (function) op.activation.reset();
    if (chain.size() == 1) op.activation = chain.front();
  }
  return op;
}

std::optional<LoggedProgram> logged_program(const OpRow& row) {
  if (row.name.empty()) return std::nullopt;
  const std::string_view stem = chip::stem_of(row.name);
  const auto builder = std::ranges::find(
      kBuilders, stem, [](const Builder& one) { return chip::stem_of(one.code); });
  if (builder != kBuilders.end()) {
    const Call call(row);
    Program program = builder->build(call);
    const bool stands_in =
        builder->stands_in && !std::holds_alternative<WriteRowsAttributes>(program.attributes);
    return LoggedProgram{std::move(program), stands_in, unread_of(call.attributes)};
  }
  const auto op = std::ranges::find(
      all_ops(), stem, [](const Attributes& one) { return chip::stem_of(ttnn_name_of(one)); });
  if (op == all_ops().end()) return std::nullopt;
  const Call call(row);
  Program program = program_of(call, *op);
  return LoggedProgram{std::move(program), false, unread_of(call.attributes)};
}

void UnreadAttributes::add(std::string_view op, std::span<const std::string> names,
                           std::uint64_t programs) {
  for (const std::string& name : names) {
    programs_[fmt::format("{} of {}", name, chip::stem_of(op))] += programs;
  }
}

std::string UnreadAttributes::note() const {
  constexpr std::size_t kMost = 6;
  std::vector<std::pair<std::uint64_t, std::string>> names;
  for (const auto& [name, programs] : programs_) names.emplace_back(programs, name);
  std::ranges::stable_sort(names, std::greater(), [](const auto& one) { return one.first; });
  std::string text;
  for (std::size_t i = 0; i < std::min(kMost, names.size()); ++i) {
    text += fmt::format("{}{} ({})", i > 0 ? ", " : "", names[i].second, names[i].first);
  }
  if (names.empty()) return text;
  if (names.size() > kMost) text += fmt::format(" and {} more", names.size() - kMost);
  return "attributes that nothing reads, on which times may depend (programs): " + text;
}

std::optional<Program> plain_product(const OpRow& row) {
  try {
    const Call call(row);
    MatmulAttributes plain{.transpose_a = call.attributes.flag("transpose_a").value_or(false),
                           .transpose_b = call.attributes.flag("transpose_b").value_or(false)};
    if (!row.fidelity.empty()) plain.compute.fidelity = parse_math_fidelity(row.fidelity);
    return product(call, plain);
  } catch (const Error&) {
    return std::nullopt;
  }
}

PlannedCall plan_call(const LoggedProgram& logged, CoreGrid grid, const chip::Profiles& profiles) {
  PlannedCall call{.planned = chip::plan_program(logged.program, grid, profiles)};
  const std::string& chip = profiles.chip.architecture;
  call.band = logged.stands_in ? &calibration::analogy_band(chip)
                               : &calibration::band_of(call.planned, chip);
  return call;
}

std::string reason_of(const Error& failure) {
  const ErrorText& text = failure.text();
  return text.accepted.empty() ? text.value
                               : fmt::format("{}; accepted: {}", text.value, text.accepted);
}

std::optional<CoreGrid> logged_grid(const OpRow& row, const chip::ChipProfile& chip) {
  if (const auto told = OpAttributes(row.attributes).find("worker_grid")) {
    const auto grid = parse_ttnn_range(*told);
    if (!grid) refuse(fmt::format("worker_grid '{}'", *told), "one range from the first core on");
    return grid;
  }
  if (!row.worker_cores) return std::nullopt;
  // What is harvested, or dispatches, are rows or columns of the chip: the other side stays.
  const int side = chip.dispatch_takes_row ? chip.tensix.columns : chip.tensix.rows;
  const std::int64_t cores = *row.worker_cores;
  constexpr int kMostHarvested = 2;
  // Models limit the grid of a larger chip to the 8 columns of Wormhole.
  constexpr int kWormholeColumns = 8;
  const bool is_limited = !chip.dispatch_takes_row && cores % side != 0 && cores > 0 &&
                          cores % kWormholeColumns == 0 && cores <= kWormholeColumns * side;
  if (is_limited) return CoreGrid{kWormholeColumns, static_cast<int>(cores) / kWormholeColumns};
  const int most =
      (chip.dispatch_takes_row ? chip.tensix.rows : chip.tensix.columns) + kMostHarvested;
  if (cores < side || cores > side * most || cores % side != 0) {
    refuse(fmt::format("{} worker cores", cores),
           fmt::format("{} of {}, as {} has", chip.dispatch_takes_row ? "rows" : "columns", side,
                       chip.name));
  }
  const int others = static_cast<int>(cores) / side;
  return chip.dispatch_takes_row ? CoreGrid{side, others} : CoreGrid{others, side};
}

CoreGrid usual_grid(const chip::ChipProfile& chip) {
  return chip.dispatch_takes_row ? chip.eth_grid : chip.worker_grid;
}

CoreGrid grid_by_use(std::int64_t used_cores, const chip::ChipProfile& chip) {
  for (const CoreGrid grid : {chip.eth_grid, chip.worker_grid}) {
    if (grid.cores() == used_cores) return grid;
  }
  return usual_grid(chip);
}

}  // namespace howard::profiler
