// SPDX-License-Identifier: Apache-2.0
#include "base/json_node.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/json_depth.h"
#include "base/json_dump.h"
#include "base/text.h"

namespace howard {

using nlohmann::ordered_json;

namespace {

/// Adds to `path` the JSON pointer from `from` to `wanted`; returns whether it is there. Only
/// errors ask for a place, so that nodes need not carry theirs.
bool find_path(const ordered_json& from, const ordered_json& wanted, std::string& path) {
  if (&from == &wanted) return true;
  const std::size_t length = path.size();
  const auto goes_by = [&](const std::string& step, const ordered_json& value) {
    path.push_back('/');
    for (const char letter : step) {
      if (letter == '~' || letter == '/') {
        path.append(letter == '~' ? "~0" : "~1");
      } else {
        path.push_back(letter);
      }
    }
    if (find_path(value, wanted, path)) return true;
    path.resize(length);
    return false;
  };
  if (from.is_object()) {
    for (const auto& [name, value] : from.items()) {
      if (goes_by(name, value)) return true;
    }
  } else if (from.is_array()) {
    for (std::size_t i = 0; i < from.size(); ++i) {
      if (goes_by(std::to_string(i), from[i])) return true;
    }
  }
  return false;
}

/// Builds the value of a text. The library's own builder looks through all
/// members of an object before it adds one, which takes half a minute for the
/// 128,000 tokens of a vocabulary.
class Builder final : public nlohmann::json_sax<ordered_json> {
 public:
  Builder(const JsonSource& source, bool one_line) : source_(source), one_line_(one_line) {}

  bool null() override { return add(nullptr); }
  bool boolean(bool value) override { return add(value); }
  bool number_integer(std::int64_t value) override { return add(value); }
  bool number_unsigned(std::uint64_t value) override { return add(value); }
  bool number_float(double value, const std::string& /*text*/) override { return add(value); }
  bool string(std::string& value) override { return add(std::move(value)); }
  bool binary(ordered_json::binary_t& value) override { return add(std::move(value)); }
  bool start_object(std::size_t /*size*/) override { return open(ordered_json::object()); }
  bool start_array(std::size_t /*size*/) override { return open(ordered_json::array()); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }
  bool key(std::string& name) override {
    name_ = std::move(name);
    return true;
  }
  bool parse_error(std::size_t /*place*/, const std::string& /*token*/,
                   const ordered_json::exception& failure) override {
    throw Error({.attempted = source_.attempted,
                 .value = place_of(json_failure(failure.what())),
                 .accepted = source_.accepted,
                 .hint = source_.hint});
  }

  ordered_json take() { return std::move(root_); }

 private:
  /// Leaves the number of the line out of a text that is one: its source knows which one.
  std::string place_of(std::string words) const {
    constexpr std::string_view kLine = " line 1,";
    const std::size_t line = words.find(kLine);
    if (one_line_ && line != std::string::npos) words.erase(line, kLine.size());
    return words;
  }
  bool add(ordered_json value) {
    place(std::move(value));
    return true;
  }
  bool open(ordered_json value) {
    open_.push_back(place(std::move(value)));
    return true;
  }
  bool close() {
    open_.pop_back();
    return true;
  }
  ordered_json* place(ordered_json value) {
    if (open_.empty()) return &(root_ = std::move(value));
    ordered_json& parent = *open_.back();
    if (parent.is_array()) return &parent.emplace_back(std::move(value));
    auto& members = parent.get_ref<ordered_json::object_t&>();
    return &static_cast<Members&>(members).emplace_back(std::move(name_), std::move(value)).second;
  }

  using Members = ordered_json::object_t::Container;

  const JsonSource& source_;
  bool one_line_;
  ordered_json root_;
  std::vector<ordered_json*> open_;
  std::string name_;
};

ordered_json parsed(std::string_view text, const JsonSource& source) {
  require_json_depth(text, source.attempted);
  Builder builder(source, text.find('\n') == std::string_view::npos);
  ordered_json::sax_parse(text, &builder);
  return builder.take();
}

}  // namespace

JsonDocument::JsonDocument(std::string_view text, JsonSource source)
    : source_(std::move(source)),
      root_(std::make_unique<const ordered_json>(parsed(text, source_))) {}

JsonDocument::~JsonDocument() = default;

JsonNode JsonDocument::root() const { return {*this, *root_}; }

void JsonNode::fail(std::string_view accepted) const {
  constexpr std::size_t kLongest = 60;
  // ASCII may be cut anywhere.
  std::string value = value_->dump(-1, ' ', true, ordered_json::error_handler_t::replace);
  if (value.size() > kLongest) value = value.substr(0, kLongest) + "...";
  std::string place;
  find_path(*document_->root_, *value_, place);
  const JsonSource& source = document_->source();
  throw Error({.attempted = source.attempted + (place.empty() ? "" : " at ") + place,
               .value = std::move(value),
               .accepted = std::string(accepted),
               .hint = source.hint});
}

bool JsonNode::is_null() const { return value_->is_null(); }
bool JsonNode::is_array() const { return value_->is_array(); }
bool JsonNode::is_object() const { return value_->is_object(); }
bool JsonNode::is_text() const { return value_->is_string(); }
bool JsonNode::is_number() const { return value_->is_number(); }
bool JsonNode::is_flag() const { return value_->is_boolean(); }

bool JsonNode::has(std::string_view key) const {
  return value_->is_object() && value_->contains(std::string(key));
}

const ordered_json& JsonNode::object() const {
  if (!value_->is_object()) fail("an object");
  return *value_;
}

JsonNode JsonNode::member(std::string_view key) const {
  // The last of several members of one name counts.
  const auto& members = object().get_ref<const ordered_json::object_t&>();
  const auto found = std::find_if(members.rbegin(), members.rend(),
                                  [&](const auto& one) { return one.first == key; });
  if (found == members.rend()) fail(fmt::format("an object with \"{}\"", key));
  return {*document_, found->second};
}

std::vector<std::pair<std::string, JsonNode>> JsonNode::members() const {
  std::vector<std::pair<std::string, JsonNode>> members;
  for (const auto& [name, value] : object().items()) {
    members.emplace_back(name, JsonNode(*document_, value));
  }
  return members;
}

std::vector<JsonNode> JsonNode::items() const {
  if (!value_->is_array()) fail("a list");
  std::vector<JsonNode> items;
  items.reserve(value_->size());
  for (const ordered_json& value : *value_) items.push_back(JsonNode(*document_, value));
  return items;
}

std::vector<JsonNode> JsonNode::items(std::size_t least, std::size_t most,
                                      std::string_view accepted) const {
  if (!value_->is_array() || value_->size() < least || value_->size() > most) fail(accepted);
  return items();
}

std::string JsonNode::text() const {
  if (!value_->is_string()) fail("a text");
  return value_->get<std::string>();
}

std::string JsonNode::filled_text() const {
  std::string filled = text();
  if (filled.empty()) fail("a non-empty text");
  return filled;
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

double JsonNode::positive() const {
  const double value = number();
  if (!(value > 0)) fail("a positive number");
  return value;
}

std::int64_t JsonNode::integer(std::int64_t least, std::int64_t most) const {
  const bool fits = value_->is_number_integer() &&
                    (!value_->is_number_unsigned() || value_->get<std::uint64_t>() <= INT64_MAX) &&
                    value_->get<std::int64_t>() >= least && value_->get<std::int64_t>() <= most;
  if (!fits) {
    fail(least == INT64_MIN ? "a whole number of 64 bits"
                            : fmt::format("a whole number from {} to {}", least, most));
  }
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
  read(texts);
  return texts;
}

std::vector<double> JsonNode::numbers() const {
  std::vector<double> numbers;
  read(numbers);
  return numbers;
}

std::vector<std::pair<std::string, std::string>> JsonNode::named_texts() const {
  std::vector<std::pair<std::string, std::string>> texts;
  for (const auto& [name, value] : members()) texts.emplace_back(name, value.text());
  return texts;
}

std::size_t JsonNode::word(std::initializer_list<std::string_view> words) const {
  const auto found =
      std::ranges::find_if(words, [&](std::string_view known) { return *value_ == known; });
  if (found == words.end()) fail(fmt::format("\"{}\"", fmt::join(words, "\", \"")));
  return static_cast<std::size_t>(found - words.begin());
}

void JsonNode::require_schema(std::string_view schema) const {
  const JsonNode found = member("schema");
  if (*found.value_ != schema) found.fail(fmt::format("\"{}\"", schema));
}

std::string JsonNode::dump() const { return json_dump(*value_); }

}  // namespace howard
