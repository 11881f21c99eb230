// SPDX-License-Identifier: Apache-2.0
#include "engines/query/op_steps.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <utility>

#include "base/error.h"
#include "base/json_node.h"
#include "engines/program/fields.h"
#include "engines/program/program_config.h"

namespace howard::query {
namespace {

using chip::KernelBuffers;

[[noreturn]] void refuse(const OpCall& call, std::string reason) {
  throw Error({.attempted = fmt::format("call ttnn.{}", call.op), .value = std::move(reason)});
}

const TensorSpec& operand(const OpCall& call, std::size_t i) {
  if (i < call.inputs.size() && call.inputs[i]) return *call.inputs[i];
  refuse(call, fmt::format("operand {} is missing", i));
}
bool has(const OpCall& call, std::size_t i) { return i < call.inputs.size() && call.inputs[i]; }

Program program_of(const Attributes& attributes, std::vector<Operand> inputs,
                   std::vector<Operand> outputs) {
  if (outputs.empty()) return make_program(attributes, std::move(inputs));
  return make_program(attributes, std::move(inputs), std::move(outputs));
}

std::vector<Operand> operands_of(const OpCall& call) {
  std::vector<Operand> operands;
  for (const auto& input : call.inputs) {
    if (input) operands.emplace_back(*input);
  }
  return operands;
}

/// Returns the wanted result, or `spec` if nobody said how it should lie.
TensorSpec wanted(const OpCall& call, const TensorSpec& spec) {
  return call.outputs.empty() ? spec : call.outputs[0];
}
/// Returns `spec` in the memory of the result.
TensorSpec placed(const OpCall& call, TensorSpec spec) {
  if (!call.outputs.empty()) spec.storage = call.outputs[0].storage;
  return spec;
}

OpStep step(const Attributes& attributes, std::vector<Operand> inputs, const TensorSpec& out) {
  return {.program = program_of(attributes, std::move(inputs), {out})};
}

/// What a call is told, as one list that is read once.
class Told {
 public:
  explicit Told(const OpCall& call)
      : document_(call.attributes.empty() ? "{}" : call.attributes,
                  {.attempted = fmt::format("read the attributes of {}", call.op),
                   .accepted = "a JSON object"}) {}

  bool flag(const char* name, bool otherwise) const {
    return document_.root().has(name) ? document_.root().member(name).boolean() : otherwise;
  }
  std::vector<std::int64_t> numbers(const char* name) const {
    std::vector<std::int64_t> numbers;
    if (!document_.root().has(name)) return numbers;
    const JsonNode node = document_.root().member(name);
    if (!node.is_array()) return {node.integer(-8, 8)};
    for (const JsonNode& one : node.items()) numbers.push_back(one.integer(-8, 8));
    return numbers;
  }

 private:
  JsonDocument document_;
};

// -- program configurations, as ttnn's logs print them
// ---------------------------------------------

/// Returns the call without "program_config", which ttnn takes if this returns. That of a product
/// becomes its "config".
OpCall without_config(const OpCall& call, CoreGrid grid) {
  const JsonDocument document(call.attributes,
                              {.attempted = fmt::format("read the attributes of {}", call.op)});
  OpCall rest = call;
  rest.attributes.clear();
  const auto keep = [&](std::string_view name, const std::string& value) {
    rest.attributes += fmt::format("{}\"{}\":{}", rest.attributes.empty() ? "{" : ",", name, value);
  };
  for (const auto& [name, value] : document.root().members()) {
    if (name != "program_config") {
      keep(name, value.dump());
      continue;
    }
    const std::string config = value.text();
    if (config.starts_with("Matmul")) {
      keep("config", fmt::format("\"{}\"", text_of(parse_ttnn_config(config))));
    } else {
      require_program_config(call.op, config, operand(call, 0), grid);
    }
  }
  if (!rest.attributes.empty()) rest.attributes += "}";
  return rest;
}

// -- ops of ttnn that are several programs, or that have more operands than a kind ---------------

/// A bias that is no row is added by a program of its own.
std::vector<OpStep> linear(const OpCall& call) {
  const Attributes attributes = parse_attributes("matmul", call.attributes);
  std::vector<Operand> factors{operand(call, 0), operand(call, 1)};
  const bool row = !has(call, 2) || call.inputs[2]->shape.tile_rows() == 1;
  if (row && has(call, 2)) factors.emplace_back(*call.inputs[2]);
  const SpecList results = results_of(attributes, specs_of(factors));
  const TensorSpec out = wanted(call, results[0]);
  std::vector<OpStep> steps{step(attributes, std::move(factors), out)};
  if (!row) {
    steps.push_back(step(eltwise_of(Eltwise::add), {out, operand(call, 2)}, out));
  }
  return steps;
}

/// The dimensions that are reduced are those of the tensor's own rank; the last four are known.
std::vector<OpStep> reduction(const OpCall& call, Reduction kind) {
  const Told told(call);
  const TensorSpec& x = operand(call, 0);
  const auto& sides = x.shape.dimensions();
  std::int64_t rank = 4;
  while (rank > 2 && sides.at(static_cast<std::size_t>(4 - rank)) == 1) --rank;
  if (const auto said = told.numbers("rank"); !said.empty()) rank = said[0];
  std::vector<std::int64_t> dims = told.numbers("dims");
  if (dims.empty()) {
    for (std::int64_t i = 0; i < rank; ++i) dims.push_back(i);
  }
  for (std::int64_t& dim : dims) {
    if (dim < -rank || dim >= rank) {
      refuse(call, fmt::format("Unsupported dim {} for a tensor of rank {}: dims are from {} to {}",
                               dim, rank, -rank, rank - 1));
    }
    dim = dim < 0 ? dim + 4 : dim + 4 - rank;
  }
  const auto reduces = [&](std::int64_t dim) { return std::ranges::find(dims, dim) != dims.end(); };
  std::vector<OpStep> steps;
  TensorSpec at = x;
  const auto along = [&](Dimension dimension, const Shape& to) {
    const TensorSpec next = placed(call, {to, at.dtype});
    steps.push_back(step(ReduceAttributes{.reduction = kind, .dimension = dimension}, {at}, next));
    at = next;
  };
  if (reduces(3)) along(Dimension::columns, at.shape.with_columns(1));
  if (reduces(2)) along(Dimension::rows, at.shape.with_rows(1));
  if ((reduces(0) || reduces(1)) && at.shape.batch() > 1) {
    along(Dimension::batch, {at.shape.rows(), at.shape.columns()});
  }
  return steps;
}

std::vector<OpStep> norm(const OpCall& call, bool centered, const chip::Profiles& profiles) {
  const TensorSpec& x = operand(call, 0);
  for (std::size_t i = 1; i < 3; ++i) {
    if (!has(call, i) || call.inputs[i]->shape.columns() == x.shape.columns()) continue;
    refuse(call, fmt::format("{} last padded dim must equal input's last padded dim: {} and {}",
                             i == 1 ? "gamma" : "beta", call.inputs[i]->shape.columns(),
                             x.shape.columns()));
  }
  // ttnn's own default of both is sums of bfloat16.
  const bool fp32 = Told(call).flag("fp32_accumulation", false);
  const bool residual = has(call, 3);
  const TensorSpec out = wanted(call, x);
  std::vector<Operand> inputs{x};
  Attributes attributes = LayernormAttributes{.sums = residual, .fp32_accumulation = fp32};
  if (!centered) {
    if (has(call, 1)) inputs.emplace_back(TensorSpec{{x.shape.columns()}, x.dtype});
    attributes = RmsNormAttributes{.sums = residual, .fp32_accumulation = fp32};
  }
  OpStep made = step(attributes, std::move(inputs), out);
  if (x.sharding || x.layout != Layout::tile) return {made};
  made.buffers = chip::norm_buffers({.in = x.dtype,
                                     .out = out.dtype,
                                     .weights = has(call, 1) ? call.inputs[1]->dtype : x.dtype,
                                     .columns = x.shape.tile_columns(),
                                     .gamma = has(call, 1),
                                     .beta = has(call, 2),
                                     .residual = residual,
                                     .centered = centered,
                                     .fp32_accumulation = fp32},
                                    profiles.chip.l1_circular_buffers);
  return {made};
}

/// The operands are x, the running mean and variance, the weight and the bias. In training, mean
/// and variance are computed first: the mean of x and of its square, along columns, rows and
/// images, and a program that moves the running ones.
std::vector<OpStep> batch_norm(const OpCall& call) {
  const Told told(call);
  const bool training = told.flag("training", false);
  const TensorSpec& x = operand(call, 0);
  const Shape each{1, x.shape.heads(), 1, 1};
  constexpr std::array kNames{"running_mean", "running_var", "weight", "bias"};
  for (std::size_t i = 1; i < 5; ++i) {
    if (!has(call, i) || call.inputs[i]->shape == each) continue;
    refuse(call, fmt::format("{}.logical_shape()[1] == C: it is {}, and must be {}",
                             kNames.at(i - 1), call.inputs[i]->shape.text(), each.text()));
  }
  if (!training && (!has(call, 1) || !has(call, 2))) {
    refuse(call, "running_mean and running_var must be defined in evaluation mode");
  }
  const TensorSpec channel{each, x.dtype};
  std::vector<OpStep> steps;
  if (training) {
    const Attributes columns =
        ReduceAttributes{.reduction = Reduction::mean, .dimension = Dimension::columns};
    const TensorSpec rows{x.shape.with_columns(1), x.dtype};
    steps.push_back(step(columns, {x}, rows));
    steps.push_back(step(eltwise_of(Eltwise::square), {x}, x));
    OpStep running = step(eltwise_of(Eltwise::add), {channel, channel}, channel);
    // Two tiles of each of twelve: two statistics, the result, two old and two new running ones,
    // the momentum, a one, and three between.
    running.buffers = KernelBuffers::of(12 * (2 * tile_bytes(x.dtype)));
    steps.push_back(std::move(running));
  }
  std::vector<Operand> inputs{x, channel, channel};
  if (has(call, 3)) inputs.emplace_back(channel);
  if (has(call, 3) && has(call, 4)) inputs.emplace_back(channel);
  steps.push_back(step(BatchNormAttributes{}, std::move(inputs), wanted(call, x)));
  return steps;
}

/// The table is brought into rows if it has tiles, and the rows that are found into tiles. ttnn
/// looks rows up as they are unless it is asked for tiles.
std::vector<OpStep> embedding(const OpCall& call) {
  TensorSpec indices = operand(call, 0), table = operand(call, 1);
  if (indices.is_real()) indices.dtype = DataType::uint32;  // ttnn takes bfloat16, too.
  std::vector<OpStep> steps;
  if (table.layout == Layout::tile) {
    const TensorSpec rows{table.shape, table.dtype, Layout::row_major};
    steps.push_back(step(LayoutAttributes{.to = Layout::row_major}, {table}, rows));
    table = rows;
  }
  const Shape& shape = indices.shape;
  const TensorSpec result = wanted(
      call, {{shape.batch() * shape.rows(), shape.columns(), table.shape.columns()}, table.dtype});
  TensorSpec rows = result;
  rows.layout = Layout::row_major;
  rows.dtype = table.dtype;
  steps.push_back(step(EmbeddingAttributes{}, {indices, table}, rows));
  if (result.layout == Layout::tile) {
    steps.push_back(step(LayoutAttributes{.to = Layout::tile}, {rows}, result));
  }
  return steps;
}

std::vector<OpStep> to_layout(const OpCall& call) {
  const TensorSpec& x = operand(call, 0);
  TensorSpec out = x;
  out.layout = x.layout == Layout::tile ? Layout::row_major : Layout::tile;
  out = wanted(call, out);
  if (out.layout == x.layout) refuse(call, "the tensor has that layout already");
  return {step(LayoutAttributes{.to = out.layout}, {x}, out)};
}

/// Rows are repeated: a tensor in tiles is brought into rows before, and into tiles behind.
std::vector<OpStep> repeat(const OpCall& call) {
  const TensorSpec& x = operand(call, 0);
  const TensorSpec out = wanted(call, x);
  if (x.layout != Layout::tile) return {step(MoveTilesAttributes{}, {x}, out)};
  TensorSpec rows = placed(call, {x.shape, x.dtype, Layout::row_major});
  TensorSpec more = placed(call, {out.shape, x.dtype, Layout::row_major});
  return {step(LayoutAttributes{.to = Layout::row_major}, {x}, rows),
          step(MemoryMoveAttributes{}, {more}, more),
          step(LayoutAttributes{.to = Layout::tile}, {more}, out)};
}

/// A conversion is a unary op; ttnn copies with the same kernel.
std::vector<OpStep> copy(const OpCall& call) {
  const TensorSpec& x = operand(call, 0);
  return {step(MemoryMoveAttributes{}, {x}, wanted(call, x))};
}

std::vector<OpStep> embedding_backward(const OpCall& call, CoreGrid grid) {
  TensorSpec indices = operand(call, 0);
  const Bytes index = indices.host_bytes().value() / indices.shape.elements() * Bytes(1);
  if (indices.is_real()) indices.dtype = DataType::uint32;
  const TensorSpec& dy = operand(call, 1);
  if (call.outputs.empty()) refuse(call, "the shape of the table is that of the result");
  OpStep made = step(EmbeddingBackwardAttributes{}, {indices, dy}, call.outputs[0]);
  made.buffers = chip::embedding_backward_buffers(dy, call.outputs[0], index, grid);
  return {made};
}

using Maker = std::function<std::vector<OpStep>(const OpCall&, CoreGrid, const chip::Profiles&)>;

/// The calls of ttnn that are no kind, or that take other operands than the kind of their name.
const Maker* maker_of(std::string_view op) {
  const auto plain = [](auto make) {
    return [make](const OpCall& call, CoreGrid, const chip::Profiles&) { return make(call); };
  };
  const auto reduces = [](Reduction kind) {
    return [kind](const OpCall& call, CoreGrid, const chip::Profiles&) {
      return reduction(call, kind);
    };
  };
  const auto norms = [](bool centered) {
    return [centered](const OpCall& call, CoreGrid, const chip::Profiles& profiles) {
      return norm(call, centered, profiles);
    };
  };
  static const std::vector<std::pair<std::string_view, Maker>> kMakers{
      {"assign", plain(copy)},
      {"batch_norm", plain(batch_norm)},
      {"embedding", plain(embedding)},
      {"embedding_backward", [](const OpCall& call, CoreGrid grid,
                                const chip::Profiles&) { return embedding_backward(call, grid); }},
      {"layer_norm", norms(true)},
      {"linear", plain(linear)},
      {"max", reduces(Reduction::max)},
      {"mean", reduces(Reduction::mean)},
      {"min", reduces(Reduction::max)},
      {"prod", reduces(Reduction::max)},
      {"repeat", plain(repeat)},
      {"repeat_interleave", plain(repeat)},
      {"rms_norm", norms(false)},
      {"sum", reduces(Reduction::sum)},
      {"to_layout", plain(to_layout)},
      {"to_memory_config", plain(copy)},
      {"typecast", plain(copy)},
  };
  const auto found = std::ranges::find(kMakers, op, &std::pair<std::string_view, Maker>::first);
  return found == kMakers.end() ? nullptr : &found->second;
}

/// Reductions and norms have attributes of their own as kinds ("dimension"), by which they are told
/// from ttnn's calls.
bool is_told_as_kind(const OpCall& call) {
  return call.attributes.find("\"dimension\"") != std::string::npos;
}

}  // namespace

std::vector<OpStep> steps_of(const OpCall& call, CoreGrid grid, const chip::Profiles& profiles) {
  if (call.attributes.find("\"program_config\"") != std::string::npos) {
    return steps_of(without_config(call, grid), grid, profiles);
  }
  for (const auto& input : call.inputs) {
    if (input) require_legal_shards(*input);
  }
  for (const TensorSpec& output : call.outputs) require_legal_shards(output);
  if (const Maker* const make = maker_of(call.op); make != nullptr && !is_told_as_kind(call)) {
    return (*make)(call, grid, profiles);
  }
  const Attributes attributes =
      call.attributes.empty() ? op_named(call.op) : parse_attributes(call.op, call.attributes);
  std::vector<Operand> outputs{call.outputs.begin(), call.outputs.end()};
  OpStep only{.program = program_of(attributes, operands_of(call), std::move(outputs))};
  return {std::move(only)};
}

}  // namespace howard::query
