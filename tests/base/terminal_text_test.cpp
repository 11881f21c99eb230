// SPDX-License-Identifier: Apache-2.0
#include "base/terminal_text.h"

#include <gtest/gtest.h>

#include <string>

namespace howard {
namespace {

std::string lines(std::string_view text) {
  return terminal_text(text, TerminalMarks::lines_and_colors);
}

TEST(TerminalText, WhatCanBeSeenStays) {
  for (const char* const text : {"", "a b", "±1 %", "日本語", "\U0001F600", "{[\\x1b]}"}) {
    EXPECT_EQ(terminal_text(text), text);
    EXPECT_EQ(lines(text), text);
  }
}

TEST(TerminalText, NoControlCharacterStays) {
  EXPECT_EQ(terminal_text("a\x1b]0;X\x07z\x7f\r"), "a ]0;X z  ");
  EXPECT_EQ(terminal_text("a\xC2\x9B"
                          "2Jz"),
            "a 2Jz")
      << "CSI as one character";
  EXPECT_EQ(terminal_text("a\x9B"
                          "2Jz"),
            "a?2Jz")
      << "and as one byte";
  EXPECT_EQ(terminal_text(std::string_view("a\0z", 3)), "a z");
  EXPECT_EQ(terminal_text("a\u202Ez\u2066y\u061C\u200F\u2028"), "a z y   ");
  EXPECT_EQ(terminal_text("a\nb\tc"), "a b c");
}

TEST(TerminalText, LinesAndOurColorsStayWhereTheyAreWanted) {
  EXPECT_EQ(lines("a\n\tb"), "a\n\tb");
  EXPECT_EQ(lines("\x1b[31mbad\x1b[0m"), "\x1b[31mbad\x1b[0m");
  EXPECT_EQ(terminal_text("\x1b[31mbad\x1b[0m"), " [31mbad [0m");
  EXPECT_EQ(terminal_text("\x1b[31mbad\n", TerminalMarks::lines), " [31mbad\n");
  TerminalText later(TerminalMarks::lines);
  EXPECT_EQ(later.pass("\x1b[31ma"), " [31ma");
  later.keep_colors();
  EXPECT_EQ(later.pass("\x1b[31ma"), "\x1b[31ma");
  EXPECT_EQ(lines("\x1b[8mhidden\x1b[2J\r\x1b[K"), " [8mhidden [2J  [K");
}

TEST(TerminalText, WhatIsNoUtf8BecomesQuestionMarks) {
  EXPECT_EQ(terminal_text("a\xff"
                          "b"),
            "a?b");
  EXPECT_EQ(terminal_text("\xC0\xAF"), "??") << "a long form of /";
  EXPECT_EQ(terminal_text("\xED\xA0\x80"), "???") << "half of a pair";
  EXPECT_EQ(terminal_text("a\xE6\x97"), "a?") << "a character that ends too early";
}

TEST(TerminalText, PiecesGiveWhatTheWholeGives) {
  const std::string text = "a\x1b[31mü日\x1b[8m\xC2\x9B\xff\U0001F600\x1b[";
  for (std::size_t size = 1; size <= text.size(); ++size) {
    TerminalText pieces(TerminalMarks::lines_and_colors);
    std::string clean;
    for (std::size_t at = 0; at < text.size(); at += size) {
      clean += pieces.pass(std::string_view(text).substr(at, size));
    }
    EXPECT_EQ(clean + pieces.rest(), lines(text)) << size;
  }
}

}  // namespace
}  // namespace howard
