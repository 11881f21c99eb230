// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace howard::cli {

/// Returns the manual, or what --help prints for the experiments in `names`. Throws UsageError for
/// an unknown name.
std::string help_of(const std::vector<std::string>& names);

/// Runs `help [NAME...]`, which prints the manual, or the --help of experiments or of a command.
int help(int argc, const char* const* argv);

/// Runs `version`, which prints what --version prints.
int version(int argc, const char* const* argv);

}  // namespace howard::cli
