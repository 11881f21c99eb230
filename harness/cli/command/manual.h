// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "harness/cli/command/command.h"
#include "harness/cli/command/program.h"
#include "harness/experiment.h"

namespace howard::cli {

/// Holds a line of a manual as it is shown.
struct ManualLine {
  std::string term;  ///< "--seed N"; empty for a paragraph or an example.
  std::string text;
};

/// Holds a part of a manual. The title of the first one is empty: it names the command.
struct ManualSection {
  std::string title;
  std::vector<ManualLine> lines;
  bool keeps_lines = false;  ///< Its lines are commands, which are not wrapped.
};

/// Returns the manual of a command.
std::vector<ManualSection> manual_of(const Command& command, const ManualPlaces& places);

/// Returns what --help prints.
std::string help_of(const Command& command);

/// Returns what -h prints, which fits a screen: the forms, and a line for each option; where there
/// are many, their names.
std::string short_help_of(const Command& command);

/// Returns a line whose term has a column of its own; lines are at most `width` wide.
std::string described(std::string_view term, std::string_view text, std::size_t column,
                      std::size_t width);

/// Returns everything that a user needs to run an experiment: its question, axes, timing, published
/// rows and examples.
std::string description(const harness::Experiment& experiment);

/// Returns its question and a line for each axis.
std::string short_description(const harness::Experiment& experiment);

/// Returns "howard 0.1.0 (commit, compiler, build type)" as a line.
std::string version_text();

/// Returns the manual page in man(7): the --help of the program and of each command, and the axes
/// of each experiment.
std::string man_page();

}  // namespace howard::cli
