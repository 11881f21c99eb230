// SPDX-License-Identifier: Apache-2.0
#include "engines/program/op_attributes.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <string>
#include <utility>

#include "base/error.h"
#include "base/text.h"

namespace howard {
namespace {

[[noreturn]] void fail(std::string_view name, std::string_view value, std::string accepted) {
  throw Error({.attempted = fmt::format("read attribute {}", name),
               .value = fmt::format("'{}'", value),
               .accepted = std::move(accepted)});
}

/// Takes `text` off the beginning of `rest`. Returns false if `rest` does not begin with it.
bool take(std::string_view& rest, std::string_view text) {
  if (!rest.starts_with(text)) return false;
  rest.remove_prefix(text.size());
  return true;
}

/// Takes "(x=8;y=7)", or "8-7" of 2026, off the beginning of `rest`.
std::optional<CoreGrid> take_pair(std::string_view& rest) {
  int numbers[2] = {};
  const bool named = take(rest, "(x=");
  for (const int i : {0, 1}) {
    if (i == 1 && !take(rest, named ? ";y=" : "-")) return std::nullopt;
    const auto [end, failure] = std::from_chars(rest.data(), rest.data() + rest.size(), numbers[i]);
    constexpr int kMost = 64;
    if (failure != std::errc() || numbers[i] < 0 || numbers[i] > kMost) return std::nullopt;
    rest.remove_prefix(static_cast<std::size_t>(end - rest.data()));
  }
  if (named && !take(rest, ")")) return std::nullopt;
  return CoreGrid{numbers[0], numbers[1]};
}

/// Returns what `text` begins with: the value of a member, up to the ";" or ")" that is not its
/// own.
std::string_view member_value(std::string_view text) {
  int open = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (open == 0 && (c == ';' || c == ')' || c == '\'')) return text.substr(0, i);
    open += std::string_view("(<{[").find(c) != std::string_view::npos   ? 1
            : std::string_view(")>}]").find(c) != std::string_view::npos ? -1
                                                                         : 0;
  }
  return text;
}

/// Says whether a name begins at `at`, with its quotation mark.
bool is_name(std::string_view cell, std::size_t at) {
  const char before = at == 0 ? '{' : cell[at - 1];
  return before == '{' || before == ' ';
}

/// Returns the value that begins at `begin`; absent if the cell ends within it.
std::optional<std::string_view> value_at(std::string_view cell, std::size_t begin) {
  std::size_t end = cell.find("'; '", begin);
  if (end == std::string_view::npos) end = cell.rfind("'}");
  if (end == std::string_view::npos || end < begin) return std::nullopt;
  return cell.substr(begin, end - begin);
}

/// Calls `visit` with the place, the name and the value of each attribute.
template <class Visit>
void for_each_name(std::string_view cell, const Visit& visit) {
  constexpr std::string_view kBetween = "': '";
  for (std::size_t at = cell.find('\''); at != std::string_view::npos;
       at = cell.find('\'', at + 1)) {
    const std::size_t between = cell.find(kBetween, at);
    if (between == std::string_view::npos) return;
    const std::string_view name = cell.substr(at + 1, between - at - 1);
    const bool is_word = name.find_first_of("'; ") == std::string_view::npos;
    if (!is_name(cell, at) || !is_word) continue;
    const auto value = value_at(cell, between + kBetween.size());
    if (!value) return;
    visit(at, name, *value);
    at = between + kBetween.size() + value->size();
  }
}

}  // namespace

std::string_view enumerator(std::string_view text) {
  const std::size_t colons = text.rfind("::");
  const std::string_view rest = colons == std::string_view::npos ? text : text.substr(colons + 2);
  return rest.substr(0, rest.find_first_of(";,)} "));
}

std::optional<std::vector<std::int64_t>> parse_ttnn_list(std::string_view text) {
  text = text.substr(std::min(text.find_first_of("[("), text.size()));
  text = text.substr(0, text.find_last_of("])"));
  std::string plain(text);
  std::erase_if(plain,
                [](char c) { return std::string_view("[]() ").find(c) != std::string_view::npos; });
  std::vector<std::int64_t> numbers;
  for (const std::string& part : split(plain, ';')) {
    const auto number = parse_integer(part);
    if (!number) return std::nullopt;
    numbers.push_back(*number);
  }
  return numbers;
}

std::optional<std::string_view> ttnn_member(std::string_view text, std::string_view name) {
  const std::string key = fmt::format("{}=", name);
  for (std::size_t at = text.find(key); at != std::string_view::npos; at = text.find(key, at + 1)) {
    if (at == 0 || std::string_view("(; ").find(text[at - 1]) == std::string_view::npos) continue;
    return member_value(text.substr(at + key.size()));
  }
  return std::nullopt;
}

std::vector<std::pair<std::string_view, std::string_view>> ttnn_members(std::string_view text) {
  std::vector<std::pair<std::string_view, std::string_view>> members;
  text.remove_prefix(std::min(text.find('('), text.size()));
  while (!text.empty() && text.front() != ')') {
    text.remove_prefix(1);  // what stands before the name
    const std::size_t equals = text.find('=');
    if (equals == std::string_view::npos) break;
    const std::string_view value = member_value(text.substr(equals + 1));
    members.emplace_back(trimmed(text.substr(0, equals)), value);
    text.remove_prefix(equals + 1 + value.size());
  }
  return members;
}

std::optional<CoreGrid> parse_ttnn_grid(std::string_view text) {
  const auto size = take_pair(text);
  return size && text.empty() && size->cores() > 0 ? size : std::nullopt;
}

std::optional<CoreGrid> parse_ttnn_range(std::string_view text) {
  if (!take(text, "{[(x=0;y=0) - ") && !take(text, "{[0-0 - ")) return std::nullopt;
  const auto last = take_pair(text);
  if (!last || text != "]}") return std::nullopt;
  return CoreGrid{last->columns + 1, last->rows + 1};
}

std::optional<std::string_view> OpAttributes::find(std::string_view name) const {
  const std::string key = fmt::format("'{}", name);
  for (std::size_t at = cell_.find(key); at != std::string_view::npos;
       at = cell_.find(key, at + 1)) {
    std::string_view rest = cell_.substr(at + key.size());
    static_cast<void>(take(rest, "_"));
    if (!is_name(cell_, at) || !take(rest, "': '")) continue;
    read_.push_back(at);
    const auto value = value_at(cell_, cell_.size() - rest.size());
    return value == "std::nullopt" ? std::nullopt : value;
  }
  return std::nullopt;
}

std::vector<std::pair<std::string_view, std::string_view>> OpAttributes::unread() const {
  std::vector<std::pair<std::string_view, std::string_view>> found;
  for_each_name(cell_, [&](std::size_t at, std::string_view name, std::string_view value) {
    constexpr std::array<std::string_view, 7> kNothing{"std::nullopt", "false", "0", "0.0",
                                                       "{}",           "[]",    ""};
    const bool says_nothing = std::ranges::find(kNothing, value) != kNothing.end();
    if (!says_nothing && std::ranges::find(read_, at) == read_.end()) {
      found.emplace_back(name, value);
    }
  });
  return found;
}

std::optional<bool> OpAttributes::flag(std::string_view name) const {
  const auto value = find(name);
  if (!value) return std::nullopt;
  if (value == "true" || value == "1") return true;
  if (value == "false" || value == "0") return false;
  fail(name, *value, "true, false, 1, 0");
}

std::optional<std::string_view> OpAttributes::member(std::string_view attribute,
                                                     std::string_view name) const {
  const auto value = find(attribute);
  return value ? ttnn_member(*value, name) : std::nullopt;
}

std::optional<std::string_view> OpAttributes::anywhere(std::string_view name) const {
  const auto found = ttnn_member(cell_, name);
  if (!found) return std::nullopt;
  std::size_t holder = 0;
  for_each_name(cell_, [&](std::size_t at, std::string_view /*name*/, std::string_view value) {
    if (value.data() <= found->data()) holder = at;
  });
  read_.push_back(holder);
  return found;
}

}  // namespace howard
