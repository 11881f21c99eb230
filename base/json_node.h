// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <limits>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace howard {

/// Says what a JSON text is; errors about it repeat this.
struct JsonSource {
  std::string attempted;      ///< What is being done with it: "read results.json".
  std::string accepted = {};  ///< What it should be: "JSON of schema howard.result/1".
  std::string hint = {};      ///< Where such a text comes from, or where it is explained.
};

class JsonNode;

/// Holds a parsed JSON text. It must outlive its nodes.
class JsonDocument {
 public:
  /// Throws Error if the text is no JSON or is nested too deeply (json_depth.h).
  JsonDocument(std::string_view text, JsonSource source);
  ~JsonDocument();
  JsonDocument(const JsonDocument&) = delete;
  JsonDocument& operator=(const JsonDocument&) = delete;

  JsonNode root() const;
  const JsonSource& source() const { return source_; }

 private:
  friend class JsonNode;
  JsonSource source_;
  std::unique_ptr<const nlohmann::ordered_json> root_;
};

/// Names a value of a JSON text. Every function fails with an Error that states the place, the
/// value and what would be right if it does not find what it asks for.
class JsonNode {
 public:
  bool is_null() const;
  bool is_array() const;
  bool is_object() const;
  bool is_text() const;
  bool is_number() const;
  bool is_flag() const;

  /// Says whether this is an object with such a member.
  bool has(std::string_view key) const;
  JsonNode member(std::string_view key) const;
  /// Returns the names and values of an object, in the text's order.
  std::vector<std::pair<std::string, JsonNode>> members() const;
  std::vector<JsonNode> items() const;
  /// Returns a list of at least `least` and at most `most` values; `accepted` says of which.
  std::vector<JsonNode> items(std::size_t least, std::size_t most, std::string_view accepted) const;

  std::string text() const;
  std::string filled_text() const;  ///< Returns a text that is not empty.
  double number() const;
  double positive() const;
  /// Returns a whole number from `least` to `most`.
  std::int64_t integer(std::int64_t least = INT64_MIN, std::int64_t most = INT64_MAX) const;
  std::uint64_t natural() const;  ///< Returns a whole number from 0 to 2^64 - 1.
  bool boolean() const;
  std::vector<std::string> texts() const;
  std::vector<double> numbers() const;
  /// Returns the names and texts of an object that holds nothing else, in the text's order.
  std::vector<std::pair<std::string, std::string>> named_texts() const;
  /// Returns the place that the text has among `words`.
  std::size_t word(std::initializer_list<std::string_view> words) const;

  /// Fails unless this is an object whose "schema" is `schema`.
  void require_schema(std::string_view schema) const;

  /// Returns the value as JSON, on one line.
  std::string dump() const;

  /// Reads a value as its type is read: texts, numbers (a whole one for whole types), flags, lists
  /// of them, and null as no value. `reader` says how if there is another way: it is a function of
  /// a node, or the list of a struct's fields. One for the items of a list reads each of them.
  /// Members of an object that no field names are left alone.
  template <class Value, class Reader = std::nullptr_t>
  void read(Value& value, const Reader& reader = {}) const;

  /// Throws an Error that says where this is and what is there. `accepted` is, for example, "a
  /// number".
  [[noreturn]] void fail(std::string_view accepted) const;

 private:
  friend class JsonDocument;
  JsonNode(const JsonDocument& document, const nlohmann::ordered_json& value)
      : document_(&document), value_(&value) {}
  const nlohmann::ordered_json& object() const;

  const JsonDocument* document_;
  const nlohmann::ordered_json* value_;
};

/// Names a member of objects of a JSON text and where its value belongs in a struct. A std::tuple
/// of them is the one description by which such objects are read, and written where we write them.
template <class Struct, class Value, class Reader>
struct JsonField {
  std::string_view name;
  Value Struct::*place;
  Reader reader;         ///< Goes to JsonNode::read().
  bool required = true;  ///< One that is not leaves the struct's own default if it is missing.
};

template <class Struct, class Value, class Reader = std::nullptr_t>
constexpr JsonField<Struct, Value, Reader> json_field(std::string_view name, Value Struct::*place,
                                                      Reader reader = {}) {
  return {name, place, reader};
}
template <class Struct, class Value, class Reader = std::nullptr_t>
constexpr JsonField<Struct, Value, Reader> optional_field(std::string_view name,
                                                          Value Struct::*place,
                                                          Reader reader = {}) {
  return {name, place, reader, false};
}

namespace json_detail {

template <class Type>
inline constexpr bool kIsOptional = false;
template <class Type>
inline constexpr bool kIsOptional<std::optional<Type>> = true;
template <class Type>
inline constexpr bool kIsVector = false;
template <class Type>
inline constexpr bool kIsVector<std::vector<Type>> = true;

}  // namespace json_detail

template <class Value, class Reader>
void JsonNode::read(Value& value, const Reader& reader) const {
  if constexpr (std::is_invocable_r_v<Value, const Reader&, const JsonNode&>) {
    value = std::invoke(reader, *this);
  } else if constexpr (json_detail::kIsOptional<Value>) {
    value.reset();
    if (!is_null()) read(value.emplace(), reader);
  } else if constexpr (json_detail::kIsVector<Value>) {
    using Item = typename Value::value_type;
    for (const JsonNode& item : items()) {
      if constexpr (std::is_invocable_r_v<Item, const Reader&, const JsonNode&>) {
        value.push_back(std::invoke(reader, item));
      } else {
        item.read(value.emplace_back(), reader);
      }
    }
  } else if constexpr (!std::is_null_pointer_v<Reader>) {
    const auto read_field = [&](const auto& field) {
      if (field.required || has(field.name)) {
        member(field.name).read(value.*field.place, field.reader);
      }
    };
    std::apply([&](const auto&... field) { (read_field(field), ...); }, reader);
  } else if constexpr (std::is_same_v<Value, std::string>) {
    value = text();
  } else if constexpr (std::is_same_v<Value, bool>) {
    value = boolean();
  } else if constexpr (std::is_same_v<Value, std::uint64_t>) {
    value = natural();
  } else if constexpr (std::is_integral_v<Value>) {
    using Limits = std::numeric_limits<Value>;
    value = static_cast<Value>(integer(Limits::min(), Limits::max()));
  } else {
    static_assert(std::is_same_v<Value, double>, "a type that has no JSON needs a reader");
    value = number();
  }
}

}  // namespace howard
