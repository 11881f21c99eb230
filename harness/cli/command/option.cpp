// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/command/option.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "base/error.h"
#include "base/text.h"

namespace howard::cli {

void refuse_value(std::string_view option, const std::string& value, const std::string& accepted,
                  const std::string& hint) {
  throw UsageError(Error({.attempted = fmt::format("read option {}", option),
                          .value = "'" + value + "'",
                          .accepted = accepted,
                          .hint = hint})
                       .what());
}

std::vector<std::string> Option::all_names() const {
  std::vector<std::string> all;
  for (const std::string& part : split(names, ',')) {
    if (!part.empty()) all.emplace_back(trimmed(part));
  }
  return all;
}

std::string Option::name() const { return names.empty() ? "" : all_names().back(); }

OptionList joined(std::initializer_list<OptionList> lists) {
  OptionList all;
  for (const OptionList& list : lists) std::ranges::copy(list, std::back_inserter(all));
  return all;
}

OptionList grouped(std::string_view group, OptionList list) {
  for (Option& option : list) option.group = group;
  return list;
}

Option renamed(std::string_view formerly, Option option) {
  option.formerly = formerly;
  return option;
}

namespace {

template <class Place>
Values assigned(Place& place) {
  return {[&place](std::string_view, const std::string& value) { place = value; }};
}

}  // namespace

Values to(std::string& place) { return assigned(place); }
Values to(std::optional<std::string>& place) { return assigned(place); }
Values to(std::filesystem::path& place) { return assigned(place); }

Values to(std::vector<std::string>& place) { return to(place, Completes::files); }

Values to(std::vector<std::string>& place, Completes completes) {
  return {.take = [&place](std::string_view, const std::string& value) { place.push_back(value); },
          .words = {},
          .completes = completes,
          .repeats = true};
}

Values to(bool& place, bool value) {
  return {[&place, value](std::string_view, const std::string&) { place = value; }};
}

Values asked() {
  return {[](std::string_view, const std::string&) {}};
}

std::uint64_t whole_within(std::string_view option, const std::string& text, std::uint64_t low,
                           std::uint64_t high) {
  const std::optional<std::uint64_t> number = parse_natural(text);
  if (number && *number >= low && *number <= high) return *number;
  refuse_value(option, text, fmt::format("a whole number from {} to {}", low, high));
}

double number_within(std::string_view option, const std::string& text, double low, double high) {
  const std::optional<double> number = parse_number(text);
  if (number && *number >= low && *number <= high) return *number;
  refuse_value(option, text, fmt::format("a number from {} to {}", low, high));
}

double share_of(std::string_view option, const std::string& text) {
  constexpr double kMostPercent = 10'000;
  const bool is_percent = text.ends_with('%');
  const std::optional<double> number =
      parse_number(is_percent ? text.substr(0, text.size() - 1) : text);
  const double most = is_percent ? kMostPercent : 1;
  if (number && *number >= 0 && *number <= most) return is_percent ? *number / 100 : *number;
  refuse_value(option, text, "a share from 0 to 1, as 0.05, or per cent, as 5%",
               number && !is_percent && *number > 1 ? fmt::format("{} {}%", option, text) : "");
}

void refuse_word(std::string_view option, const std::string& word,
                 const std::vector<std::string>& words) {
  const auto suggestion = closest(word, words);
  refuse_value(option, word, join(words, ", "),
               suggestion ? fmt::format("{} {}", option, *suggestion) : "");
}

}  // namespace howard::cli
