// SPDX-License-Identifier: Apache-2.0
#include "engines/program/ttnn_words.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <tuple>
#include <type_traits>
#include <utility>

#include "base/error.h"
#include "base/text.h"

namespace howard {
namespace {

std::string grid_text(const CoreGrid& grid) {
  return fmt::format("(x={};y={})", grid.columns, grid.rows);
}

/// Returns the newest of the names of one field.
std::string_view newest(std::string_view names) { return names.substr(0, names.find('|')); }

/// Takes the first of the names of several numbers off the others.
std::string_view next(std::string_view& names) {
  const std::string_view first = names.substr(0, names.find(','));
  names.remove_prefix(std::min(names.size(), first.size() + 1));
  return first;
}

/// Adds a member to a struct among the words, which begins with it if it is not there.
void add_member(TtnnWords& words, const TtnnStruct& in, std::string_view name,
                std::string_view value) {
  auto& all = words.attributes;
  const auto found =
      std::ranges::find(all, in.attribute, [](const auto& one) { return one.first; });
  if (found == all.end()) {
    all.emplace_back(in.attribute, fmt::format("{}({}={})", in.type, name, value));
  } else {
    found->second.insert(found->second.size() - 1, fmt::format(";{}={}", name, value));
  }
}

/// Writes each field by the name that ttnn has for it.
class WordWriter {
 public:
  explicit WordWriter(TtnnWords& words) : words_(&words) {}

  template <class Value, class... Limits>
  void operator()(const FieldName& name, const Value& value, const Limits&...) {
    if (!name.ttnn.empty()) tell(name, value);
  }

 private:
  template <class Value>
  void tell(const FieldName& name, const Value& value) {
    add(name, newest(name.ttnn), text_of(name, value));
  }
  template <class Value>
  void tell(const FieldName& name, const std::optional<Value>& value) {
    if (value) return tell(name, *value);
    if (name.in.attribute.empty()) add(name, newest(name.ttnn), "std::nullopt");
  }
  // Several numbers, each by a name of its own.
  template <class... Numbers>
  void tell(const FieldName& name, const std::tuple<Numbers&...>& values) {
    std::string_view names = name.ttnn;
    std::apply([&](const auto&... value) { (add(name, next(names), fmt::to_string(value)), ...); },
               values);
  }
  void tell(const FieldName& name, const std::array<std::int64_t, 2>& values) {
    if (name.ttnn.find(',') != name.ttnn.npos) return tell(name, std::tie(values[0], values[1]));
    add(name, name.ttnn, fmt::format("({})", fmt::join(values, ";")));
  }

  static std::string text_of(const FieldName& name, bool value) {
    if (!name.words.empty()) return std::string(name.word(value ? 1 : 0));
    const bool is_member = !name.in.attribute.empty();
    return is_member ? fmt::to_string(value ? 1 : 0) : fmt::to_string(value);
  }
  template <class Value>
  static std::string text_of(const FieldName& name, const Value& value) {
    if constexpr (std::is_same_v<Value, MathFidelity>) {
      return std::string(name_of(value));
    } else if constexpr (std::is_same_v<Value, CoreGrid>) {
      return grid_text(value);
    } else if constexpr (std::is_same_v<Value, EltwiseStep>) {
      return ttnn_chain(std::span(&value, 1));
    } else if constexpr (std::is_same_v<Value, MatmulConfig>) {
      return ttnn_text(value);
    } else if constexpr (std::is_enum_v<Value>) {
      return std::string(name.word(static_cast<std::size_t>(value)));
    } else if constexpr (std::is_arithmetic_v<Value>) {
      return fmt::to_string(value);
    } else if (name.in.attribute.empty()) {
      const bool is_shape = std::is_same_v<typename Value::value_type, std::int64_t>;
      return fmt::format("{}([{}])", is_shape ? "Shape" : "SmallVector", fmt::join(value, "; "));
    } else {
      return fmt::format("(({}; {}); ({}; {}))", value[0], value[1], value[2], value[3]);
    }
  }

  void add(const FieldName& name, std::string_view part, std::string value) {
    if (name.in.attribute.empty()) {
      words_->attributes.emplace_back(part, std::move(value));
    } else {
      add_member(*words_, name.in, part, value);
    }
  }

  TtnnWords* words_;
};

/// Reads each field by the names that versions of ttnn have for it.
class WordReader {
 public:
  explicit WordReader(const OpAttributes& words) : words_(&words) {}

  template <class Value, class... Limits>
  void operator()(const FieldName& name, Value&& value, const Limits&... limits) {
    if (!name.ttnn.empty()) read(name, value, limits...);
  }

 private:
  template <class Value, class... Limits>
  void read(const FieldName& name, Value& value, const Limits&... limits) {
    if (const auto text = find(name, name.ttnn)) take(name, *text, value, limits...);
  }
  template <class... Numbers>
  void read(const FieldName& name, std::tuple<Numbers&...>& values, const Whole& range) {
    std::apply([&](Numbers&... number) { read_each(name, range, number...); }, values);
  }
  void read(const FieldName& name, std::array<std::int64_t, 2>& values, const Whole& range) {
    if (name.ttnn.find(',') != name.ttnn.npos) return read_each(name, range, values[0], values[1]);
    if (const auto text = find(name, name.ttnn)) take(name, *text, values, range);
  }
  template <class... Numbers>
  void read_each(const FieldName& name, const Whole& range, Numbers&... numbers) {
    std::string_view names = name.ttnn;
    const auto read_next = [&](auto& number) {
      if (const auto text = find(name, next(names))) take(name, *text, number, range);
    };
    (read_next(numbers), ...);
  }

  /// Returns the value of the first of some names that the words have.
  std::optional<std::string_view> find(const FieldName& name, std::string_view names) const {
    for (const std::string& one : split(names, '|')) {
      auto text =
          name.in.attribute.empty() ? words_->find(one) : words_->member(name.in.attribute, one);
      // What two ops were told in one is told in structs.
      if (!text && name.in.attribute.empty()) text = words_->anywhere(one);
      if (text && *text != "std::nullopt") return text;
    }
    if (name.needed) {
      throw Error({.attempted = "read its attributes",
                   .value = fmt::format("no {} among its attributes", newest(names)),
                   .accepted = "a value"});
    }
    return std::nullopt;
  }

  [[noreturn]] static void fail(const FieldName& name, std::string_view text,
                                std::string accepted) {
    throw Error({.attempted = "read its attributes",
                 .value = fmt::format("{} '{}'", newest(name.ttnn), text),
                 .accepted = std::move(accepted)});
  }

  template <class Value, class... Limits>
  static void take(const FieldName& name, std::string_view text, std::optional<Value>& value,
                   const Limits&... limits) {
    take(name, text, value.emplace(), limits...);
  }
  static void take(const FieldName& name, std::string_view text,
                   std::optional<EltwiseStep>& value) {
    const std::vector<EltwiseStep> chain = parse_ttnn_chain(text);
    if (chain.size() > 1) fail(name, text, "one function");
    if (!chain.empty()) value = chain.front();
  }
  static void take(const FieldName&, std::string_view text, std::vector<EltwiseStep>& value) {
    value = parse_ttnn_chain(text);
  }
  static void take(const FieldName&, std::string_view, std::array<float, kMostEltwiseNumbers>&) {}
  static void take(const FieldName& name, std::string_view text, bool& value) {
    if (!name.words.empty()) {
      value = enumerator(text) == enumerator(name.word(1));
    } else if (text == "true" || text == "1") {
      value = true;
    } else if (text == "false" || text == "0") {
      value = false;
    } else {
      fail(name, text, "true, false, 1, 0");
    }
  }
  /// What is no finite number, as the "-inf" that a pad may be, affects no time.
  static void take(const FieldName&, std::string_view text, float& value) {
    if (const auto number = parse_number(text)) value = static_cast<float>(*number);
  }
  static void take(const FieldName&, std::string_view text, MathFidelity& value) {
    value = parse_math_fidelity(text);
  }
  static void take(const FieldName&, std::string_view text, MatmulConfig& value) {
    value = parse_ttnn_config(text);
  }
  static void take(const FieldName& name, std::string_view text, CoreGrid& value) {
    const auto grid = text.starts_with('{') ? parse_ttnn_range(text) : parse_ttnn_grid(text);
    if (!grid) fail(name, text, "(x=8;y=7), or one range from the first core on");
    value = *grid;
  }
  /// A zero where numbers begin at one stands for what ttnn chooses.
  template <class Number>
  requires std::is_integral_v<Number>
  static void take(const FieldName& name, std::string_view text, Number& value,
                   const Whole& range) {
    const auto number = parse_integer(text);
    if (number == 0 && range.least > 0 && !name.needed) return;
    if (!number || *number < range.least || *number > range.most) {
      fail(name, text, fmt::format("{} to {}", range.least, range.most));
    }
    value = static_cast<Number>(*number);
  }
  /// A list of fewer numbers is of the last dimensions.
  template <class Number, std::size_t count>
  static void take(const FieldName& name, std::string_view text, std::array<Number, count>& value,
                   const Whole& range) {
    const auto numbers = parse_ttnn_list(text);
    if (!numbers || numbers->size() > count) {
      fail(name, numbers ? fmt::format("of {} numbers", numbers->size()) : std::string(text),
           fmt::format("{} at the most", count));
    }
    const std::size_t missing = count - numbers->size();
    for (std::size_t i = 0; i < numbers->size(); ++i) {
      value[missing + i] = static_cast<Number>(std::clamp((*numbers)[i], range.least, range.most));
    }
  }
  template <class Choice, std::size_t count>
  static void take(const FieldName& name, std::string_view text, Choice& value,
                   const std::array<std::string_view, count>&) {
    for (std::size_t i = 0; i < count; ++i) {
      if (enumerator(text) != enumerator(name.word(i))) continue;
      value = static_cast<Choice>(i);
      return;
    }
    fail(name, enumerator(text), std::string(name.words));
  }

  const OpAttributes* words_;
};

/// The words of a ShardLayout.
constexpr std::array kLayouts{"HEIGHT", "WIDTH", "BLOCK"};

/// Writes what is told of a call beside its fields.
struct FurtherWords {
  Specs in, out;
  TtnnWords& words;

  void told(std::string_view name, std::string value) const {
    words.attributes.emplace_back(name, std::move(value));
  }

  template <class Kind>
  void operator()(const Kind&) const {}

  void operator()(const EltwiseAttributes& op) const {
    const EltwiseEntry& entry = entry_of(op.function);
    if (op.function != Eltwise::silu_backward && entry.values == 3) {
      told("ternary_op_type", fmt::format("TernaryOpType::{}", entry.ttnn));
    } else if (op.function != Eltwise::silu_backward && entry.values == 2) {
      told("binary_op_type", fmt::format("BinaryOpType::{}", entry.ttnn));
      told("scalar", op.scalar ? fmt::format("{}", *op.scalar) : "std::nullopt");
      const auto told_chain = [&](std::string_view role, const std::vector<EltwiseStep>& steps) {
        if (!steps.empty()) told(role, fmt::format("SmallVector([{}])", ttnn_chain(steps)));
      };
      told_chain("lhs_activations", op.on_a);
      told_chain("rhs_activations", op.on_b);
      told_chain("post_activations", op.then);
    } else if (op.function != Eltwise::silu_backward) {
      std::vector<EltwiseStep> chain{{op.function, op.numbers}};
      if (op.scalar) chain.front().numbers[0] = *op.scalar;
      chain.insert(chain.end(), op.then.begin(), op.then.end());
      told("op_chain", fmt::format("{{{}}}", ttnn_chain(chain)));
    }
    told("sub_core_grids", op.core_grid ? ttnn_range_text(*op.core_grid) : "std::nullopt");
  }

  /// A configuration says the function that its kernel fuses.
  void operator()(const MatmulAttributes& op) const {
    if (!op.config || !op.activation) return;
    const auto config = std::ranges::find(words.attributes, "program_config",
                                          [](const auto& one) { return one.first; });
    config->second = ttnn_text(*op.config, ttnn_chain(std::span(&*op.activation, 1)));
  }

  void operator()(const ReduceAttributes& op) const {
    const bool sums_heads = out[0].shape.outer() > 1 && out[0].shape.heads() == 1;
    const bool columns = op.dimension == Dimension::columns;
    if (op.moreh) {
      told("dim", columns ? "3" : op.dimension == Dimension::rows ? "2" : sums_heads ? "1" : "0");
    } else if (op.dimension != Dimension::batch) {
      // ttnn's mean is a sum that is scaled on the way.
      told("math_op", op.reduction == Reduction::max ? "ReduceOpMath::MAX" : "ReduceOpMath::SUM");
      told("dim", columns ? "ReduceOpDim::W" : "ReduceOpDim::H");
    }
  }
  void operator()(const RepeatAttributes&) const {
    told("m_num_repeats", fmt::to_string(out[0].shape.heads() / in[0].shape.heads()));
  }
  void operator()(const MoveTilesAttributes&) const { told("dim", "3"); }
  void operator()(const WriteRowsAttributes& op) const {
    told("slice_start", fmt::format("Shape([0; 0; {}; 0])", op.row));
    told("step", "Shape([1; 1; 1; 1])");
  }
  void operator()(const DecodeAttentionAttributes& op) const {
    told("is_causal", op.seen > 0 ? "true" : "false");
    if (op.seen > 0) told("cur_pos", fmt::format("{{{}}}", op.seen - 1));
  }

  void operator()(const AllGatherAttributes& op) const {
    told_exchange(op.dimension, out[0], in[0]);
  }
  void operator()(const ReduceScatterAttributes& op) const {
    told_exchange(op.side(), in[0], out[0]);
  }
  void operator()(const AllGatherMatmulAttributes& op) const { (*this)(op.gather); }
  void operator()(const MatmulReduceScatterAttributes& op) const {
    told_exchange(op.scatter.side(), out[0], out[1]);
  }
  /// Tells that devices exchange `whole`, of which each has `part` before or afterwards.
  void told_exchange(int dimension, const TensorSpec& whole, const TensorSpec& part) const {
    told("dim", fmt::to_string(dimension));
    told("ring_size", fmt::to_string(whole.shape.elements() / part.shape.elements()));
  }

  void operator()(const Conv2dAttributes& op) const {
    told_images("sliding_window_config", op.window);
    told("memory_config", fmt::format("MemoryConfig(memory_layout=TensorMemoryLayout::{}_SHARDED)",
                                      kLayouts.at(static_cast<std::size_t>(op.sharding))));
    told("has_bias", fmt::to_string(in.size() > 2));
  }
  void operator()(const HaloAttributes& op) const { told_images("config", op.window); }
  void operator()(const Pool2dAttributes& op) const {
    told_images("sliding_window_config_", op.window);
  }
  void told_images(std::string_view attribute, const Window& window) const {
    const bool ceil = window.beyond != std::array<std::int64_t, 2>{};
    add_member(words, {attribute, ""}, "input_hw",
               fmt::format("({};{})", window.height, window.width));
    add_member(words, {attribute, ""}, "ceil_mode", fmt::to_string(ceil));
  }
};

/// Returns the shards of a result as ttnn prints its memory.
std::string memory_text(const TensorSpec& spec) {
  const Sharding& shards = *spec.sharding;
  return fmt::format(
      "MemoryConfig(memory_layout=TensorMemoryLayout::{}_SHARDED;buffer_type="
      "BufferType::{};shard_spec=ShardSpec(grid={};shape={{{}; {}}};orientation="
      "ShardOrientation::{}))",
      kLayouts.at(static_cast<std::size_t>(shards.layout)),
      spec.storage == Storage::dram ? "DRAM" : "L1", ttnn_range_text(shards.grid), shards.rows,
      shards.columns, shards.column_major ? "COL_MAJOR" : "ROW_MAJOR");
}

/// Returns the word that tells an op from others of the same operation; none where there is one.
template <class Kind>
TtnnWord word_of(const Kind& op) {
  if constexpr (requires { op.kTold; }) {
    return op.kTold;
  } else if constexpr (requires { op.told(); }) {
    return op.told();
  } else {
    return {};
  }
}

}  // namespace

std::string ttnn_range_text(CoreGrid grid) {
  return fmt::format("{{[(x=0;y=0) - (x={};y={})]}}", grid.columns - 1, grid.rows - 1);
}

TtnnWords ttnn_words(const Attributes& attributes, Specs in, Specs out) {
  TtnnWords words;
  std::visit(
      [&]<class Kind>(const Kind& op) {
        words.operation = ttnn_name_of(attributes);
        if constexpr (requires { op.ttnn(in, out); }) words.operation = op.ttnn(in, out);
        if (words.operation.empty()) words.operation = name_of(attributes);
        if (const TtnnWord word = word_of(op); !word.name.empty()) {
          words.attributes.emplace_back(word.name, word.value);
        }
        // The functions of one and of two values have them in places of their own.
        if constexpr (!std::is_same_v<Kind, EltwiseAttributes>) {
          WordWriter writer(words);
          if constexpr (requires { op.fields(op, writer); }) op.fields(op, writer);
        }
        FurtherWords{in, out, words}(op);
        if (out[0].sharding)
          words.attributes.emplace_back("output_mem_config", memory_text(out[0]));
      },
      attributes.variant());
  return words;
}

void read_ttnn(Attributes& attributes, const OpAttributes& words, std::string_view fidelity) {
  std::visit(
      [&](auto& op) {
        WordReader reader(words);
        if constexpr (requires { op.fields(op, reader); }) op.fields(op, reader);
        if constexpr (requires { op.compute; }) {
          if (!fidelity.empty()) op.compute.fidelity = parse_math_fidelity(fidelity);
        }
      },
      attributes.variant());
}

TtnnWord ttnn_word_of(const Attributes& attributes) {
  return std::visit([](const auto& op) { return word_of(op); }, attributes.variant());
}

bool is_told(const Attributes& attributes, const OpAttributes& words) {
  const TtnnWord word = ttnn_word_of(attributes);
  const auto told = word.name.empty() ? std::nullopt : words.find(word.name);
  if (!told) return word.is_default;
  // Dimension -1 is the last one of four.
  return enumerator(*told) == enumerator(word.value) || (word.value == "3" && *told == "-1");
}

std::string ttnn_chain(std::span<const EltwiseStep> steps) {
  std::string chain;
  for (const EltwiseStep& step : steps) {
    const EltwiseEntry& entry = entry_of(step.function);
    // The fast gelu is ttnn's gelu with a number that says so.
    const bool is_fast = step.function == Eltwise::gelu_approx;
    chain += fmt::format("{}BasicUnaryWithParam<float>(op_type=UnaryOpType::{};param={{{}",
                         chain.empty() ? "" : "; ", is_fast ? "GELU" : entry.ttnn,
                         is_fast ? 1.0F : step.numbers[0]);
    if (entry.numbers == 2) chain += fmt::format(";{}", step.numbers[1]);
    chain += "})";
  }
  return chain;
}

std::vector<EltwiseStep> parse_ttnn_chain(std::string_view text) {
  const auto refuse = [](std::string value, std::string accepted) {
    throw Error({.attempted = "read its functions",
                 .value = std::move(value),
                 .accepted = std::move(accepted)});
  };
  std::vector<EltwiseStep> steps;
  for (std::size_t at = text.find("UnaryOpType::"); at != std::string_view::npos;
       at = text.find("UnaryOpType::", at + 1)) {
    const std::string_view rest = text.substr(at, text.find("UnaryOpType::", at + 1) - at);
    const std::string_view name = enumerator(rest.substr(0, rest.find_first_of(";,)}]")));
    const auto function = find_eltwise_by_ttnn(name, name == "FILL" ? 0 : 1);
    if (!function) refuse(fmt::format("op_type '{}'", name), "a function that the emulator has");
    EltwiseStep step = step_of(*function);
    const std::size_t open = rest.find("param={");
    const std::string_view numbers =
        open == std::string_view::npos ? "" : rest.substr(open + 7, rest.find('}') - open - 7);
    const std::vector<std::string> values = split(numbers, ';');
    // What fill writes is its only number.
    const auto known =
        *function == Eltwise::fill ? 1 : static_cast<std::size_t>(entry_of(*function).numbers);
    for (std::size_t i = 0; i < std::min(known, values.size()); ++i) {
      step.numbers.at(i) = static_cast<float>(parse_number(values[i]).value_or(0));
    }
    // The parameter of the functions that have a fast, less exact variant says whether it is taken.
    const bool has_variants = *function == Eltwise::exp || *function == Eltwise::erf ||
                              *function == Eltwise::gelu || *function == Eltwise::rsqrt ||
                              *function == Eltwise::sqrt;
    const bool is_fast = has_variants && !values.empty() && parse_number(values[0]) == 1;
    if (is_fast && *function == Eltwise::gelu) {
      step.function = Eltwise::gelu_approx;
    } else if (is_fast) {
      refuse(fmt::format("the approximate {}", name), "the exact one");
    }
    steps.push_back(step);
  }
  return steps;
}

}  // namespace howard
