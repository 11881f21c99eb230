// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/text.h"
#include "engines/wormhole/profile.h"
#include "harness/cli/terminal.h"

namespace howard::cli {

/// The command line is not understood: exit code 2. Its text is one line, ready to print.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// An option as its command declares it, or a word without one.
struct OptionFacts {
  std::vector<std::string> names;  ///< "-a", "--axis"; none: what stands without an option.
  bool takes_value = false;
  std::vector<std::string> words;  ///< What its value can be, where that is known.
};

/// A command line that is this word alone asks for the options of the command, for completion.
inline constexpr const char* kDescribeOptions = "\x01";

/// The answer, thrown in place of a parsed command line.
struct OptionsAsked {
  std::vector<OptionFacts> options;
};

/// Parses what `app` declares. UsageError, with a suggestion for a mistyped option, and for an
/// option whose value is empty, as of a variable that is not set. OptionsAsked for
/// kDescribeOptions.
void parse_command_line(CLI::App& app, int argc, const char* const* argv);

/// An option that is one of some words; its description is these, with commas.
template <class Value>
void add_choice(CLI::App& app, const std::string& option, Value& value,
                const std::map<std::string, Value>& choices) {
  std::vector<std::string> words;
  for (const auto& [word, meaning] : choices) words.push_back(word);
  // The last transformation comes first: it says what is accepted, which the other one can not.
  app.add_option(option, value, join(words, ","))
      ->transform(CLI::CheckedTransformer(choices))
      ->transform(CLI::IsMember(words));
}

/// A number from `low` to `high`; CLI::Range lets nan pass.
CLI::Validator number_within(double low, double high);

/// What `read` makes of --profile and --set. UsageError for a bad --set; Error for a bad profile,
/// which is a file's fault.
template <class Read>
auto read_settings(const wormhole::ProfileChoice& choice, Read read) {
  static_cast<void>(wormhole::load_profiles({.profiles = choice.profiles, .settings = {}}));
  try {
    return read(choice);
  } catch (const Error& failure) {
    throw UsageError(failure.what());
  }
}

/// UsageError for a run with --profile or --set, `sets`, and nothing on the emulated chip.
void require_chip(bool sets, bool has_chip);

/// Declares --color.
void add_color_option(CLI::App& app, ColorMode& color);

}  // namespace howard::cli
