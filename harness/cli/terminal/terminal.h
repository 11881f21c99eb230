// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "reports/tables/terminal_table.h"

namespace howard::cli {

enum class ColorMode : std::uint8_t { automatic, always, never };

/// Returns the columns of the terminal behind a file descriptor; absent if there is no terminal,
/// and so no limit.
std::optional<int> terminal_width(int descriptor);

/// Returns whether to colour what goes to a file descriptor. `automatic` colours on a terminal that
/// is not dumb, unless NO_COLOR is set; CLICOLOR_FORCE or FORCE_COLOR colour even a file.
bool wants_color(int descriptor, ColorMode mode);

/// Returns whether only ASCII can be shown, because the locale's encoding is not UTF-8. The first
/// of LC_ALL, LC_CTYPE and LANG that is set decides, by its name: a system may lack the locale
/// itself.
bool wants_ascii();

/// Returns how tables are printed to a file descriptor.
reports::TerminalStyle terminal_style(int descriptor, ColorMode mode);

}  // namespace howard::cli
