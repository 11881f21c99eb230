// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/text.h"
#include "engines/chip/profiles/profile.h"
#include "harness/cli/terminal/terminal.h"
#include "harness/measurement.h"

namespace howard::cli {

/// Reports a command line that cannot be understood (exit code 2). Its text is one line, ready to
/// print.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Describes an option as its command declares it, or a word that belongs to no option.
struct OptionFacts {
  std::vector<std::string> names;  ///< "-a", "--axis"; empty for a word without an option.
  bool takes_value = false;
  std::vector<std::string> words;  ///< The values that it accepts, if they are known.
};

/// If this word is the whole command line, it asks for the options of the command, for completion.
inline constexpr const char* kDescribeOptions = "\x01";

/// Carries the answer; it is thrown in place of a parsed command line.
struct OptionsAsked {
  std::vector<OptionFacts> options;
};

/// Parses what `app` declares. Throws UsageError in this program's own words, with a suggestion for
/// a mistyped option. An option whose value is empty, as from a variable that is not set, is a
/// UsageError too. Throws OptionsAsked for kDescribeOptions.
void parse_command_line(CLI::App& app, int argc, const char* const* argv);

/// Throws UsageError for a value that `option` cannot have.
[[noreturn]] void refuse_value(const std::string& option, const std::string& value,
                               const std::string& accepted, const std::string& hint = "");

/// Returns the value of `option`, which must consist of digits: CLI11 would read 010 as 8 and -1 as
/// 2^64 - 1. Throws UsageError for any other text and for a value that is not from `low` to `high`.
std::uint64_t whole_within(const std::string& option, const std::string& text, std::uint64_t low,
                           std::uint64_t high);
/// Does the same for a finite number.
double number_within(const std::string& option, const std::string& text, double low, double high);

/// Declares an option that is a whole number from `low` to `high`.
template <class Whole>
void add_whole(CLI::App& app, const std::string& option, Whole& value, std::uint64_t low,
               std::uint64_t high) {
  app.add_option_function<std::string>(option, [=, &value](const std::string& text) {
    value = static_cast<Whole>(whole_within(option, text, low, high));
  });
}

/// Declares an option that is a whole number within `limits`.
template <class Whole>
void add_whole(CLI::App& app, const std::string& option, Whole& value,
               const harness::Limits& limits) {
  add_whole(app, option, value, static_cast<std::uint64_t>(limits.least),
            static_cast<std::uint64_t>(limits.most));
}

/// Declares an option that is a number from `low` to `high`.
template <class Number>
void add_number(CLI::App& app, const std::string& option, Number& value, double low, double high) {
  app.add_option_function<std::string>(option, [=, &value](const std::string& text) {
    value = static_cast<Number>(number_within(option, text, low, high));
  });
}

/// Declares an option that is one of some words. Its description lists the words with commas.
template <class Value>
void add_choice(CLI::App& app, const std::string& option, Value& value,
                const std::map<std::string, Value>& choices) {
  std::vector<std::string> words;
  for (const auto& [word, meaning] : choices) words.push_back(word);
  const auto choose = [=, &value](const std::string& text) {
    if (const auto choice = choices.find(text); choice != choices.end()) {
      value = choice->second;
      return;
    }
    const auto suggestion = closest(text, words);
    refuse_value(option, text, join(words, ", "), suggestion ? option + " " + *suggestion : "");
  };
  app.add_option_function<std::string>(option, choose, join(words, ","));
}

/// Checks --profile and --set. Throws UsageError for a --profile that is neither a name nor a file
/// and for a constant that is set twice; throws Error for a file that is not a profile.
void require_settings(const chip::ProfileChoice& choice);

/// Returns what `read` makes of --profile and --set. Throws UsageError for a bad --set; other
/// errors are those of require_settings().
template <class Read>
auto read_settings(const chip::ProfileChoice& choice, Read read) {
  require_settings(choice);
  try {
    return read(choice);
  } catch (const Error& failure) {
    throw UsageError(failure.what());
  }
}

/// Throws UsageError if a run has --profile or --set (`sets`) but nothing to run on the emulated
/// chip.
void require_chip(bool sets, bool has_chip);

/// Declares --color.
void add_color_option(CLI::App& app, ColorMode& color);

}  // namespace howard::cli
