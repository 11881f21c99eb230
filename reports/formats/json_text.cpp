// SPDX-License-Identifier: Apache-2.0
#include "reports/formats/json_text.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/json_dump.h"
#include "reports/tables/format.h"

namespace howard::reports {

void JsonText::new_line() { text_.append("\n").append(2 * depth_, ' '); }

void JsonText::begin(char bracket) {
  text_ += bracket;
  ++depth_;
  empty_ = true;
}

void JsonText::end(char bracket) {
  --depth_;
  if (!empty_) new_line();
  text_ += bracket;
  empty_ = false;
}

void JsonText::item() {
  if (!empty_) text_ += ',';
  new_line();
  empty_ = false;
}

void JsonText::member(std::string_view name) {
  item();
  text(name);
  text_ += ": ";
}

void JsonText::text(std::string_view value) {
  const bool plain = std::ranges::all_of(
      value, [](char c) { return c >= ' ' && c <= '~' && c != '"' && c != '\\'; });
  if (plain) {
    text_.append("\"").append(value).append("\"");
    return;
  }
  using nlohmann::json;
  text_ += json_dump(json(value));
}

void JsonText::number(double value) {
  std::string text = format_exact(value);
  // A whole number stays a number that may have a fraction.
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  text_ += text;
}

void JsonText::integer(std::int64_t value) { text_ += std::to_string(value); }

void JsonText::natural(std::uint64_t value) { text_ += std::to_string(value); }

void JsonText::boolean(bool value) { text_ += value ? "true" : "false"; }

void JsonText::null() { text_ += "null"; }

std::string JsonText::take() { return std::exchange(text_, {}); }

}  // namespace howard::reports
