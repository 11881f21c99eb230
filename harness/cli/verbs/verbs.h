// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string_view>

namespace howard::cli {

/// What the first word of a command line may be instead of an experiment; each has its own options.
struct Verb {
  std::string_view name;
  int (*run)(int argc, const char* const* argv);
  const std::string_view* help;  ///< Its manual, or one that it has a part of.
  std::string_view summary;      ///< One line, for `list`.
  bool is_text = false;          ///< Prints what it knows and runs nothing.
};

/// In the order in which `list` shows them.
std::span<const Verb> verbs();

/// Null when `name` is none.
const Verb* find_verb(std::string_view name);

}  // namespace howard::cli
