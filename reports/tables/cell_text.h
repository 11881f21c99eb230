// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace howard::reports {

/// Returns how many terminal cells UTF-8 `text` takes: its code points, because nothing wide is
/// ever printed.
std::size_t display_width(std::string_view text);

/// Returns terminal_text(), so that no quoted input can break a line or drive the terminal.
std::string printable(std::string_view text);

/// Returns a text for a cell of a CSV: printable, and with ' before it if a spreadsheet would
/// compute it, because it begins with = + - or @ and is no number.
std::string spreadsheet_text(std::string_view text);

/// Returns `text` with spaces up to `width`, to its left if `right` is true. Longer text is kept.
std::string padded(std::string_view text, std::size_t width, bool right);

/// Returns the mark for the end of a text that was cut: "…", or "..." if only ASCII can be shown.
std::string_view ellipsis(bool ascii);

/// Returns `text` cut to `width` cells, the last of which then are an ellipsis.
std::string shortened(std::string_view text, std::size_t width, bool ascii = false);

/// Returns `text` with the marks that reports make ("±", "…") in ASCII. Names that users gave stay
/// as they are.
std::string with_ascii_marks(std::string text);

/// Returns `text` broken at spaces into lines of at most `width` cells. Each line after the first
/// is indented by two. A word that is longer stays whole.
std::string wrapped(std::string_view text, std::size_t width);

/// Does the same as `wrapped`, but no line is longer than `width`: a word that is too long is
/// broken, behind a sign such as "/" if there is one. It returns at least one line.
std::vector<std::string> folded(std::string_view text, std::size_t width);

}  // namespace howard::reports
