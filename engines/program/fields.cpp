// SPDX-License-Identifier: Apache-2.0
#include "engines/program/fields.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <tuple>
#include <type_traits>

#include "base/text.h"

namespace howard {
namespace {

EltwiseStep step_named(const JsonNode& value) {
  const auto function = find_eltwise(value.text());
  if (!function || arity_of(*function) != 1) value.fail("functions of one value");
  return step_of(*function);
}

/// Reads each field of a kind from the member of its name.
class FieldReader {
 public:
  explicit FieldReader(const JsonNode& object) : object_(object) {}

  template <class Value, class... Limits>
  void operator()(const FieldName& name, Value&& value, const Limits&... limits) {
    names_.push_back(name.own);
    if (!object_.has(name.own) || object_.member(name.own).is_null()) return;
    read(object_.member(name.own), value, limits...);
  }
  /// Fails if there is a member that is no field.
  void require_known() const {
    for (const auto& [name, value] : object_.members()) {
      if (std::ranges::find(names_, name) != names_.end()) continue;
      object_.fail(names_.empty() ? "no attributes"
                                  : fmt::format("an object of {}", fmt::join(names_, ", ")));
    }
  }

 private:
  static void read(const JsonNode& node, bool& value) {
    value = node.is_number() ? node.number() != 0 : node.boolean();
  }
  static void read(const JsonNode& node, float& value) {
    value = static_cast<float>(node.number());
  }
  static void read(const JsonNode& node, MathFidelity& value) {
    value = parse_math_fidelity(node.text());
  }
  static void read(const JsonNode& node, MatmulConfig& value) {
    value = parse_matmul_config(node.text());
  }
  static void read(const JsonNode& node, EltwiseStep& value) { value = step_named(node); }
  static void read(const JsonNode& node, std::vector<EltwiseStep>& value) {
    value.clear();
    for (const JsonNode& one : node.items(0, 16, "a list of 16 at most")) {
      value.push_back(step_named(one));
    }
  }
  static void read(const JsonNode& node, CoreGrid& value) {
    read(node, std::tie(value.columns, value.rows), Whole{1, 64});
  }
  static void read(const JsonNode& node, std::array<float, kMostEltwiseNumbers>& value) {
    const auto items = node.items(0, value.size(), "two numbers at most");
    for (std::size_t i = 0; i < items.size(); ++i) read(items[i], value.at(i));
  }
  template <class Number>
  requires std::is_integral_v<Number>
  static void read(const JsonNode& node, Number& value, const Whole& range) {
    value = static_cast<Number>(node.integer(range.least, range.most));
  }
  template <class Number, std::size_t count>
  static void read(const JsonNode& node, std::array<Number, count>& value, const Whole& range) {
    const auto items = whole_numbers(node, count, range);
    for (std::size_t i = 0; i < count; ++i) read(items[i], value[i], range);
  }
  template <class... Numbers>
  static void read(const JsonNode& node, const std::tuple<Numbers&...>& value, const Whole& range) {
    const auto items = whole_numbers(node, sizeof...(Numbers), range);
    std::size_t i = 0;
    std::apply([&](Numbers&... number) { (read(items[i++], number, range), ...); }, value);
  }
  template <class Choice, std::size_t count>
  static void read(const JsonNode& node, Choice& value,
                   const std::array<std::string_view, count>& words) {
    const auto found = std::ranges::find(words, node.text());
    if (found == words.end()) node.fail(fmt::format("{}", fmt::join(words, ", ")));
    value = static_cast<Choice>(found - words.begin());
  }
  template <class Value, class... Limits>
  static void read(const JsonNode& node, std::optional<Value>& value, const Limits&... limits) {
    read(node, value.emplace(), limits...);
  }

  static std::vector<JsonNode> whole_numbers(const JsonNode& node, std::size_t count,
                                             const Whole& range) {
    return node.items(
        count, count,
        fmt::format("{} whole numbers from {} to {}", count, range.least, range.most));
  }

  JsonNode object_;
  std::vector<std::string_view> names_;
};

/// Returns a value of a text as JSON: "HiFi4" in quotes, "2,8,2" as a list.
std::string json_of(std::string_view value) {
  if (value.find(',') != std::string_view::npos) return fmt::format("[{}]", value);
  const bool plain = value == "true" || value == "false" || parse_number(value).has_value();
  return plain ? std::string(value) : fmt::format("\"{}\"", value);
}

}  // namespace

void read_fields(Attributes& attributes, const JsonNode& object) {
  FieldReader reader(object);
  std::visit(
      [&](auto& op) {
        if constexpr (requires { op.fields(op, reader); }) op.fields(op, reader);
      },
      attributes.variant());
  reader.require_known();
}

std::vector<std::string_view> field_names(const Attributes& attributes) {
  std::vector<std::string_view> names;
  std::visit(
      [&](const auto& op) {
        const auto add = [&](const FieldName& name, const auto&...) { names.push_back(name.own); };
        if constexpr (requires { op.fields(op, add); }) op.fields(op, add);
      },
      attributes.variant());
  return names;
}

void read_fields(Attributes& attributes, std::string_view text) {
  if (text.empty()) return;
  std::string json;
  for (const std::string& part : split(text, ':')) {
    const std::size_t equals = part.find('=');
    json += fmt::format(
        "{}\"{}\":{}", json.empty() ? "" : ",", part.substr(0, equals),
        equals == std::string::npos ? "true" : json_of(std::string_view(part).substr(equals + 1)));
  }
  const JsonDocument document(
      "{" + json + "}", {.attempted = fmt::format("read '{}' of {}", text, name_of(attributes)),
                         .accepted = "fields, such as fidelity=HiFi4"});
  read_fields(attributes, document.root());
}

Attributes parse_attributes(std::string_view name, std::string_view json) {
  Attributes attributes = op_named(name);
  const JsonDocument document(
      json.empty() ? "{}" : json,
      {.attempted = fmt::format("read the attributes of {}", name), .accepted = "a JSON object"});
  read_fields(attributes, document.root());
  return attributes;
}

}  // namespace howard
