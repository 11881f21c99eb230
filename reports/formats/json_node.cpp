// SPDX-License-Identifier: Apache-2.0
#include "reports/formats/json_node.h"

#include <fmt/format.h>

#include <cmath>

#include "base/error.h"

namespace howard::reports {

using nlohmann::ordered_json;

JsonNode::JsonNode(const ordered_json& root, std::string_view file, std::string_view kind)
    : value_(&root), file_(file), kind_(kind) {}

JsonNode::JsonNode(const JsonNode& parent, const ordered_json& value, const std::string& step)
    : value_(&value),
      file_(parent.file_),
      kind_(parent.kind_),
      place_(parent.place_ + "/" + step) {}

void JsonNode::fail(const std::string& accepted) const {
  constexpr std::size_t kLongest = 60;
  std::string value = value_->dump(-1, ' ', true, ordered_json::error_handler_t::replace);
  if (value.size() > kLongest) value = value.substr(0, kLongest) + "...";
  throw Error({.attempted = fmt::format("read {}{}{}", file_, place_.empty() ? "" : " at ", place_),
               .value = std::move(value),
               .accepted = accepted,
               .hint = fmt::format("{}, as a run writes it", kind_)});
}

const ordered_json& JsonNode::object() const {
  if (!value_->is_object()) fail("an object");
  return *value_;
}

JsonNode JsonNode::member(const char* key) const {
  const auto found = object().find(key);
  if (found == value_->end()) fail(fmt::format("an object with \"{}\"", key));
  return {*this, *found, key};
}

std::vector<std::pair<std::string, JsonNode>> JsonNode::members() const {
  std::vector<std::pair<std::string, JsonNode>> members;
  for (const auto& [name, value] : object().items()) {
    members.emplace_back(name, JsonNode(*this, value, name));
  }
  return members;
}

std::vector<JsonNode> JsonNode::items() const {
  if (!value_->is_array()) fail("a list");
  std::vector<JsonNode> items;
  for (const ordered_json& value : *value_) {
    items.push_back(JsonNode(*this, value, std::to_string(items.size())));
  }
  return items;
}

std::string JsonNode::text() const {
  if (!value_->is_string()) fail("a text");
  return value_->get<std::string>();
}

double JsonNode::number() const {
  // This is far beyond anything that is measured, and so far from the end of the range that
  // quotients and squares of two values are finite.
  constexpr double kLargest = 1e60;
  const double number = value_->is_number() ? value_->get<double>() : kLargest * 10;
  const double size = std::abs(number);
  if (size != 0 && !(size >= 1 / kLargest && size <= kLargest))
    fail("a number of 1e-60 to 1e60, or 0");
  return number;
}

std::int64_t JsonNode::integer() const {
  const bool fits =
      value_->is_number_integer() && (!value_->is_number_unsigned() || natural() <= INT64_MAX);
  if (!fits) fail("a whole number of 64 bits");
  return value_->get<std::int64_t>();
}

std::uint64_t JsonNode::natural() const {
  if (!value_->is_number_unsigned()) fail("a whole number from 0 on");
  return value_->get<std::uint64_t>();
}

bool JsonNode::boolean() const {
  if (!value_->is_boolean()) fail("true or false");
  return value_->get<bool>();
}

std::vector<std::string> JsonNode::texts() const {
  std::vector<std::string> texts;
  for (const JsonNode& item : items()) texts.push_back(item.text());
  return texts;
}

std::vector<double> JsonNode::numbers() const {
  std::vector<double> numbers;
  for (const JsonNode& item : items()) numbers.push_back(item.number());
  return numbers;
}

bool JsonNode::is_first(std::string_view first, std::string_view second) const {
  if (*value_ == first) return true;
  if (*value_ == second) return false;
  fail(fmt::format("\"{}\" or \"{}\"", first, second));
}

}  // namespace howard::reports
