// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace howard::reports {

/// How many terminal cells UTF-8 `text` takes: its code points, as nothing wide is ever printed.
std::size_t display_width(std::string_view text);

/// `text` without control characters (a space for each), so that no quoted input can break a line
/// or drive the terminal.
std::string printable(std::string_view text);

/// `text` with spaces up to `width`, to its left when `right` is true. Longer text is kept.
std::string padded(std::string_view text, std::size_t width, bool right);

/// What stands for the end of a text that was cut: "…", and "..." where only ASCII can be shown.
std::string_view ellipsis(bool ascii);

/// `text` cut to `width` cells, the last of which then are an ellipsis.
std::string shortened(std::string_view text, std::size_t width, bool ascii = false);

/// `text` with the marks that reports make ("±", "…") in ASCII; what users named stays as it is.
std::string with_ascii_marks(std::string text);

/// `text` broken at spaces into lines of at most `width` cells, each after the first indented by
/// two. A word that is longer stays whole.
std::string wrapped(std::string_view text, std::size_t width);

/// As `wrapped`, but no line is longer than `width`: a word that is too long is broken, behind a
/// sign such as "/" where there is one. At least one line.
std::vector<std::string> folded(std::string_view text, std::size_t width);

}  // namespace howard::reports
