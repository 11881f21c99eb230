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
#include "engines/program/fields.h"
#include "profiler/silicon/logged_call.h"
#include "profiler/silicon/logged_shards.h"

namespace howard::profiler {
namespace {

namespace operation = chip::operation;
using logged::Call;
using logged::enumerator;
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

/// Reduces in one step, or in several, of which one op makes one.
Program reduce(const Call& call, Reduction reduction, Dimension dimension, bool moreh) {
  const Sides& in = call.in(0).shape.dimensions();
  const Sides& told = call.out().shape.dimensions();
  Sides sides = told;
  for (std::size_t i = 0; i < in.size(); ++i) {
    const Dimension here = i == 3   ? Dimension::columns
                           : i == 2 ? Dimension::rows
                                    : Dimension::batch;
    const bool kept = told[i] == in[i];
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
  const Reduction reduction = call.code == operation::kMorehMean ? Reduction::mean : Reduction::sum;
  return reduce(call, reduction,
                dim == "3"   ? Dimension::columns
                : dim == "2" ? Dimension::rows
                             : Dimension::batch,
                true);
}

/// Returns an op of one result that is told nothing on which its time depends.
template <auto kOp>
Program untold(const Call& call) {
  std::vector<Operand> inputs;
  for (const OperandRole& role : kOp.kInputs) {
    if (!role.is_optional) inputs.emplace_back(call.in(inputs.size()));
  }
  return make_program(kOp, std::move(inputs), {call.out()});
}

/// Brings tiles to other places and does nothing else.
constexpr auto move_tiles = untold<MoveTilesAttributes{}>;

/// Moves a tensor to another memory. Both need not have room beside each other: a move within L1
/// may be in place.
constexpr auto move = untold<MemoryMoveAttributes{}>;

Program transpose(const Call& call) {
  const std::string_view dim = enumerator(call.attributes.find("dim").value_or("missing"));
  if (dim == "CN" && call.in(0).layout == Layout::tile) return move_tiles(call);
  if (dim != "WH" && dim != "HC") refuse(fmt::format("dim '{}'", dim), "WH, HC, CN of tiles");
  return make_program(
      TransposeAttributes{.swap = dim == "WH" ? Swap::rows_columns : Swap::heads_rows},
      {call.in(0)}, {call.out()});
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
  return make_program(LayoutAttributes{.to = out.layout}, {in}, {out});
}

Program concat(const Call& call) {
  const auto dim = parse_integer(call.attributes.find("dim").value_or("3"));
  if (!dim || *dim < 0 || *dim > 3) refuse("no dimension", "dim 0 to 3");
  std::vector<Operand> parts;
  for (std::size_t i = 0; i < call.inputs(); ++i) parts.emplace_back(call.in(i));
  if (parts.empty()) refuse("no inputs", "what is put side by side");
  return make_program(ConcatAttributes{.dimension = static_cast<int>(*dim)}, std::move(parts),
                      {call.out()});
}

/// Returns the four numbers of a list like "Shape([0; 0; 32; 0])"; absent when there are others.
std::optional<Sides> four_numbers(std::optional<std::string_view> text) {
  if (!text) return std::nullopt;
  const std::size_t open = text->find('[');
  const std::size_t close = text->find(']');
  if (open == std::string_view::npos || close == std::string_view::npos) return std::nullopt;
  const std::vector<std::string> parts = split(text->substr(open + 1, close - open - 1), ';');
  Sides sides{};
  if (parts.size() > sides.size()) return std::nullopt;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const std::size_t begin = parts[i].find_first_not_of(' ');
    const auto number =
        parse_integer(begin == std::string::npos ? "" : std::string_view(parts[i]).substr(begin));
    if (!number) return std::nullopt;
    sides.at(sides.size() - parts.size() + i) = *number;
  }
  return sides;
}

Program slice(const Call& call) {
  const auto begins = four_numbers(call.attributes.find("slice_start"));
  if (!begins) refuse("no slice_start among its attributes", "one of four numbers at the most");
  Sides steps{1, 1, 1, 1};
  if (const auto given = four_numbers(call.attributes.find("step"))) {
    for (std::size_t i = 0; i < steps.size(); ++i)
      steps.at(i) = std::max<std::int64_t>(1, (*given)[i]);
  }
  return make_program(SliceAttributes{.begins = *begins, .steps = steps}, {call.in(0)},
                      {call.out()});
}

Program pad(const Call& call) {
  const auto before = four_numbers(call.attributes.find("input_tensor_start"));
  return make_program(PadAttributes{.before = before.value_or(Sides{}), .value = 0}, {call.in(0)},
                      {call.out()});
}

Program permute(const Call& call) {
  const auto dims = four_numbers(call.attributes.find("dims"));
  if (!dims) refuse("no dims among its attributes", "four numbers");
  std::array<int, 4> order{};
  for (std::size_t i = 0; i < order.size(); ++i) order.at(i) = static_cast<int>((*dims)[i]);
  return make_program(PermuteAttributes{.order = order}, {call.in(0)}, {call.out()});
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
  const ComputeConfig compute = logged::compute_of(call);
  // These are ttnn's sub-blocks where the caller gives no configuration.
  const bool wide =
      call.out().shape.columns() >= call.in(0).shape.batch() * call.in(0).shape.rows();
  const bool fp32 = compute.fp32_accumulation.value_or(false);
  const MinimalMatmulAttributes attributes{
      .block_m = logged::member_or(call, "config", "M_block_size", 8),
      .block_k = logged::member_or(call, "config", "K_block_size", 8),
      .block_n = logged::member_or(call, "config", "N_block_size", 8),
      .subblock_h = logged::member_or(call, "config", "subblock_h", fp32 || wide ? 2 : 4),
      .subblock_w = logged::member_or(call, "config", "subblock_w", fp32 || !wide ? 2 : 4),
      .core_grid = logged::configured_grid(call.attributes.find("config").value_or("")),
      .compute = compute,
      .activation = logged::activation_of(call, "fused_activation")};
  if (call.inputs() < 3) {
    return make_program(attributes, {call.in(0), call.in(1)}, {call.out()});
  }
  return make_program(attributes, {call.in(0), call.in(1), call.in(2)}, {call.out()});
}

Program adamw(const Call& call) {
  const TensorSpec& parameter = call.in(0);
  const TensorSpec& moment = call.in(2);
  return make_program(AdamWAttributes{}, {parameter, call.in(1), moment, moment},
                      {parameter, moment, moment});
}

Program sgd(const Call& call) {
  const std::string_view momentum = call.attributes.find("momentum").value_or("0");
  const std::string_view decay = call.attributes.find("weight_decay").value_or("0");
  const auto is_set = [](std::string_view number) {
    return number.find_first_of("123456789") != std::string_view::npos ? 1.0F : 0.0F;
  };
  const SgdAttributes attributes{.momentum = is_set(momentum),
                                 .weight_decay = is_set(decay),
                                 .nesterov = call.attributes.flag("nesterov").value_or(false)};
  std::vector<Operand> kept{call.in(0)};
  if (attributes.momentum != 0) kept.emplace_back(call.in(0));
  std::vector<Operand> inputs = kept;
  inputs.insert(inputs.begin() + 1, call.in(1));
  return make_program(attributes, std::move(inputs), std::move(kept));
}

/// A log has no columns for the fourth operand, which is like the second.
Program swiglu(const Call& call) {
  const TensorSpec& gate = call.in(1);
  return make_program(SwigluAttributes{}, {call.in(0), gate, call.in(2), gate}, {call.out()});
}

Program swiglu_backward(const Call& call) {
  return make_program(SwigluBackwardAttributes{}, {call.in(0), call.in(1), call.in(2)},
                      {call.out(), call.in(1)});
}

/// Returns an op of one result whose fields ttnn prints by the names that they have here.
Program op_of(const Call& call, Attributes op) {
  for (const std::string_view field : field_names(op)) {
    const auto value = call.attributes.find(field);
    if (value) read_fields(op, fmt::format("{}={}", field, *value));
  }
  std::vector<Operand> inputs;
  for (std::size_t i = 0; i < call.inputs(); ++i) inputs.push_back(call.in(i));
  return make_program(op, std::move(inputs), {call.out()});
}

struct Builder {
  std::string_view code;
  Program (*build)(const Call& call);
  logged::Numbers numbers = logged::Numbers::computed;
  bool stands_in = false;
};
constexpr auto kMoved = logged::Numbers::moved;
constexpr auto kComputed = logged::Numbers::computed;
constexpr std::array kBuilders{
    Builder{operation::kMatmul, matmul}, Builder{operation::kBinary, logged::binary},
    Builder{operation::kUnary, logged::unary}, Builder{operation::kReduce, reduce_one},
    Builder{operation::kReduceBatch, reduce_batch}, Builder{operation::kMorehSum, reduce_moreh},
    Builder{operation::kMorehMean, reduce_moreh}, Builder{operation::kTranspose, transpose, kMoved},
    Builder{"ReshapeViewDeviceOperation", reshape, kMoved},
    Builder{operation::kTilize, to_layout, kMoved},
    Builder{"TilizeWithValPaddingDeviceOperation", to_layout, kMoved},
    Builder{operation::kUntilize, to_layout, kMoved},
    Builder{"UntilizeWithUnpaddingDeviceOperation", to_layout, kMoved},
    Builder{operation::kConcat, concat, kMoved},
    Builder{operation::kSplitHeads, logged::split_heads},
    Builder{SplitHeadsDecodeAttributes::kTtnn, logged::split_heads_decode},
    Builder{ConcatHeadsAttributes::kTtnn, logged::concat_heads},
    Builder{ConcatHeadsDecodeAttributes::kTtnn, logged::concat_heads_decode},
    Builder{operation::kUpdateCache, logged::update_cache},
    Builder{"PagedFusedUpdateCache", logged::update_cache},
    Builder{"UpdateKVCache", logged::update_cache}, Builder{"FillCache", logged::fill_cache},
    Builder{PagedFillCacheAttributes::kTtnn, logged::fill_cache},
    Builder{operation::kDecodeAttention, logged::decode_attention},
    Builder{"ChunkedScaledDotProductAttention", logged::chunked_attention},
    Builder{operation::kAllGather, logged::all_gather}, Builder{"AllGather", logged::all_gather},
    Builder{operation::kReduceScatter, logged::reduce_scatter},
    Builder{"ReduceScatter", logged::reduce_scatter}, Builder{"AllReduceAsync", logged::all_reduce},
    Builder{"AllReduce", logged::all_reduce},
    Builder{CumsumAttributes::kTtnn, logged::running_sums, kMoved},
    Builder{"UnarySharded", logged::unary},
    Builder{"AllGatherMatmulAsync", logged::all_gather_matmul},
    Builder{"AllGatherMatmul", logged::all_gather_matmul},
    Builder{"AllGatherMinimalMatmulAsync", logged::all_gather_matmul},
    Builder{"LlamaAllGatherMatmulAsync", logged::all_gather_matmul},
    Builder{"MatmulReduceScatterAsync", logged::matmul_reduce_scatter},
    Builder{operation::kConv2d, logged::convolution}, Builder{HaloAttributes::kTtnn, logged::halo},
    Builder{Pool2dAttributes::kTtnn, logged::pool},
    Builder{UpsampleAttributes::kTtnn, logged::upsample},
    Builder{FoldAttributes::kTtnn, logged::fold},
    Builder{GroupNormAttributes::kTtnn, logged::group_norm},
    Builder{operation::kSoftmax, logged::softmax},
    Builder{"MorehSoftmaxOperation", logged::softmax},
    Builder{operation::kSoftmaxBackward, logged::softmax_backward},
    Builder{operation::kLayernorm, logged::layernorm},
    Builder{operation::kTtmlLayernorm, logged::ttml_layernorm},
    Builder{LayernormBackwardAttributes::kTtnn, logged::layernorm_backward},
    Builder{operation::kGeluBackward, untold<GeluBackwardAttributes{.fused = true}>},
    Builder{operation::kCrossEntropy, untold<CrossEntropyAttributes{}>},
    Builder{operation::kCrossEntropyBackward, untold<CrossEntropyBackwardAttributes{}>},
    Builder{operation::kNllLoss, untold<CrossEntropyAttributes{.of_logarithms = true}>},
    Builder{operation::kDropout, untold<DropoutAttributes{}>}, Builder{operation::kAdamW, adamw},
    Builder{operation::kSgd, sgd}, Builder{SwigluAttributes::kTtnn, swiglu},
    Builder{SwigluBackwardAttributes::kTtnn, swiglu_backward},
    Builder{operation::kTernary, logged::ternary},
    Builder{operation::kSiluBackward, logged::silu_backward},
    Builder{"TypecastDeviceOperation", logged::cast}, Builder{operation::kSlice, slice, kMoved},
    Builder{operation::kPad, pad, kMoved}, Builder{operation::kPermute, permute, kMoved},
    Builder{"InterleavedToShardedDeviceOperation", move, kMoved},
    Builder{"ShardedToInterleavedDeviceOperation", move, kMoved},
    Builder{"ReshardDeviceOperation", move, kMoved}, Builder{"CopyDeviceOperation", move, kMoved},
    Builder{"MoveDeviceOperation", move, kMoved},
    Builder{"NlpCreateHeadsSegformer", move_tiles, kMoved},
    Builder{"NlpCreateHeadsFalcon7B", move_tiles, kMoved},
    Builder{"NlpCreateHeadsVit", move_tiles, kMoved},
    Builder{"SplitFusedQKVAndSplitHeads", move_tiles, kMoved},
    Builder{"NlpKVCacheLoadSlice", move_tiles, kMoved},
    Builder{operation::kRepeat, move_tiles, kMoved}, Builder{"CloneOperation", move, kMoved},
    Builder{"AssignOperation", move, kMoved}, Builder{"ExpandDeviceOperation", move_tiles, kMoved},
    Builder{"BcastToOperation", move_tiles, kMoved}, Builder{"FullOperation", fill},
    Builder{"FullLikeOperation", fill}, Builder{operation::kMinimalMatmul, minimal_matmul},
    Builder{operation::kAttention, logged::attention},
    Builder{operation::kTtmlAttention, logged::ttml_attention},
    Builder{operation::kAttentionBackwardQ, logged::attention_backward},
    Builder{operation::kAttentionBackwardKv, logged::attention_backward},
    Builder{operation::kTtmlRmsNorm, logged::ttml_rms_norm},
    Builder{RmsNormBackwardAttributes::kTtnn, logged::rms_norm_backward},
    Builder{ArgmaxAttributes::kTtnn, logged::argmax}, Builder{TopkAttributes::kTtnn, logged::topk},
    Builder{SamplingAttributes::kTtnn, logged::sampling},
    Builder{PlusOneAttributes::kTtnn, logged::plus_one},
    Builder{operation::kRotaryPairs, logged::rotary},
    Builder{"RotaryEmbeddingLlamaFusedQk", logged::rotary},
    Builder{operation::kRotaryHalves, logged::rotary},
    // From here on the emulator has no such op, and another one stands for it.
    Builder{"LayerNormPreAllGather", logged::statistics_of_norm, kComputed, true},
    Builder{"RMSNormPreAllGather", logged::statistics_of_norm, kComputed, true},
    Builder{"FusedRMSNormPreAllGather", logged::statistics_of_norm, kComputed, true},
    Builder{"LayerNormPostAllGather", logged::norm_of_statistics, kComputed, true},
    Builder{"RMSNormPostAllGather", logged::norm_of_statistics, kComputed, true},
    Builder{"FusedRMSNormPostAllGather", logged::norm_of_statistics, kComputed, true},
    Builder{"FusedRmsnormPostAllGather", logged::norm_of_statistics, kComputed, true},
    Builder{"RMSAllGather", logged::norm_of_statistics, kComputed, true},
    Builder{"DistributedLayerNorm", logged::layernorm, kComputed, true},
    Builder{"MorehLayerNorm", logged::layernorm, kComputed, true},
    Builder{"MorehBiasAddBackward", logged::sum_of_rows, kComputed, true},
    Builder{"MorehLinearBackward", logged::sum_of_rows, kComputed, true},
    Builder{"MorehAdam", adamw, kComputed, true}, Builder{"AdamW", adamw, kComputed, true},
    Builder{"AdamWFused", adamw, kComputed, true}, Builder{"MorehSGD", sgd, kComputed, true},
    Builder{"ProdNc", reduce_batch, kComputed, true},
    Builder{"Rand", logged::random, kComputed, true},
    Builder{"Uniform", logged::random, kComputed, true},
    Builder{"Bernoulli", logged::random, kComputed, true}, Builder{"Arange", fill, kMoved, true},
    Builder{"FillRM", fill, kMoved, true}, Builder{"RotateHalf", move_tiles, kMoved, true},
    Builder{"IntImg", logged::integral_image, kMoved, true},
    Builder{"LlamaReduceScatter", logged::reduce_scatter, kComputed, true},
    Builder{"LlamaReduceScatterCreateHeads", logged::scatter_heads, kComputed, true},
    Builder{"AllReduceCreateQkvHeads", logged::all_reduce, kComputed, true},
    Builder{"Split", logged::all_parts, kMoved, true},
    Builder{"PaddedSlice", logged::part_to_memory, kMoved, true},
    Builder{"InterleavedToShardedPartial", logged::part_to_memory, kMoved, true},
    Builder{"ShardedToInterleavedPartial", logged::memory_to_part, kMoved, true},
    Builder{operation::kSliceWrite, logged::memory_to_part, kMoved, true},
    Builder{"MeshPartition", logged::part_to_memory, kMoved, true},
    Builder{"NdReshard", move, kMoved, true},
    Builder{"ReduceScatterAsync", logged::reduce_scatter, kComputed, true},
    Builder{"AllBroadcast", logged::all_reduce, kComputed, true},
    Builder{"AllGatherConcat", logged::gather_heads, kComputed, true},
    Builder{"GridSample", logged::grid_sample, kComputed, true},
    Builder{"JointSDPA", logged::joint_attention, kComputed, true},
    Builder{"JointScaledDotProductAttention", logged::joint_attention, kComputed, true}};

}  // namespace

MatmulAttributes logged::product_attributes(const Call& call) {
  MatmulAttributes attributes;
  attributes.transpose_a = call.attributes.flag("transpose_a").value_or(false);
  attributes.transpose_b = call.attributes.flag("transpose_b").value_or(false);
  attributes.core_grid = call.attributes.core_grid("user_core_coord");
  attributes.compute = logged::compute_of(call);
  attributes.activation = logged::activation_of(call, "user_fused_activation");
  attributes.config = logged::matmul_config(call.attributes);
  if (attributes.config) {
    attributes.core_grid.reset();
    const auto chain = logged::chain_of(logged::config_activation(call.attributes));
    if (chain.size() == 1) attributes.activation = chain.front();
  }
  return attributes;
}

std::optional<LoggedProgram> logged_program(const OpRow& row) {
  if (row.name.empty()) return std::nullopt;
  const std::string_view stem = chip::stem_of(row.name);
  const auto builder = std::ranges::find(
      kBuilders, stem, [](const Builder& one) { return chip::stem_of(one.code); });
  if (builder != kBuilders.end()) {
    return LoggedProgram{builder->build(Call(row, builder->numbers)), builder->stands_in};
  }
  const auto op = std::ranges::find(
      all_ops(), stem, [](const Attributes& one) { return chip::stem_of(ttnn_name_of(one)); });
  if (op == all_ops().end()) return std::nullopt;
  return LoggedProgram{op_of(Call(row), *op)};
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
  if (const auto grid = OpAttributes(row.attributes).core_range("worker_grid")) return grid;
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

}  // namespace howard::profiler
