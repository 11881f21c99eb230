// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/error.h"
#include "engines/wormhole/profile.h"
#include "harness/cli/terminal.h"

namespace howard::cli {

/// The command line is not understood: exit code 2. Its text is one line, ready to print.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Parses what `app` declares. UsageError, with a suggestion for a mistyped option, and for an
/// option whose value is empty, as of a variable that is not set.
void parse_command_line(CLI::App& app, int argc, const char* const* argv);

/// An option that is one of some words.
template <class Value>
void add_choice(CLI::App& app, const std::string& option, Value& value,
                const std::map<std::string, Value>& choices) {
  std::vector<std::string> words;
  for (const auto& [word, meaning] : choices) words.push_back(word);
  // The last transformation comes first: it says what is accepted, which the other one can not.
  app.add_option(option, value)
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
