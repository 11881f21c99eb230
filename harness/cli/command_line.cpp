// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/command_line.h"

#include <algorithm>
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
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& failure) {
    throw UsageError(explanation(app, failure, argc, argv));
  }
}

void add_color_option(CLI::App& app, ColorMode& color) {
  app.add_option("--color", color)
      ->transform(
          CLI::CheckedTransformer(std::map<std::string, ColorMode>{{"auto", ColorMode::automatic},
                                                                   {"always", ColorMode::always},
                                                                   {"never", ColorMode::never}}));
}

}  // namespace howard::cli
