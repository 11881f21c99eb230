// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace howard::reports {

/// How many terminal cells UTF-8 `text` takes: its code points, as nothing wide is ever printed.
std::size_t display_width(std::string_view text);

/// `text` without control characters (a space for each), so that no quoted input can break a line
/// or drive the terminal.
std::string printable(std::string_view text);

/// `text` with spaces up to `width`, to its left when `right` is true. Longer text is kept.
std::string padded(std::string_view text, std::size_t width, bool right);

/// `text` cut to `width` cells, the last of which is then an ellipsis.
std::string shortened(std::string_view text, std::size_t width);

/// `text` broken at spaces into lines of at most `width` cells, each after the first indented by
/// two. A word that is longer stays whole.
std::string wrapped(std::string_view text, std::size_t width);

}  // namespace howard::reports
