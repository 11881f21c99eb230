// SPDX-License-Identifier: Apache-2.0
#include "engines/language/chat/template_functions.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

namespace howard::language {
namespace {

constexpr std::string_view kPythonBlanks = " \t\n\r\f\v";

bool is_text(const ChatValue& value) { return value && value->is_string(); }
bool is_list(const ChatValue& value) { return value && value->is_array(); }
bool is_object(const ChatValue& value) { return value && value->is_object(); }

/// Leaves out the characters of a set at one end or at both.
std::string stripped(const std::string& text, std::string_view set, bool left, bool right) {
  const std::size_t begin = left ? text.find_first_not_of(set) : 0;
  if (begin == std::string::npos) return "";
  const std::size_t last = right ? text.find_last_not_of(set) : text.size() - 1;
  return last == std::string::npos || text.empty() ? "" : text.substr(begin, last + 1 - begin);
}

std::string cased(std::string text, int (*change)(int)) {
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < 0x80) {
      c = static_cast<char>(change(static_cast<unsigned char>(c)));
    }
  }
  return text;
}

std::string replaced(const std::string& text, const std::string& from, const std::string& to,
                     const TemplatePlace& place) {
  if (from.empty()) refuse_template(place, "it replaces an empty text", "a text to replace");
  std::string result;
  std::size_t at = 0;
  for (std::size_t found = text.find(from); found != std::string::npos;
       found = text.find(from, at)) {
    result.append(text, at, found - at).append(to);
    at = found + from.size();
    if (result.size() > kMostTemplateText) refuse_template(place, "too long a text", "16 MiB");
  }
  return result.append(text, at);
}

/// Writes JSON as Python's json.dumps(ensure_ascii=False) does.
void write_python_json(const ChatJson& json, std::string& out) {
  if (!json.is_structured()) {
    out += json.dump(-1, ' ', false, ChatJson::error_handler_t::replace);
    return;
  }
  out += json.is_array() ? '[' : '{';
  bool first = true;
  for (const auto& [key, part] : json.items()) {
    if (!first) out += ", ";
    first = false;
    if (json.is_object()) {
      out += ChatJson(key).dump(-1, ' ', false, ChatJson::error_handler_t::replace) + ": ";
    }
    write_python_json(part, out);
  }
  out += json.is_array() ? ']' : '}';
}

ChatValue json_text(const ChatValue& value, const TemplateArguments& arguments,
                    const TemplatePlace& place) {
  if (!value) refuse_template(place, "tojson of what is not defined", "a value");
  const ChatValue indent = arguments.find(0, "indent");
  if (indent && indent->is_number_integer()) {
    const int blanks = std::clamp(indent->get<int>(), 0, 16);
    return chat_value(value->dump(blanks, ' ', false, ChatJson::error_handler_t::replace));
  }
  std::string text;
  write_python_json(*value, text);
  return chat_value(text);
}

std::int64_t length_of(const ChatValue& value, const TemplatePlace& place) {
  if (is_text(value)) {
    return static_cast<std::int64_t>(characters_of(value->get_ref<const std::string&>()).size());
  }
  if (!is_list(value) && !is_object(value)) {
    refuse_template(place, "the length of what has none", "a text, a list or an object");
  }
  return static_cast<std::int64_t>(value->size());
}

ChatJson pairs_of(const ChatValue& value, const TemplatePlace& place) {
  if (!is_object(value)) refuse_template(place, "the items of what is no object", "an object");
  ChatJson pairs = ChatJson::array();
  for (const auto& [key, part] : value->items()) pairs.push_back(ChatJson::array({key, part}));
  return pairs;
}

/// Returns the elements of a list, the characters of a text or the keys of an object.
ChatValue as_list(const ChatValue& value, const TemplatePlace& place) {
  if (is_list(value)) return value;
  ChatJson all = ChatJson::array();
  if (is_text(value)) {
    for (std::string& each : characters_of(value->get<std::string>())) all.push_back(each);
  } else if (is_object(value)) {
    for (const auto& [key, part] : value->items()) all.push_back(key);
  } else {
    refuse_template(place, "the elements of what is no list", "a list, a text or an object");
  }
  return chat_value(std::move(all));
}

/// Returns the elements whose attribute passes, or fails, a test.
ChatValue selected(const ChatValue& value, const TemplateArguments& arguments, bool passing,
                   const TemplatePlace& place) {
  const std::string& attribute = text_in(arguments.find(0, "attribute"), "selectattr", place);
  TemplateArguments rest;
  if (arguments.values.size() > 2) {
    rest.values.assign(arguments.values.begin() + 2, arguments.values.end());
  }
  ChatJson kept = ChatJson::array();
  for (const ChatJson& each : *as_list(value, place)) {
    const bool has = each.is_object() && each.contains(attribute);
    const ChatValue part = has ? chat_value(each[attribute]) : nullptr;
    const bool passes =
        arguments.values.size() < 2
            ? is_true(part)
            : passes_test(text_in(arguments.values[1], "a test", place), part, rest, place);
    if (passes == passing) kept.push_back(each);
  }
  return chat_value(std::move(kept));
}

ChatValue joined_texts(const ChatValue& value, const TemplateArguments& arguments,
                       const TemplatePlace& place) {
  const std::string between = printed(arguments.find(0, "d"), place);
  const ChatValue list = as_list(value, place);
  std::string text;
  for (const ChatJson& each : *list) {
    if (&each != &list->front()) text += between;
    text += printed(chat_part(list, each), place);
    if (text.size() > kMostTemplateText) refuse_template(place, "too long a text", "16 MiB");
  }
  return chat_value(std::move(text));
}

ChatValue split_text(const std::string& text, const TemplateArguments& arguments,
                     const TemplatePlace& place) {
  ChatJson parts = ChatJson::array();
  if (arguments.values.empty()) {
    std::size_t begin = text.find_first_not_of(kPythonBlanks);
    while (begin != std::string::npos) {
      const std::size_t end = std::min(text.find_first_of(kPythonBlanks, begin), text.size());
      parts.push_back(text.substr(begin, end - begin));
      begin = text.find_first_not_of(kPythonBlanks, end);
    }
    return chat_value(std::move(parts));
  }
  const std::string& between = text_in(arguments.values[0], "split", place);
  if (between.empty()) refuse_template(place, "it splits at an empty text", "a text to split at");
  const ChatValue limit = arguments.find(1, "maxsplit");
  std::int64_t left = limit && limit->is_number_integer() ? limit->get<std::int64_t>() : -1;
  std::size_t at = 0;
  for (std::size_t found = text.find(between); found != std::string::npos && left-- != 0;
       found = text.find(between, at)) {
    parts.push_back(text.substr(at, found - at));
    at = found + between.size();
  }
  parts.push_back(text.substr(at));
  return chat_value(std::move(parts));
}

}  // namespace

ChatValue TemplateArguments::find(std::size_t place, std::string_view name) const {
  for (const auto& [key, value] : named) {
    if (key == name) return value;
  }
  return place < values.size() ? values[place] : nullptr;
}

ChatValue filtered(const std::string& name, const ChatValue& value,
                   const TemplateArguments& arguments, const TemplatePlace& place) {
  const auto text = [&] { return text_in(value, name.c_str(), place); };
  if (name == "trim") return chat_value(stripped(printed(value, place), kPythonBlanks, true, true));
  if (name == "length" || name == "count") return chat_value(length_of(value, place));
  if (name == "tojson") return json_text(value, arguments, place);
  if (name == "safe" || name == "string") return chat_value(printed(value, place));
  if (name == "upper") return chat_value(cased(text(), std::toupper));
  if (name == "lower") return chat_value(cased(text(), std::tolower));
  if (name == "capitalize") {
    std::string small = cased(text(), std::tolower);
    if (!small.empty()) small[0] = cased(small.substr(0, 1), std::toupper)[0];
    return chat_value(std::move(small));
  }
  if (name == "join") return joined_texts(value, arguments, place);
  if (name == "list") return as_list(value, place);
  if (name == "items") return chat_value(pairs_of(value, place));
  if (name == "selectattr" || name == "rejectattr") {
    return selected(value, arguments, name == "selectattr", place);
  }
  if (name == "first" || name == "last") {
    const ChatValue list = as_list(value, place);
    if (list->empty()) return nullptr;
    return chat_part(list, name == "first" ? list->front() : list->back());
  }
  if (name == "reverse") return sliced(value, nullptr, nullptr, chat_value(-1), place);
  if (name == "replace") {
    return chat_value(replaced(text(), text_in(arguments.find(0, "old"), "replace", place),
                               text_in(arguments.find(1, "new"), "replace", place), place));
  }
  if (name == "default" || name == "d") {
    const bool takes_false = is_true(arguments.find(1, "boolean"));
    if (value && (!takes_false || is_true(value))) return value;
    const ChatValue other = arguments.find(0, "default_value");
    return other ? other : chat_value("");
  }
  refuse_template(place, fmt::format("the filter '{}'", name),
                  "trim, length, tojson, join, default, replace, upper, lower, capitalize, first, "
                  "last, list, items, reverse, selectattr, rejectattr, string, safe");
}

bool passes_test(const std::string& name, const ChatValue& value,
                 const TemplateArguments& arguments, const TemplatePlace& place) {
  const auto is = [&](std::string_view one, std::string_view other = "") {
    return name == one || name == other;
  };
  if (is("defined")) return value != nullptr;
  if (is("undefined")) return value == nullptr;
  if (is("none")) return value && value->is_null();
  if (is("string")) return is_text(value);
  if (is("mapping")) return is_object(value);
  if (is("sequence", "iterable")) return is_text(value) || is_list(value) || is_object(value);
  if (is("boolean")) return value && value->is_boolean();
  if (is("number")) return value && (value->is_number() || value->is_boolean());
  if (is("integer")) return value && value->is_number_integer();
  if (is("float")) return value && value->is_number_float();
  if (is("true", "false")) {
    return value && value->is_boolean() && value->get<bool>() == (name == "true");
  }
  for (const std::string_view same : {"equalto", "eq", "=="}) {
    if (name == same) return is_true(computed("==", value, arguments.find(0, "other"), place));
  }
  if (is("ne", "!=")) return is_true(computed("!=", value, arguments.find(0, "other"), place));
  if (is("in")) return is_true(computed("in", value, arguments.find(0, "seq"), place));
  if (is("odd", "even")) {
    const ChatValue rest = computed("%", value, chat_value(2), place);
    return is_true(rest) == (name == "odd");
  }
  refuse_template(place, fmt::format("the test '{}'", name),
                  "defined, undefined, none, string, mapping, sequence, iterable, boolean, number, "
                  "integer, float, true, false, equalto, ne, in, odd, even");
}

ChatValue method_result(const std::string& name, const ChatValue& value,
                        const TemplateArguments& arguments, const TemplatePlace& place) {
  if (is_object(value)) {
    if (name == "items") return chat_value(pairs_of(value, place));
    if (name == "keys") return as_list(value, place);
    if (name == "values") {
      ChatJson all = ChatJson::array();
      for (const ChatJson& part : *value) all.push_back(part);
      return chat_value(std::move(all));
    }
    if (name == "get") {
      const auto found = value->find(text_in(arguments.find(0, "key"), "get", place));
      if (found != value->end()) return chat_part(value, *found);
      const ChatValue other = arguments.find(1, "default");
      return other ? other : chat_value(nullptr);
    }
    refuse_template(place, fmt::format("the method '{}' of an object", name),
                    "items, keys, values, get");
  }
  if (!is_text(value)) {
    refuse_template(place, fmt::format("the method '{}' of what is no text", name),
                    "methods of texts and objects");
  }
  const std::string& text = value->get_ref<const std::string&>();
  const ChatValue first = arguments.find(0, "");
  if (name == "strip" || name == "lstrip" || name == "rstrip") {
    const std::string set =
        first ? text_in(first, name.c_str(), place) : std::string(kPythonBlanks);
    return chat_value(stripped(text, set, name != "rstrip", name != "lstrip"));
  }
  if (name == "startswith")
    return chat_value(text.starts_with(text_in(first, "startswith", place)));
  if (name == "endswith") return chat_value(text.ends_with(text_in(first, "endswith", place)));
  if (name == "split") return split_text(text, arguments, place);
  if (name == "upper" || name == "lower" || name == "capitalize" || name == "replace") {
    return filtered(name, value, arguments, place);
  }
  refuse_template(place, fmt::format("the method '{}' of a text", name),
                  "strip, lstrip, rstrip, startswith, endswith, split, upper, lower, capitalize, "
                  "replace");
}

ChatValue function_result(const std::string& name, const TemplateArguments& arguments,
                          const TemplatePlace& place) {
  if (name == "raise_exception") {
    refuse_template(place, "it says: " + printed(arguments.find(0, "message"), place),
                    "messages that the model's format has");
  }
  if (name == "namespace" || name == "dict") {
    ChatJson object = ChatJson::object();
    for (const auto& [key, value] : arguments.named) object[key] = value ? *value : ChatJson();
    return chat_value(std::move(object));
  }
  if (name == "range") {
    std::vector<std::int64_t> numbers;
    for (const ChatValue& each : arguments.values) {
      if (!each || !each->is_number_integer()) {
        refuse_template(place, "a range of what is no whole number", "whole numbers");
      }
      numbers.push_back(each->get<std::int64_t>());
    }
    if (numbers.empty() || numbers.size() > 2) {
      refuse_template(place, "a range of other arguments", "range(end) or range(begin, end)");
    }
    const std::int64_t begin = numbers.size() == 2 ? numbers[0] : 0;
    ChatJson all = ChatJson::array();
    for (std::int64_t i = begin; i < numbers.back(); ++i) {
      if (all.size() >= kMostTemplateList) refuse_template(place, "a long range", "65536 numbers");
      all.push_back(i);
    }
    return chat_value(std::move(all));
  }
  refuse_template(place, fmt::format("the function '{}'", name),
                  "namespace, dict, range, raise_exception");
}

}  // namespace howard::language
