// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

namespace howard::cli {

enum class ColorMode : std::uint8_t { automatic, always, never };

/// Columns of the terminal behind a file descriptor; absent when there is none, and so no limit.
std::optional<int> terminal_width(int descriptor);

/// Whether to colour what goes to a file descriptor. `automatic`: a terminal that is not dumb,
/// unless NO_COLOR is set; CLICOLOR_FORCE or FORCE_COLOR colour even a file.
bool wants_color(int descriptor, ColorMode mode);

}  // namespace howard::cli
