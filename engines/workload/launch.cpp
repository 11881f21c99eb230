// SPDX-License-Identifier: Apache-2.0
#include "engines/workload/launch.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <mutex>
#include <set>
#include <utility>

#include "base/error.h"
#include "engines/device/collective.h"

namespace howard::workload {
namespace {

/// Checks that the operands of a call fit its kernel; each kind has an overload.
class OperandCheck {
 public:
  OperandCheck(std::string_view name, const Program& program) : name_(name), program_(program) {}

  void operator()(const MatmulAttributes& attributes) const {
    require(inputs() == 2 || inputs() == 3, "two factors and perhaps a bias");
    const Shape a = attributes.transpose_a ? in(0).transposed() : in(0);
    const Shape b = attributes.transpose_b ? in(1).transposed() : in(1);
    require(a.columns() == b.rows() && out().rows() == a.rows() && out().columns() == b.columns(),
            "[.., m, k] by [.., k, n] gives [.., m, n]");
    const bool batches = (a.batch() == 1 || a.batch() == out().batch()) &&
                         (b.batch() == 1 || b.batch() == out().batch());
    require(batches && out().batch() == std::max(a.batch(), b.batch()),
            "batches that are equal or 1");
    require(tiled(), "tile layout");
  }
  void operator()(const EltwiseAttributes& attributes) const {
    const int values = arity_of(attributes.function);
    require(inputs() >= values - (attributes.scalar ? 1 : 0) && inputs() <= 4,
            "as many operands as the function has, four at most");
    for (int i = 0; i < inputs(); ++i) {
      require(Shape::broadcast(in(i), out()) == out(), "dimensions that are equal or 1");
    }
  }
  void operator()(const ReduceAttributes& attributes) const {
    Shape shape = in(0);
    if (attributes.dimension != Dimension::rows) shape = shape.with_columns(1);
    if (attributes.dimension != Dimension::columns) shape = shape.with_rows(1);
    if (attributes.dimension == Dimension::all) shape = {1};
    require(out() == shape, "a result whose dimension is 1");
  }
  void operator()(const TransposeAttributes& attributes) const {
    const bool columns = attributes.swap == Swap::rows_columns;
    require(out() == (columns ? in(0).transposed() : in(0).heads_swapped()), "swapped dimensions");
  }
  void operator()(const ReshapeAttributes&) const {
    if (in(0).elements() == out().elements()) return;
    const Shape& x = in(0);
    const Shape repeated{x.outer(), out().heads(), x.rows(), x.columns()};
    require(out() == repeated && out().heads() % x.heads() == 0,
            "as many elements, or the operand's heads several times");
  }
  void operator()(const LayoutAttributes&) const { require(in(0) == out(), "one shape"); }
  void operator()(const ConcatAttributes&) const {
    require(inputs() >= 1, "something to put side by side");
  }
  void operator()(const SplitHeadsAttributes&) const {}
  void operator()(const ConcatHeadsAttributes&) const {}
  void operator()(const SoftmaxAttributes&) const { require(in(0) == out(), "one shape"); }
  void operator()(const SoftmaxBackwardAttributes&) const { require(in(0) == out(), "one shape"); }
  void operator()(const LayernormAttributes&) const { require(in(0) == out(), "one shape"); }
  void operator()(const LayernormBackwardAttributes&) const {}
  void operator()(const GeluBackwardAttributes&) const {
    require(inputs() == 2 && in(0) == out() && in(1) == out(), "x and dy of one shape");
  }
  void operator()(const EmbeddingAttributes&) const {
    require(inputs() == 2, "indices and a table");
    require(out().columns() == in(1).columns(), "rows of the table");
  }
  void operator()(const EmbeddingBackwardAttributes&) const {
    require(inputs() == 2, "indices and a gradient");
  }
  void operator()(const CrossEntropyAttributes&) const {}
  void operator()(const CrossEntropyBackwardAttributes&) const {}
  void operator()(const DropoutAttributes&) const { require(in(0) == out(), "one shape"); }
  void operator()(const AdamWAttributes&) const {}
  void operator()(const SgdAttributes& attributes) const {
    const bool keeps = attributes.momentum != 0;
    require(inputs() == (keeps ? 3 : 2) && in(0) == out() && in(1) == out(),
            "a parameter, its gradient and, with a momentum, its buffer");
  }
  void operator()(const SwigluAttributes&) const {
    require(inputs() == 4 && in(0) == out() && in(1) == in(3) && in(1).transposed() == in(2) &&
                in(1).columns() == in(0).columns(),
            "x [.., d], weights [f, d], [d, f] and [f, d], and a result of x's shape");
  }
  void operator()(const RmsNormAttributes&) const { require(in(0) == out(), "one shape"); }
  void operator()(const RmsNormBackwardAttributes&) const {
    require(inputs() == 4, "x, gamma, the root and dy");
  }
  void operator()(const RotaryEmbeddingAttributes&) const {
    require(inputs() == 3 && in(0) == out(), "x and two tables; a result of x's shape");
  }
  void operator()(const SliceAttributes& attributes) const {
    const auto& [from, to] = sides();
    for (std::size_t i = 0; i < from.size(); ++i) {
      const bool within = attributes.begins[i] < from[i] &&
                          to[i] - 1 <= (from[i] - 1 - attributes.begins[i]) / attributes.steps[i];
      require(within, "a result within the operand");
    }
  }
  void operator()(const PadAttributes& attributes) const {
    const auto& [from, to] = sides();
    for (std::size_t i = 0; i < from.size(); ++i) {
      require(attributes.before[i] <= to[i] - from[i],
              "a result with room for the operand and what is before it");
    }
  }
  void operator()(const PermuteAttributes& attributes) const {
    const auto& [from, to] = sides();
    for (std::size_t i = 0; i < from.size(); ++i) {
      require(to[i] == from.at(static_cast<std::size_t>(attributes.order[i])),
              "the operand's sides in that order");
    }
  }
  void operator()(const AttentionAttributes& attributes) const {
    require(inputs() == 3 || inputs() == 4, "q, k, v and perhaps a mask or a position");
    require(in(0) == out(), "a result of q's shape");
    require(in(1) == in(2) && in(0).outer() == in(1).outer() &&
                in(0).columns() == in(1).columns() && in(0).heads() % in(1).heads() == 0,
            "q [b, h, s, d], k and v [b, g, t, d], h a multiple of g");
    require(!attributes.causal || (in(0).rows() == in(1).rows() && inputs() == 3),
            "where it is causal, as many places of q as of k, and no mask");
  }
  void operator()(const MinimalMatmulAttributes&) const {
    require(inputs() == 2 || inputs() == 3, "two factors and perhaps a bias");
    require(in(0).columns() == in(1).rows() && out().columns() == in(1).columns(),
            "[m, k] by [k, n] gives [m, n]");
  }

 private:
  int inputs() const { return static_cast<int>(program_.inputs.size()); }
  const Shape& in(int i) const {
    require(i < inputs(), "more operands");
    return program_.inputs[static_cast<std::size_t>(i)].spec.shape;
  }
  const Shape& out() const { return program_.outputs[0].spec.shape; }
  /// Returns the sides of the only operand and of the result.
  std::pair<std::array<std::int64_t, 4>, std::array<std::int64_t, 4>> sides() const {
    return {in(0).dimensions(), out().dimensions()};
  }
  bool tiled() const {
    return std::ranges::all_of(program_.inputs,
                               [](const Operand& one) { return one.spec.layout == Layout::tile; });
  }
  void require(bool fits, std::string_view accepted) const {
    if (fits) return;
    std::string text;
    for (const Operand& one : program_.inputs) text += one.spec.text() + ", ";
    throw Error({.attempted = fmt::format("launch {}", name_),
                 .value = fmt::format("{}to {}", text, program_.outputs[0].spec.text()),
                 .accepted = std::string(accepted)});
  }

  std::string_view name_;
  const Program& program_;
};

bool is_collective(std::string_view name) { return name == kAllGather || name == kReduceScatter; }

/// Checks that the tensors of a collective fit: one side is several times as long in one of them.
void check_collective(const Program& program) {
  const auto refuse = [&](std::string_view accepted) {
    throw Error({.attempted = fmt::format("launch {}", program.name),
                 .value = fmt::format("{} operands, to {}", program.inputs.size(),
                                      program.outputs[0].spec.text()),
                 .accepted = std::string(accepted)});
  };
  const bool gathers = program.name == kAllGather;
  const auto* const concat = std::get_if<ConcatAttributes>(&program.attributes);
  const auto* const reduce = std::get_if<ReduceAttributes>(&program.attributes);
  if (program.inputs.size() != 2 || program.outputs.size() != 1 ||
      (gathers ? concat == nullptr : reduce == nullptr)) {
    refuse("a tensor, the handle of a group of devices, and a result");
  }
  const int along = gathers ? concat->dimension : reduce->dimension == Dimension::rows ? 2 : 3;
  const auto& in = program.inputs[0].spec.shape.dimensions();
  const auto& out = program.outputs[0].spec.shape.dimensions();
  for (std::size_t i = 0; i < in.size(); ++i) {
    const std::int64_t whole = gathers ? out[i] : in[i];
    const std::int64_t part = gathers ? in[i] : out[i];
    const bool fits = std::cmp_equal(i, along) ? whole % part == 0 : whole == part;
    if (!fits) refuse("tensors that differ in one dimension, of which one is a share");
  }
}

/// Makes whole numbers real ones: the emulator computes with real numbers, and whole ones are moved
/// and computed at the same cost.
void take_for_real(Program& program) {
  const bool indexed = std::holds_alternative<EmbeddingAttributes>(program.attributes) ||
                       std::holds_alternative<EmbeddingBackwardAttributes>(program.attributes);
  const auto take = [](Operand& one) {
    if (one.spec.dtype == DataType::uint32) one.spec.dtype = DataType::float32;
  };
  // If a position follows q, k and v, the attention is that of a decoding step.
  const bool decodes = std::holds_alternative<AttentionAttributes>(program.attributes);
  const std::size_t end =
      decodes ? std::min<std::size_t>(3, program.inputs.size()) : program.inputs.size();
  for (std::size_t i = indexed ? 1 : 0; i < end; ++i) take(program.inputs[i]);
  for (Operand& one : program.outputs) take(one);
}

}  // namespace

std::string_view kept_name(std::string_view name) {
  static std::mutex mutex;
  static std::set<std::string, std::less<>> names;
  const std::lock_guard lock(mutex);
  const auto found = names.find(name);
  return found != names.end() ? *found : *names.emplace(name).first;
}

Program make_program(std::string_view name, const Attributes& attributes,
                     std::vector<Operand> inputs, std::vector<Operand> outputs) {
  Program program{.name = kept_name(name),
                  .attributes = attributes,
                  .inputs = std::move(inputs),
                  .outputs = std::move(outputs)};
  const auto* const eltwise = std::get_if<EltwiseAttributes>(&attributes);
  const bool fills = eltwise != nullptr && arity_of(eltwise->function) == 0;
  if (program.outputs.empty() || (program.inputs.empty() && !fills)) {
    throw Error({.attempted = fmt::format("launch {}", name),
                 .value = "it has no operands or no result",
                 .accepted = "one or more of each"});
  }
  take_for_real(program);
  if (is_collective(program.name)) {
    check_collective(program);
  } else {
    std::visit(OperandCheck(program.name, program), attributes);
  }
  if (const auto* const matmul = std::get_if<MatmulAttributes>(&attributes)) {
    const Shape& a = program.inputs[0].spec.shape;
    const std::int64_t inner = matmul->transpose_a ? a.rows() : a.columns();
    program.flops = Flops(2 * program.outputs[0].spec.shape.elements() * inner);
  }
  return program;
}

}  // namespace howard::workload
