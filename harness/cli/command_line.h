// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <map>
#include <stdexcept>
#include <string>

#include "harness/cli/terminal.h"

namespace howard::cli {

/// The command line is not understood: exit code 2. Its text is one line, ready to print.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Parses what `app` declares. UsageError, with a suggestion for a mistyped option.
void parse_command_line(CLI::App& app, int argc, const char* const* argv);

/// Declares --color.
void add_color_option(CLI::App& app, ColorMode& color);

}  // namespace howard::cli
