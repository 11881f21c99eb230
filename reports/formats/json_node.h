// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace howard::reports {

/// A value of a JSON file that knows its place in it, so that what is wrong there can be said with
/// place, value and what would do. Every function that does not find what it asks for fails.
class JsonNode {
 public:
  /// The whole of a file. `file` is how messages call it, `kind` what it should have been: "JSON of
  /// schema howard.result/1". `root` must outlive all nodes.
  JsonNode(const nlohmann::ordered_json& root, std::string_view file, std::string_view kind);

  bool is_null() const { return value_->is_null(); }
  bool is_array() const { return value_->is_array(); }
  bool has(const char* key) const { return value_->is_object() && value_->contains(key); }

  JsonNode member(const char* key) const;
  /// Names and values of an object, in the file's order.
  std::vector<std::pair<std::string, JsonNode>> members() const;
  std::vector<JsonNode> items() const;

  std::string text() const;
  double number() const;
  /// A whole number within the range of the type.
  std::int64_t integer() const;
  std::uint64_t natural() const;
  bool boolean() const;
  std::vector<std::string> texts() const;
  std::vector<double> numbers() const;
  /// True for the first of two words, false for the second.
  bool is_first(std::string_view first, std::string_view second) const;

  /// Throws an Error that says where this is and what stands there. `accepted`: "a number".
  [[noreturn]] void fail(const std::string& accepted) const;

 private:
  JsonNode(const JsonNode& parent, const nlohmann::ordered_json& value, const std::string& step);
  const nlohmann::ordered_json& object() const;

  const nlohmann::ordered_json* value_;
  std::string_view file_;
  std::string_view kind_;
  std::string place_;  ///< "/points/3/metrics/time", a JSON pointer; empty for the whole.
};

}  // namespace howard::reports
