// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace howard::cli {

/// The manual, or what --help prints of the experiments that are named. UsageError for a name that
/// is none.
std::string help_of(const std::vector<std::string>& names);

/// `help [NAME...]`: the manual, or the --help of experiments or of a command.
int help(int argc, const char* const* argv);

/// `version`: what --version prints.
int version(int argc, const char* const* argv);

}  // namespace howard::cli
