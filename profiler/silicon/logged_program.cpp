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
#include "engines/ops/adamw.h"
#include "engines/ops/check.h"
#include "engines/ops/cross_entropy.h"
#include "engines/ops/dropout.h"
#include "engines/ops/eltwise.h"
#include "engines/ops/embedding.h"
#include "engines/ops/heads.h"
#include "engines/ops/layernorm.h"
#include "engines/ops/matmul.h"
#include "engines/ops/reshape.h"
#include "engines/ops/softmax.h"
#include "engines/ops/transpose.h"
#include "engines/wormhole/ttnn_names.h"
#include "profiler/silicon/op_attributes.h"

namespace howard::profiler {
namespace {

namespace operation = wormhole::operation;
using ops::Tensor;

/// What is told of a call that the emulator cannot run.
[[noreturn]] void refuse(std::string value, std::string accepted) {
  throw Error({.attempted = "emulate it",
               .value = std::move(value),
               .accepted = std::move(accepted),
               .hint = ""});
}

/// "32[19]" is 19, padded to 32; "32", of version 1, is 32.
std::int64_t dimension_of(std::string_view cell) {
  const std::size_t bracket = cell.find('[');
  const bool both = bracket != std::string_view::npos && cell.ends_with(']');
  const std::string_view logical =
      both ? cell.substr(bracket + 1, cell.size() - bracket - 2) : cell;
  const auto value = parse_integer(logical);
  if (!value) refuse(fmt::format("a dimension '{}'", cell), "32[19] or 32");
  return *value;
}

std::string lower_case(std::string_view text) {
  std::string lower(text);
  std::ranges::transform(lower, lower.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  });
  return lower;
}

TensorSpec spec_of(const TensorCells& cells) {
  std::array<std::int64_t, 4> sides{};
  for (std::size_t i = 0; i < sides.size(); ++i) {
    sides[i] = cells.dimensions[i].empty() ? 1 : dimension_of(cells.dimensions[i]);
  }
  const bool dram = cells.memory.empty() || cells.memory.ends_with("_DRAM_INTERLEAVED");
  const bool l1 = cells.memory.ends_with("_L1_INTERLEAVED");
  if (!dram && !l1) {
    const bool sharded = cells.memory.ends_with("_SHARDED");
    refuse(fmt::format("{} is {}", cells.memory,
                       sharded ? "sharded" : "storage that the emulator does not have"),
           "tensors interleaved over DRAM or L1");
  }
  const bool rows = cells.layout.starts_with("ROW_MAJOR");
  if (!rows && cells.layout != "TILE") {
    refuse(fmt::format("layout '{}'", cells.layout), "TILE, ROW_MAJOR");
  }
  return {.shape = {sides[0], sides[1], sides[2], sides[3]},
          .dtype = parse_data_type(lower_case(cells.datatype)),
          .layout = rows ? Layout::row_major : Layout::tile,
          .storage = dram ? Storage::dram : Storage::l1};
}

/// A row, taken apart.
class Call {
 public:
  Call(const OpRow& row, Device& device)
      : code(row.name), attributes(row.attributes), fidelity(row.fidelity), device_(device) {
    for (const TensorCells& cells : row.inputs) inputs_.push_back(spec_of(cells));
    for (const TensorCells& cells : row.outputs) outputs_.push_back(spec_of(cells));
    if (outputs_.empty()) refuse("no output", "OUTPUT_0_X and its other columns");
  }

  std::string_view code;
  OpAttributes attributes;
  std::string_view fidelity;

  std::size_t inputs() const { return inputs_.size(); }
  /// Error when the row has fewer.
  const TensorSpec& in(std::size_t i) const {
    if (i >= inputs_.size()) refuse(fmt::format("{} inputs", inputs_.size()), "more of them");
    return inputs_[i];
  }
  const TensorSpec& out() const { return outputs_.front(); }

  Tensor make(const TensorSpec& spec) const { return Tensor(device_, spec); }
  Tensor input(std::size_t i) const { return make(in(i)); }
  Tensor output() const { return make(out()); }

 private:
  Device& device_;
  std::vector<TensorSpec> inputs_, outputs_;
};

/// What stands behind the "::" of an enumerator: "BinaryOpType::ADD", or "op_type=...::ERF;".
std::string_view enumerator(std::string_view text) {
  const std::size_t colons = text.rfind("::");
  const std::string_view rest = colons == std::string_view::npos ? text : text.substr(colons + 2);
  return rest.substr(0, rest.find_first_of(";,)} "));
}

Program matmul(const Call& call) {
  MatmulAttributes attributes;
  attributes.transpose_a = call.attributes.flag("transpose_a").value_or(false);
  attributes.transpose_b = call.attributes.flag("transpose_b").value_or(false);
  attributes.core_grid = call.attributes.core_grid("user_core_coord");
  if (!call.fidelity.empty()) attributes.compute.fidelity = parse_math_fidelity(call.fidelity);
  if (const auto fp32 = call.attributes.member("compute_kernel_config", "fp32_dest_acc_en")) {
    attributes.compute.fp32_accumulation = fp32 == "1" || fp32 == "true";
  }
  if (call.attributes.find("program_config")) {
    refuse("a program configuration of its own", "ttnn's default");
  }
  if (call.attributes.find("user_fused_activation")) refuse("a fused activation", "none");
  const Tensor a = call.input(0);
  const Tensor b = call.input(1);
  if (call.inputs() < 3) return ops::matmul(a, b, call.output(), attributes);
  return ops::linear(a, b, call.input(2), call.output(), attributes);
}

/// An elementwise program. Its lowering mixes data types, which ops::eltwise refuses of a caller.
Program eltwise(const Call& call, Eltwise function, std::optional<float> scalar) {
  EltwiseAttributes attributes{.function = function, .scalar = scalar};
  attributes.core_grid = call.attributes.core_range("sub_core_grids");
  std::vector<Operand> inputs;
  Shape shape = call.inputs() > 0 ? call.in(0).shape : call.out().shape;
  for (std::size_t i = 0; i < call.inputs(); ++i) {
    inputs.push_back({.spec = call.in(i)});
    const auto both = Shape::broadcast(shape, call.in(i).shape);
    if (!both || call.in(i).layout != Layout::tile) {
      refuse(fmt::format("an operand {}", ops::text(call.in(i))), "tiles, of shapes that fit");
    }
    shape = *both;
  }
  if (shape != call.out().shape || call.out().layout != Layout::tile) {
    refuse(fmt::format("a result {}", ops::text(call.out())), shape.text() + " in tiles");
  }
  return {.name = name_of(function),
          .attributes = attributes,
          .inputs = std::move(inputs),
          .outputs = {{.spec = call.out()}}};
}

Program binary(const Call& call) {
  for (const char* const name : {"lhs_activations", "rhs_activations", "post_activations"}) {
    const auto value = call.attributes.find(name);
    if (value && value->find("UnaryOpType") != std::string_view::npos) {
      refuse(fmt::format("a fused activation, {}", enumerator(*value)), "none");
    }
  }
  const auto type = call.attributes.find("binary_op_type");
  const std::string_view name = type ? enumerator(*type) : "";
  std::optional<float> scalar;
  if (const auto text = call.attributes.find("scalar")) {
    scalar = static_cast<float>(parse_number(*text).value_or(1));
  }
  if (call.inputs() + (scalar ? 1 : 0) != 2) refuse("not two operands", "two, or a scalar");
  for (const Eltwise function : {Eltwise::add, Eltwise::subtract, Eltwise::multiply}) {
    if (name == wormhole::ttnn_name(function)) return eltwise(call, function, scalar);
  }
  refuse(fmt::format("binary_op_type '{}'", name), "ADD, SUB, MUL");
}

Program unary(const Call& call) {
  constexpr std::array kFunctions{Eltwise::relu, Eltwise::gtz,   Eltwise::square,
                                  Eltwise::exp,  Eltwise::erf,   Eltwise::gelu,
                                  Eltwise::sqrt, Eltwise::rsqrt, Eltwise::reciprocal,
                                  Eltwise::cast, Eltwise::fill};
  const std::string_view chain = call.attributes.find("op_chain").value_or("");
  const std::size_t at = chain.find("op_type=");
  if (at == std::string_view::npos) refuse("no op_chain among its attributes", "one");
  if (chain.find("op_type=", at + 1) != std::string_view::npos) {
    refuse("a chain of functions", "one function");
  }
  const std::string_view type = chain.substr(at);
  const std::string_view name = enumerator(type.substr(0, type.find_first_of(";,)}")));
  const auto function = std::ranges::find(kFunctions, name, wormhole::ttnn_name);
  if (function == kFunctions.end()) {
    refuse(fmt::format("op_type '{}'", name), "a function that the emulator has");
  }
  // The parameter of the functions that have a fast, less exact variant says whether it is taken.
  const bool approximate = type.find("param={1") != std::string_view::npos;
  const bool has_variants = *function == Eltwise::exp || *function == Eltwise::erf ||
                            *function == Eltwise::gelu || *function == Eltwise::rsqrt;
  if (approximate && has_variants) refuse(fmt::format("the approximate {}", name), "the exact one");
  const bool fills = *function == Eltwise::fill;
  if (!fills && call.inputs() != 1) refuse("not one operand", "one");
  return eltwise(call, *function, fills ? std::optional(0.0F) : std::nullopt);
}

/// In one step, or in several, of which ops::reduce makes one.
Program reduce(const Call& call, Reduction reduction, Dimension dimension, bool moreh) {
  const std::array<std::int64_t, 4>& in = call.in(0).shape.dimensions();
  const std::array<std::int64_t, 4>& out = call.out().shape.dimensions();
  for (std::size_t i = 0; i < in.size(); ++i) {
    const Dimension here = i == 3   ? Dimension::columns
                           : i == 2 ? Dimension::rows
                                    : Dimension::batch;
    const bool kept = out[i] == in[i];
    const bool fits = here == dimension ? out[i] == 1 || (kept && i < 2) : kept;
    if (!fits) {
      refuse(fmt::format("{} to {}", ops::text(call.in(0)), ops::text(call.out())),
             "one dimension that shrinks to one");
    }
  }
  if (call.in(0).layout != Layout::tile || call.out().layout != Layout::tile) {
    refuse("row-major tensors", "tiles");
  }
  return {.name = name_of(reduction),
          .attributes =
              ReduceAttributes{.reduction = reduction, .dimension = dimension, .moreh = moreh},
          .inputs = {{.spec = call.in(0)}},
          .outputs = {{.spec = call.out()}}};
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

Program transpose(const Call& call) {
  const std::string_view dim = enumerator(call.attributes.find("dim").value_or("missing"));
  if (dim != "WH" && dim != "HC") refuse(fmt::format("dim '{}'", dim), "WH, HC");
  return ops::transpose(call.input(0), call.output(),
                        dim == "WH" ? Swap::rows_columns : Swap::heads_rows);
}

Program reshape(const Call& call) { return ops::reshape(call.input(0), call.output()); }
Program to_layout(const Call& call) { return ops::to_layout(call.input(0), call.output()); }

Program concat(const Call& call) {
  if (call.attributes.find("dim").value_or("3") != "3") refuse("not along the columns", "dim 3");
  std::vector<Tensor> parts;
  for (std::size_t i = 0; i < call.inputs(); ++i) parts.push_back(call.input(i));
  if (parts.empty()) refuse("no inputs", "what is put side by side");
  return ops::concat(parts, call.output());
}

Program split_heads(const Call& call) {
  const auto heads = parse_integer(call.attributes.find("num_q_heads").value_or(""));
  const auto keys = parse_integer(call.attributes.find("num_kv_heads").value_or(""));
  if (!heads || heads != keys || *heads < 1 || *heads > 1'000'000 || call.inputs() != 1) {
    refuse("not one tensor of as many heads for queries as for keys", "q, k and v in one tensor");
  }
  return ops::split_heads(call.input(0), static_cast<int>(*heads), call.output(), call.output(),
                          call.output());
}

Program concat_heads(const Call& call) { return ops::concat_heads(call.input(0), call.output()); }

void require_last_dimension(const Call& call) {
  const std::string_view dim = call.attributes.find("dim").value_or("3");
  if (dim != "3" && dim != "-1") refuse(fmt::format("dim '{}'", dim), "the last one");
}

Program softmax(const Call& call) {
  require_last_dimension(call);
  if (call.inputs() != 1) refuse("a mask", "none");
  return ops::softmax(call.input(0), call.output());
}

Program softmax_backward(const Call& call) {
  require_last_dimension(call);
  return ops::softmax_backward(call.input(0), call.input(1), call.output());
}

constexpr float kEpsilon = 1e-5F;  // takes no time

/// Scaled or not takes ttnn's kernel as long.
Program layernorm(const Call& call) {
  if (enumerator(call.attributes.find("norm_type").value_or("LAYERNORM")) != "LAYERNORM") {
    refuse("an RMS norm", "a layer norm");
  }
  return ops::layernorm(call.input(0), kEpsilon, call.output());
}

ops::LayernormStatistics statistics(const Call& call) {
  const TensorSpec row{call.in(0).shape.with_columns(1), call.in(0).dtype};
  return {call.make(row), call.make(row)};
}

Program ttml_layernorm(const Call& call) {
  return ops::layernorm(call.input(0), {call.input(1), call.input(2)}, kEpsilon, call.output(),
                        statistics(call));
}

Program layernorm_backward(const Call& call) {
  const Tensor x = call.input(0);
  return ops::layernorm_backward(x, call.input(1), statistics(call), x, call.output(), {x, x});
}

Program gelu_backward(const Call& call) {
  return ops::gelu_backward(call.input(0), call.input(1), true, call.output());
}

Program embedding(const Call& call) {
  return ops::embedding(call.input(0), call.input(1), call.output());
}

Program embedding_backward(const Call& call) {
  return ops::embedding_backward(call.input(0), call.input(1), call.output());
}

Program cross_entropy(const Call& call) {
  return ops::cross_entropy(call.input(0), call.input(1), call.output());
}

Program cross_entropy_backward(const Call& call) {
  return ops::cross_entropy_backward(call.input(0), call.input(1), 1, call.output());
}

Program dropout(const Call& call) { return ops::dropout(call.input(0), 0, 0, call.output()); }

Program adamw(const Call& call) {
  const Tensor moment = call.input(2);
  return ops::adamw(call.input(0), call.input(1), {moment, moment}, {});
}

struct Builder {
  std::string_view code;
  Program (*build)(const Call& call);
};
constexpr std::array kBuilders{Builder{operation::kMatmul, matmul},
                               Builder{"MatmulDeviceOperation", matmul},
                               Builder{operation::kBinary, binary},
                               Builder{operation::kUnary, unary},
                               Builder{operation::kReduce, reduce_one},
                               Builder{"ReduceDeviceOperation", reduce_one},
                               Builder{operation::kReduceBatch, reduce_batch},
                               Builder{operation::kMorehSum, reduce_moreh},
                               Builder{operation::kMorehMean, reduce_moreh},
                               Builder{operation::kTranspose, transpose},
                               Builder{operation::kReshape, reshape},
                               Builder{"ReshapeViewDeviceOperation", reshape},
                               Builder{operation::kTilize, to_layout},
                               Builder{"TilizeWithValPaddingDeviceOperation", to_layout},
                               Builder{operation::kUntilize, to_layout},
                               Builder{"UntilizeWithUnpaddingDeviceOperation", to_layout},
                               Builder{operation::kConcat, concat},
                               Builder{operation::kSplitHeads, split_heads},
                               Builder{operation::kConcatHeads, concat_heads},
                               Builder{operation::kSoftmax, softmax},
                               Builder{operation::kSoftmaxBackward, softmax_backward},
                               Builder{operation::kLayernorm, layernorm},
                               Builder{operation::kTtmlLayernorm, ttml_layernorm},
                               Builder{operation::kLayernormBackward, layernorm_backward},
                               Builder{operation::kGeluBackward, gelu_backward},
                               Builder{operation::kEmbedding, embedding},
                               Builder{operation::kEmbeddingBackward, embedding_backward},
                               Builder{operation::kCrossEntropy, cross_entropy},
                               Builder{operation::kCrossEntropyBackward, cross_entropy_backward},
                               Builder{operation::kDropout, dropout},
                               Builder{operation::kAdamW, adamw}};

}  // namespace

std::optional<Program> logged_program(const OpRow& row, Device& device) {
  const auto builder = std::ranges::find(kBuilders, row.name, &Builder::code);
  if (builder == kBuilders.end()) return std::nullopt;
  return builder->build(Call(row, device));
}

std::optional<CoreGrid> logged_grid(const OpRow& row) {
  if (const auto grid = OpAttributes(row.attributes).core_range("worker_grid")) return grid;
  if (!row.worker_cores) return std::nullopt;
  constexpr int kColumns = 8;  // of Wormhole's grid of Tensix cores
  const std::int64_t cores = *row.worker_cores;
  if (cores < kColumns || cores > kColumns * 10 || cores % kColumns != 0) {
    refuse(fmt::format("{} worker cores", cores), "rows of 8, as Wormhole has");
  }
  return CoreGrid{kColumns, static_cast<int>(cores) / kColumns};
}

}  // namespace howard::profiler
