// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string_view>

namespace howard::cli {

/// Describes a word that may begin a command line instead of an experiment. Each has its own
/// options.
struct Verb {
  std::string_view name;
  int (*run)(int argc, const char* const* argv);
  const std::string_view* help;  ///< Its manual, or the manual of which it is a part.
  std::string_view summary;      ///< One line for `list`.
  bool is_text = false;          ///< If true, it only prints what it knows and runs nothing.
  bool is_shared = false;        ///< If true, all processes of a run work on it.
};

/// Returns the verbs in the order in which `list` shows them.
std::span<const Verb> verbs();

/// Returns null if `name` is not a verb.
const Verb* find_verb(std::string_view name);

}  // namespace howard::cli
