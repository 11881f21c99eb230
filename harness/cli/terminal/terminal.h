// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "reports/tables/terminal_table.h"

namespace howard::cli {

enum class ColorMode : std::uint8_t { automatic, always, never };

/// Columns of the terminal behind a file descriptor; absent when there is none, and so no limit.
std::optional<int> terminal_width(int descriptor);

/// Whether to colour what goes to a file descriptor. `automatic`: a terminal that is not dumb,
/// unless NO_COLOR is set; CLICOLOR_FORCE or FORCE_COLOR colour even a file.
bool wants_color(int descriptor, ColorMode mode);

/// Whether only ASCII can be shown: the locale's encoding is not UTF-8, by LC_ALL, LC_CTYPE and
/// LANG, of which the first that is set counts. By its name: a system may lack the locale itself.
bool wants_ascii();

/// How tables are printed to a file descriptor.
reports::TerminalStyle terminal_style(int descriptor, ColorMode mode);

}  // namespace howard::cli
