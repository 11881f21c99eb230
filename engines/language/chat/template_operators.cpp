// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "engines/language/chat/template_functions.h"

namespace howard::language {
namespace {

[[noreturn]] void refuse_operands(const std::string& sign, const TemplatePlace& place) {
  refuse_template(place, fmt::format("'{}' of other kinds of values, or too large ones", sign),
                  "numbers, and texts or lists where Python takes them");
}

bool same(const ChatValue& a, const ChatValue& b) { return a && b ? *a == *b : a == b; }

bool contains(const ChatValue& whole, const ChatValue& part, const TemplatePlace& place) {
  if (whole && whole->is_string()) {
    return whole->get_ref<const std::string&>().find(text_in(part, "'in'", place)) !=
           std::string::npos;
  }
  if (whole && whole->is_object()) return part && part->is_string() && whole->contains(*part);
  if (!whole || !whole->is_array()) {
    refuse_template(place, "'in' of what has no parts", "a text, a list or an object");
  }
  return std::ranges::any_of(*whole, [&](const ChatJson& each) { return part && each == *part; });
}

bool ordered(const std::string& sign, const ChatJson& a, const ChatJson& b) {
  if (sign == "<") return a < b;
  if (sign == ">") return b < a;
  if (sign == "<=") return !(b < a);
  return !(a < b);
}

ChatValue whole_result(const std::string& sign, std::int64_t a, std::int64_t b,
                       const TemplatePlace& place) {
  std::int64_t result = 0;
  bool overflows = false;
  if (sign == "+") overflows = __builtin_add_overflow(a, b, &result);
  if (sign == "-") overflows = __builtin_sub_overflow(a, b, &result);
  if (sign == "*") overflows = __builtin_mul_overflow(a, b, &result);
  if (sign == "//" || sign == "%") {
    if (b == 0 || b == -1) {
      if (b == 0) refuse_operands(sign, place);
      return sign == "%" ? chat_value(0) : whole_result("-", 0, a, place);
    }
    // Python rounds down, and C++ towards 0.
    const std::int64_t rest = a % b;
    const bool differs = rest != 0 && (rest < 0) != (b < 0);
    result = sign == "%" ? rest + (differs ? b : 0) : a / b - (differs ? 1 : 0);
  }
  if (overflows) refuse_operands(sign, place);
  return chat_value(result);
}

ChatValue number_result(const std::string& sign, const ChatJson& a, const ChatJson& b,
                        const TemplatePlace& place) {
  if (a.is_number_integer() && b.is_number_integer() && sign != "/") {
    return whole_result(sign, a.get<std::int64_t>(), b.get<std::int64_t>(), place);
  }
  const auto x = a.get<double>();
  const auto y = b.get<double>();
  double result = std::nan("");
  if (sign == "+") result = x + y;
  if (sign == "-") result = x - y;
  if (sign == "*") result = x * y;
  if (sign == "/") result = x / y;
  if (!std::isfinite(result)) refuse_operands(sign, place);
  return chat_value(result);
}

std::int64_t bound_of(const ChatValue& number, std::int64_t otherwise, const TemplatePlace& place) {
  if (!number || number->is_null()) return otherwise;
  if (!number->is_number_integer()) {
    refuse_template(place, "a part from or to what is no whole number", "whole numbers");
  }
  return number->get<std::int64_t>();
}

}  // namespace

ChatValue computed(const std::string& sign, const ChatValue& a, const ChatValue& b,
                   const TemplatePlace& place) {
  if (sign == "==") return chat_value(same(a, b));
  if (sign == "!=") return chat_value(!same(a, b));
  if (sign == "in") return chat_value(contains(b, a, place));
  if (sign == "not in") return chat_value(!contains(b, a, place));
  if (sign == "~") {
    std::string text = printed(a, place) + printed(b, place);
    if (text.size() > kMostTemplateText) refuse_operands(sign, place);
    return chat_value(std::move(text));
  }
  if (!a || !b) refuse_template(place, fmt::format("'{}' of what is not defined", sign), "values");
  const bool numbers = a->is_number() && b->is_number();
  const bool texts = a->is_string() && b->is_string();
  if (sign[0] == '<' || sign[0] == '>') {
    if (!numbers && !texts) refuse_operands(sign, place);
    return chat_value(ordered(sign, *a, *b));
  }
  if (sign == "+" && texts) return computed("~", a, b, place);
  if (sign == "+" && a->is_array() && b->is_array()) {
    ChatJson list = *a;
    if (a->size() + b->size() > kMostTemplateList) refuse_operands(sign, place);
    for (const ChatJson& each : *b) list.push_back(each);
    return chat_value(std::move(list));
  }
  if (!numbers) refuse_operands(sign, place);
  return number_result(sign, *a, *b, place);
}

ChatValue sliced(const ChatValue& value, const ChatValue& from, const ChatValue& to,
                 const ChatValue& step, const TemplatePlace& place) {
  const bool is_text = value && value->is_string();
  if (!is_text && !(value && value->is_array())) {
    refuse_template(place, "a part of what is no list", "a list or a text");
  }
  ChatJson all = ChatJson::array();
  if (is_text) {
    for (std::string& each : characters_of(value->get<std::string>())) all.push_back(each);
  } else {
    all = *value;
  }
  const auto size = static_cast<std::int64_t>(all.size());
  const std::int64_t by = bound_of(step, 1, place);
  if (by == 0) refuse_template(place, "a part with steps of 0", "other steps");
  // Bounds count from the end if they are negative, and are moved into the list, as in Python.
  const auto placed = [&](std::int64_t bound) {
    const std::int64_t least = by < 0 ? -1 : 0;
    if (bound < 0) bound = bound < -size ? least : bound + size;
    return std::clamp(bound, least, by < 0 ? size - 1 : size);
  };
  const std::int64_t begin = placed(bound_of(from, by < 0 ? size : 0, place));
  const bool has_end = to && !to->is_null();
  const std::int64_t end = has_end ? placed(bound_of(to, 0, place)) : (by < 0 ? -1 : size);
  const std::int64_t stride = std::clamp(by, -size - 1, size + 1);
  ChatJson list = ChatJson::array();
  std::string text;
  for (std::int64_t i = begin; by > 0 ? i < end : i > end; i += stride) {
    const ChatJson& each = all[static_cast<std::size_t>(i)];
    is_text ? void(text += each.get<std::string>()) : list.push_back(each);
  }
  return is_text ? chat_value(std::move(text)) : chat_value(std::move(list));
}

}  // namespace howard::language
