// SPDX-License-Identifier: Apache-2.0
#include "profiler/silicon/op_attributes.h"

#include <fmt/format.h>

#include <charconv>
#include <string>
#include <utility>

#include "base/error.h"

namespace howard::profiler {
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

/// Takes "(x=8;y=7)" off the beginning of `rest`.
std::optional<std::pair<int, int>> take_pair(std::string_view& rest) {
  int numbers[2] = {};
  for (const int i : {0, 1}) {
    if (!take(rest, i == 0 ? "(x=" : ";y=")) return std::nullopt;
    const auto [end, failure] = std::from_chars(rest.data(), rest.data() + rest.size(), numbers[i]);
    if (failure != std::errc() || numbers[i] < 0 || numbers[i] > 255) return std::nullopt;
    rest.remove_prefix(static_cast<std::size_t>(end - rest.data()));
  }
  if (!take(rest, ")")) return std::nullopt;
  return std::pair{numbers[0], numbers[1]};
}

}  // namespace

std::optional<std::string_view> OpAttributes::find(std::string_view name) const {
  const std::string key = fmt::format("'{}': '", name);
  for (std::size_t at = cell_.find(key); at != std::string_view::npos;
       at = cell_.find(key, at + 1)) {
    const char before = at == 0 ? '{' : cell_[at - 1];
    if (before != '{' && before != ' ') continue;
    const std::size_t begin = at + key.size();
    std::size_t end = cell_.find("'; '", begin);
    if (end == std::string_view::npos) end = cell_.rfind("'}");
    if (end == std::string_view::npos || end < begin) return std::nullopt;
    const std::string_view value = cell_.substr(begin, end - begin);
    return value == "std::nullopt" ? std::nullopt : std::optional(value);
  }
  return std::nullopt;
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
  if (!value) return std::nullopt;
  const std::string key = fmt::format("{}=", name);
  const std::size_t at = value->find(key);
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view rest = value->substr(at + key.size());
  return rest.substr(0, rest.find_first_of(";)"));
}

std::optional<std::string_view> OpAttributes::anywhere(std::string_view name) const {
  const std::string key = fmt::format("{}=", name);
  for (std::size_t at = cell_.find(key); at != std::string_view::npos;
       at = cell_.find(key, at + 1)) {
    if (at == 0 || std::string_view("(; ").find(cell_[at - 1]) == std::string_view::npos) continue;
    const std::string_view rest = cell_.substr(at + key.size());
    return rest.substr(0, rest.find_first_of(";)'"));
  }
  return std::nullopt;
}

std::optional<CoreGrid> OpAttributes::core_grid(std::string_view name) const {
  const auto value = find(name);
  if (!value) return std::nullopt;
  std::string_view rest = *value;
  const auto size = take_pair(rest);
  if (!size || !rest.empty() || size->first == 0 || size->second == 0) {
    fail(name, *value, "a size like (x=8;y=7)");
  }
  return CoreGrid{size->first, size->second};
}

std::optional<CoreGrid> OpAttributes::core_range(std::string_view name) const {
  const auto value = find(name);
  if (!value) return std::nullopt;
  std::string_view rest = *value;
  if (take(rest, "{[(x=0;y=0) - ")) {
    const auto last = take_pair(rest);
    if (last && rest == "]}") return CoreGrid{last->first + 1, last->second + 1};
  }
  fail(name, *value, "one range from the first core on, like {[(x=0;y=0) - (x=7;y=6)]}");
}

}  // namespace howard::profiler
