// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/command_line.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "base/text.h"

namespace howard::cli {
namespace {

/// The long options of `app`, for suggestions.
std::vector<std::string> option_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* const option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

/// The options of `app`, as they were declared.
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

/// One line for a command line that CLI11 does not accept.
std::string explanation(const CLI::App& app, const CLI::ParseError& failure, int argc,
                        const char* const* argv) {
  std::string text = failure.what();
  std::ranges::replace(text, '\n', ' ');
  const std::vector<std::string> known = option_names(app);
  for (int i = 1; i < argc; ++i) {
    const std::string word = split(argv[i], '=').front();
    if (!word.starts_with("--") || std::ranges::find(known, word) != known.end()) continue;
    if (const auto suggestion = closest(word, known)) text += "; did you mean " + *suggestion + "?";
  }
  return text;
}

}  // namespace

void parse_command_line(CLI::App& app, int argc, const char* const* argv) {
  if (argc == 2 && std::string_view(argv[1]) == kDescribeOptions) throw OptionsAsked{facts_of(app)};
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& failure) {
    throw UsageError(explanation(app, failure, argc, argv));
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
      "--profile and --set are of the emulated chip, and all of this runs on the host; try "
      "--backend emulated, or leave them out");
}

CLI::Validator number_within(double low, double high) {
  return CLI::Validator(
      [low, high](const std::string& text) {
        const std::optional<double> number = parse_number(text);
        if (number && *number >= low && *number <= high) return std::string();
        return fmt::format("'{}'; accepted: {} to {}", text, low, high);
      },
      "");
}

void add_color_option(CLI::App& app, ColorMode& color) {
  add_choice<ColorMode>(
      app, "--color", color,
      {{"auto", ColorMode::automatic}, {"always", ColorMode::always}, {"never", ColorMode::never}});
}

}  // namespace howard::cli
