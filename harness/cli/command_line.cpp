// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/command_line.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <optional>
#include <span>
#include <string_view>
#include <system_error>
#include <vector>

#include "base/text.h"

namespace howard::cli {
namespace {

/// Returns the long options of `app`, for suggestions.
std::vector<std::string> option_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* const option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

/// Returns the options of `app` as they were declared.
std::vector<OptionFacts> facts_of(const CLI::App& app) {
  std::vector<OptionFacts> facts;
  for (const CLI::Option* const option : app.get_options()) {
    OptionFacts& one = facts.emplace_back();
    for (const std::string& name : option->get_snames()) one.names.push_back("-" + name);
    for (const std::string& name : option->get_lnames()) one.names.push_back("--" + name);
    one.takes_value = option->get_items_expected_max() > 0;
    if (!option->get_description().empty()) one.words = split(option->get_description(), ',');
  }
  return facts;
}

/// Counts how often the command line gives `option`.
std::ptrdiff_t times_given(const CLI::Option& option, std::span<const char* const> words) {
  return std::ranges::count_if(words, [&](const char* word) {
    const std::string name = split(word, '=').front();
    return name.starts_with('-') && option.check_name(name);
  });
}

/// Returns one line about words that are neither an option nor expected.
std::string unknown_word(const CLI::App& app, const std::string& word) {
  const std::string name = split(word, '=').front();
  if (!name.starts_with('-')) return fmt::format("'{}' is a word too many", word);
  const auto suggestion = closest(name, option_names(app));
  return fmt::format("there is no option {}; {}", name,
                     suggestion ? "did you mean " + *suggestion + "?" : "try --help");
}

/// Returns one line about a command line that CLI11 rejects. CLI11's own words are not meant for
/// users.
std::string explanation(const CLI::App& app, const CLI::ParseError& failure,
                        std::span<const char* const> words) {
  const std::vector<std::string> unknown = app.remaining();
  if (!unknown.empty()) return unknown_word(app, unknown.front());
  for (const CLI::Option* const option : app.get_options()) {
    const auto has_value = [&](const std::string_view word) {
      const std::size_t equals = word.find('=');
      return equals != word.npos && word.starts_with('-') &&
             option->check_name(std::string(word.substr(0, equals)));
    };
    const bool is_flag = option->get_expected_max() == 0;
    if (is_flag && std::ranges::any_of(words, has_value)) {
      return fmt::format("{} takes no value", option->get_name());
    }
  }
  const std::string_view text = failure.what();
  for (const CLI::Option* const option : app.get_options()) {
    const std::string name = option->get_name();
    if (option->get_lnames().empty() || !text.starts_with(name)) continue;
    const std::size_t end = name.size();
    if (end < text.size() && (std::isalnum(text[end]) != 0 || text[end] == '-')) continue;
    const auto times = times_given(*option, words);
    if (times > 1) return fmt::format("{} is given {} times; accepted: once", name, times);
    return fmt::format("{0} needs a value; try {0} VALUE", name);
  }
  return "the command line is not understood; try --help";
}

}  // namespace

void parse_command_line(CLI::App& app, int argc, const char* const* argv) {
  if (argc == 2 && std::string_view(argv[1]) == kDescribeOptions) throw OptionsAsked{facts_of(app)};
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& failure) {
    const std::span words(argv, static_cast<std::size_t>(argc));
    throw UsageError(explanation(app, failure, words.subspan(1)));
  }
  for (const CLI::Option* const option : app.get_options()) {
    const std::vector<std::string>& values = option->results();
    const bool empty = std::ranges::find(values, "") != values.end();
    if (empty && !option->get_lnames().empty()) {
      throw UsageError(fmt::format("--{0} is empty; try --{0} VALUE, or leave it out",
                                   option->get_lnames().front()));
    }
  }
}

void require_chip(bool sets, bool has_chip) {
  if (!sets || has_chip) return;
  throw UsageError(
      "--chip, --software and --set are of the emulated chip, and all of this runs on the host; "
      "try "
      "--backend emulated, or leave them out");
}

void refuse_value(const std::string& option, const std::string& value, const std::string& accepted,
                  const std::string& hint) {
  throw UsageError(Error({.attempted = "read option " + option,
                          .value = "'" + value + "'",
                          .accepted = accepted,
                          .hint = hint})
                       .what());
}

std::uint64_t whole_within(const std::string& option, const std::string& text, std::uint64_t low,
                           std::uint64_t high) {
  const std::optional<std::uint64_t> number = parse_natural(text);
  if (number && *number >= low && *number <= high) return *number;
  refuse_value(option, text, fmt::format("a whole number from {} to {}", low, high));
}

double number_within(const std::string& option, const std::string& text, double low, double high) {
  const std::optional<double> number = parse_number(text);
  if (number && *number >= low && *number <= high) return *number;
  refuse_value(option, text, fmt::format("a number from {} to {}", low, high));
}

void require_settings(const chip::ProfileChoice& choice) {
  std::vector<std::string> names;
  for (const std::string& setting : choice.settings) {
    names.push_back(split(setting, '=').front());
    if (std::ranges::count(names, names.back()) == 1) continue;
    throw UsageError(
        fmt::format("--set gives {0} twice; accepted: each constant once; several values of it are "
                    "one option: --set {0}=VALUE,VALUE",
                    names.back()));
  }
  try {
    static_cast<void>(chip::load_profiles({.profiles = choice.profiles, .settings = {}}));
  } catch (const Error& failure) {
    const auto is_there = [](const std::string& profile) {
      std::error_code ignored;
      return std::filesystem::exists(profile, ignored);
    };
    if (std::ranges::any_of(choice.profiles, is_there)) throw;
    throw UsageError(failure.what());
  }
}

void add_color_option(CLI::App& app, ColorMode& color) {
  add_choice<ColorMode>(
      app, "--color", color,
      {{"auto", ColorMode::automatic}, {"always", ColorMode::always}, {"never", ColorMode::never}});
}

}  // namespace howard::cli
