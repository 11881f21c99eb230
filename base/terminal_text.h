// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace howard {

/// Says what of a text is kept besides what can be seen.
enum class TerminalMarks : std::uint8_t {
  none,              ///< Line breaks and tabs become spaces too: a word, a cell, a name.
  lines,             ///< Line breaks and tabs are kept.
  lines_and_colors,  ///< So are the colors of our tables, which a text of a file may have as well.
};

/// Makes the texts of files safe to print: none can drive a terminal, break a line or change the
/// order in which it is read. A control character (C0, DEL, C1, thus the
/// beginning of an escape sequence) and a mark of direction or of a line (U+061C, U+200E, U+202E,
/// U+2028, ...) become a space, and a byte that is no UTF-8 becomes "?". All that is printed goes
/// through this, piece by piece.
class TerminalText {
 public:
  explicit TerminalText(TerminalMarks marks) : marks_(marks) {}

  /// Returns what of the text up to and with `piece` can be printed now. A character whose end is
  /// still to come is kept for the next piece.
  std::string pass(std::string_view piece);
  /// Returns what is kept, at the end of a text.
  std::string rest();
  /// Keeps the colors of our tables from here on.
  void keep_colors() { marks_ = TerminalMarks::lines_and_colors; }

 private:
  TerminalMarks marks_;
  std::string begun_;
};

/// Returns the whole of `text` in that form.
std::string terminal_text(std::string_view text, TerminalMarks marks = TerminalMarks::none);

}  // namespace howard
