// SPDX-License-Identifier: Apache-2.0
#include "engines/workload/launch.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <utility>

#include "base/error.h"
#include "base/text.h"
#include "engines/device/matmul_config.h"

namespace howard::workload {
namespace {

using Json = nlohmann::json;

[[noreturn]] void refuse_attributes(std::string_view kernel, std::string value,
                                    std::string accepted) {
  throw Error({.attempted = fmt::format("read the attributes of {}", kernel),
               .value = std::move(value),
               .accepted = std::move(accepted),
               .hint = ""});
}

/// Takes attributes out of an object, so that what is left is known to nobody.
class AttributeReader {
 public:
  AttributeReader(std::string_view kernel, Json object)
      : kernel_(kernel), object_(std::move(object)) {}

  bool flag(const char* name) {
    const Json value = take(name);
    if (value.is_null()) return false;
    if (!value.is_boolean()) refuse(name, value, "true or false");
    return value.get<bool>();
  }
  std::optional<double> number(const char* name) {
    const Json value = take(name);
    if (value.is_null()) return std::nullopt;
    if (!value.is_number()) refuse(name, value, "a number");
    return value.get<double>();
  }
  std::optional<std::string> word(const char* name) {
    const Json value = take(name);
    if (value.is_null()) return std::nullopt;
    if (!value.is_string()) refuse(name, value, "a word");
    return value.get<std::string>();
  }
  std::optional<CoreGrid> grid(const char* name) {
    const Json value = take(name);
    if (value.is_null()) return std::nullopt;
    const bool pair = value.is_array() && value.size() == 2 && value[0].is_number_integer() &&
                      value[1].is_number_integer();
    if (!pair || value[0] < 1 || value[1] < 1 || value[0] > 64 || value[1] > 64) {
      refuse(name, value, "[columns, rows], each from 1 to 64");
    }
    return CoreGrid{value[0].get<int>(), value[1].get<int>()};
  }
  void require_empty() const {
    if (object_.empty()) return;
    refuse_attributes(kernel_, fmt::format("'{}' is not one of them", object_.begin().key()), "");
  }

 private:
  Json take(const char* name) {
    const auto found = object_.find(name);
    if (found == object_.end()) return nullptr;
    Json value = *found;
    object_.erase(found);
    return value;
  }
  [[noreturn]] void refuse(const char* name, const Json& value, std::string accepted) const {
    refuse_attributes(kernel_, fmt::format("{} is {}", name, value.dump()), std::move(accepted));
  }

  std::string kernel_;
  Json object_;
};

using Reader = std::function<Attributes(AttributeReader&)>;

Attributes matmul_attributes(AttributeReader& from) {
  MatmulAttributes attributes{.transpose_a = from.flag("transpose_a"),
                              .transpose_b = from.flag("transpose_b"),
                              .core_grid = from.grid("core_grid")};
  if (const auto word = from.word("fidelity")) {
    attributes.compute.fidelity = parse_math_fidelity(*word);
  }
  if (const auto config = from.word("config")) attributes.config = parse_matmul_config(*config);
  if (const auto wide = from.number("fp32_accumulation")) {
    attributes.compute.fp32_accumulation = *wide != 0;
  }
  return attributes;
}

Attributes eltwise_attributes(Eltwise function, AttributeReader& from) {
  EltwiseAttributes attributes{.function = function, .core_grid = from.grid("core_grid")};
  if (const auto scalar = from.number("scalar")) attributes.scalar = static_cast<float>(*scalar);
  return attributes;
}

Attributes reduce_attributes(Reduction reduction, AttributeReader& from) {
  const std::string dimension = from.word("dimension").value_or("columns");
  ReduceAttributes attributes{.reduction = reduction, .moreh = from.flag("moreh")};
  if (dimension == "columns") {
    attributes.dimension = Dimension::columns;
  } else if (dimension == "rows") {
    attributes.dimension = Dimension::rows;
  } else if (dimension == "all") {
    attributes.dimension = Dimension::all;
  } else {
    refuse_attributes(name_of(reduction), "dimension is '" + dimension + "'", "columns, rows, all");
  }
  return attributes;
}

template <class Kind>
Reader heads_reader() {
  return [](AttributeReader& from) -> Attributes {
    Kind attributes;
    attributes.heads = static_cast<int>(from.number("heads").value_or(1));
    return attributes;
  };
}

template <class Kind>
Reader plain_reader() {
  return [](AttributeReader&) -> Attributes { return Kind{}; };
}

Attributes transpose_attributes(AttributeReader& from) {
  const std::string swap = from.word("swap").value_or("rows_columns");
  if (swap == "rows_columns") return TransposeAttributes{.swap = Swap::rows_columns};
  if (swap == "heads_rows") return TransposeAttributes{.swap = Swap::heads_rows};
  refuse_attributes("transpose", "swap is '" + swap + "'", "rows_columns, heads_rows");
}

Attributes dropout_attributes(AttributeReader& from) {
  return DropoutAttributes{
      .probability = static_cast<float>(from.number("probability").value_or(0)),
      .seed = static_cast<std::uint32_t>(from.number("seed").value_or(0))};
}

std::map<std::string, Reader, std::less<>> make_readers() {
  std::map<std::string, Reader, std::less<>> readers{
      {"matmul", matmul_attributes},
      {"transpose", transpose_attributes},
      {"reshape", plain_reader<ReshapeAttributes>()},
      {"tilize", plain_reader<LayoutAttributes>()},
      {"untilize", plain_reader<LayoutAttributes>()},
      {"move", plain_reader<ConcatAttributes>()},
      {"split_heads", heads_reader<SplitHeadsAttributes>()},
      {"concat_heads", plain_reader<ConcatHeadsAttributes>()},
      {"softmax", plain_reader<SoftmaxAttributes>()},
      {"softmax_backward", plain_reader<SoftmaxBackwardAttributes>()},
      {"layernorm", plain_reader<LayernormAttributes>()},
      {"embedding", plain_reader<EmbeddingAttributes>()},
      {"embedding_backward", plain_reader<EmbeddingBackwardAttributes>()},
      {"dropout", dropout_attributes},
      {"adamw", plain_reader<AdamWAttributes>()},
      {"gelu_backward", [](AttributeReader& from) -> Attributes {
         return GeluBackwardAttributes{.fused = from.flag("fused")};
       }}};
  for (const EltwiseEntry& entry : eltwise_catalogue()) {
    const Eltwise function = entry.function;
    readers[std::string(entry.name)] = [function](AttributeReader& from) {
      return eltwise_attributes(function, from);
    };
  }
  for (const Reduction reduction : {Reduction::sum, Reduction::mean, Reduction::max}) {
    readers[std::string(name_of(reduction))] = [reduction](AttributeReader& from) {
      return reduce_attributes(reduction, from);
    };
  }
  return readers;
}

const std::map<std::string, Reader, std::less<>>& readers() {
  static const auto kReaders = make_readers();
  return kReaders;
}

std::string_view kept_name(std::string_view name) {
  static std::mutex mutex;
  static std::set<std::string, std::less<>> names;
  const std::lock_guard lock(mutex);
  const auto found = names.find(name);
  return found != names.end() ? *found : *names.emplace(name).first;
}

/// Whether the operands of a call fit its kernel, by overload for each kind.
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
  void operator()(const ReshapeAttributes&) const { require_elements(); }
  void operator()(const LayoutAttributes&) const {
    require(in(0) == out(), "one shape");
    require(program_.inputs[0].spec.layout != program_.outputs[0].spec.layout, "two layouts");
  }
  void operator()(const ConcatAttributes&) const {}
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
  void operator()(const RmsNormAttributes&) const { require(in(0) == out(), "one shape"); }
  void operator()(const RmsNormBackwardAttributes&) const {
    require(inputs() == 4, "x, gamma, the root and dy");
  }
  void operator()(const RotaryEmbeddingAttributes&) const {
    require(inputs() == 3 && in(0) == out(), "x and two tables; a result of x's shape");
  }
  void operator()(const SliceAttributes&) const {}
  void operator()(const PadAttributes&) const {}
  void operator()(const PermuteAttributes&) const { require_elements(); }
  void operator()(const AttentionAttributes&) const {
    require(inputs() == 3 || inputs() == 4, "q, k, v and perhaps a mask");
    require(in(0) == out(), "a result of q's shape");
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
  bool tiled() const {
    return std::ranges::all_of(program_.inputs,
                               [](const Operand& one) { return one.spec.layout == Layout::tile; });
  }
  void require_elements() const {
    require(in(0).elements() == out().elements(), "as many elements");
  }
  void require(bool fits, std::string_view accepted) const {
    if (fits) return;
    std::string text;
    for (const Operand& one : program_.inputs) text += one.spec.text() + ", ";
    throw Error({.attempted = fmt::format("launch {}", name_),
                 .value = fmt::format("{}to {}", text, program_.outputs[0].spec.text()),
                 .accepted = std::string(accepted),
                 .hint = ""});
  }

  std::string_view name_;
  const Program& program_;
};

/// The emulator computes with real numbers; whole ones are moved and computed at the same cost.
void take_for_real(Program& program) {
  const bool indexed = std::holds_alternative<EmbeddingAttributes>(program.attributes) ||
                       std::holds_alternative<EmbeddingBackwardAttributes>(program.attributes);
  const auto take = [](Operand& one) {
    if (one.spec.dtype == DataType::uint32) one.spec.dtype = DataType::float32;
  };
  for (std::size_t i = indexed ? 1 : 0; i < program.inputs.size(); ++i) take(program.inputs[i]);
  for (Operand& one : program.outputs) take(one);
}

}  // namespace

std::vector<std::string> kernel_names() {
  std::vector<std::string> names;
  for (const auto& [name, reader] : readers()) names.push_back(name);
  return names;
}

Attributes parse_attributes(std::string_view kernel, std::string_view json) {
  const auto reader = readers().find(kernel);
  if (reader == readers().end()) {
    const std::vector<std::string> names = kernel_names();
    throw Error({.attempted = fmt::format("launch kernel '{}'", kernel),
                 .value = "the emulator has none of that name",
                 .accepted = join(names, ", "),
                 .hint = closest(kernel, names).value_or("")});
  }
  Json object = json.empty() ? Json::object() : Json::parse(json, nullptr, false);
  if (!object.is_object()) refuse_attributes(kernel, fmt::format("'{}'", json), "a JSON object");
  AttributeReader from(kernel, std::move(object));
  Attributes attributes = reader->second(from);
  from.require_empty();
  return attributes;
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
                 .accepted = "one or more of each",
                 .hint = ""});
  }
  take_for_real(program);
  std::visit(OperandCheck(program.name, program), attributes);
  if (const auto* const matmul = std::get_if<MatmulAttributes>(&attributes)) {
    const Shape& a = program.inputs[0].spec.shape;
    const std::int64_t inner = matmul->transpose_a ? a.rows() : a.columns();
    program.flops = Flops(2 * program.outputs[0].spec.shape.elements() * inner);
  }
  return program;
}

}  // namespace howard::workload
