// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/cli/command/option.h"

namespace howard::cli {

/// Returns the option that has this name; null if there is none.
const Option* find_option(const OptionList& options, std::string_view name);

/// Holds what a command line gives: each option with its value.
class Given {
 public:
  /// Understands the words of a command line, without the name of the command. Throws UsageError
  /// for an unknown option, with a suggestion, for a value that is missing, empty or too many, and
  /// for a word too many. `options` must outlive it.
  Given(const OptionList& options, std::span<const std::string> words);

  /// Hands each value to its option. Throws UsageError for a value that the option does not take.
  void take() const;
  /// Returns whether the option of this name is given.
  bool has(std::string_view name) const;
  /// Throws UsageError for an option that changes nothing (Option::applies).
  void require_applicable() const;
  /// Throws UsageError if the option is given although it is not `used`. `purpose` says what it is
  /// for.
  void require_use(std::string_view name, bool used, std::string_view purpose) const;

 private:
  struct One {
    const Option* option;
    std::string name;  ///< The name by which it was given.
    std::string value;
  };
  /// Adds the option that begins at words[at]. Returns the index of its last word.
  std::size_t add_option(const OptionList& options, std::span<const std::string> words,
                         std::size_t at);
  void add_word(const OptionList& options, const std::string& word);
  void add(const Option& option, std::string name, std::string value);

  std::vector<One> all_;
};

}  // namespace howard::cli
