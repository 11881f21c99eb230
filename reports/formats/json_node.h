// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace howard::reports {

/// Holds a value of a JSON file together with its place in the file, so that an error can state the
/// place, the value and what would be right. Every function fails if it does not find what it asks
/// for.
class JsonNode {
 public:
  /// Holds the whole of a file. Messages call it `file`, and `kind` says what it should have been:
  /// "JSON of schema howard.result/1". `root` must outlive all nodes.
  JsonNode(const nlohmann::ordered_json& root, std::string_view file, std::string_view kind);

  bool is_null() const { return value_->is_null(); }
  bool is_array() const { return value_->is_array(); }
  bool has(const char* key) const { return value_->is_object() && value_->contains(key); }

  JsonNode member(const char* key) const;
  /// Returns the names and values of an object, in the file's order.
  std::vector<std::pair<std::string, JsonNode>> members() const;
  std::vector<JsonNode> items() const;

  std::string text() const;
  double number() const;
  /// Returns a whole number within the range of the type.
  std::int64_t integer() const;
  std::uint64_t natural() const;
  bool boolean() const;
  std::vector<std::string> texts() const;
  std::vector<double> numbers() const;
  /// Returns true for the first of two words and false for the second.
  bool is_first(std::string_view first, std::string_view second) const;

  /// Throws an Error that says where this is and what is there. `accepted` is, for example, "a
  /// number".
  [[noreturn]] void fail(const std::string& accepted) const;

 private:
  JsonNode(const JsonNode& parent, const nlohmann::ordered_json& value, const std::string& step);
  const nlohmann::ordered_json& object() const;

  const nlohmann::ordered_json* value_;
  std::string_view file_;
  std::string_view kind_;
  std::string place_;  ///< A JSON pointer, "/points/3/metrics/time"; empty for the whole.
};

}  // namespace howard::reports
