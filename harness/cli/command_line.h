// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/App.hpp>

#include "harness/cli/options.h"

namespace howard::cli {

/// Reads the command line into what was declared. UsageError, in one line and with a suggestion for
/// a mistyped option, when it is not understood.
void parse_command_line(CLI::App& app, int argc, const char* const* argv);

/// Declares --color.
void add_color_option(CLI::App& app, ColorMode& color);

}  // namespace howard::cli
