// SPDX-License-Identifier: Apache-2.0
#include "base/terminal_text.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

namespace howard {
namespace {

/// The marks that reports make. Others could hide what follows.
constexpr std::array<std::string_view, 4> kColors{"\x1b[0m", "\x1b[31m", "\x1b[32m", "\x1b[33m"};

/// A character of UTF-8: its bytes, and its code point; 0 bytes if its end is still to come.
struct Character {
  std::size_t bytes = 1;
  char32_t code = 0;
  bool valid = true;
};

unsigned byte_of(char c) { return static_cast<unsigned char>(c); }

Character first_of(std::string_view text) {
  const unsigned lead = byte_of(text[0]);
  if (lead < 0x80U) return {.code = lead};
  const std::size_t bytes = lead >= 0xF0U ? 4 : lead >= 0xE0U ? 3 : 2;
  if (lead < 0xC2U || lead > 0xF4U) return {.valid = false};
  char32_t code = lead & (0x7FU >> bytes);
  for (std::size_t i = 1; i < bytes; ++i) {
    if (i == text.size()) return {.bytes = 0};
    if ((byte_of(text[i]) & 0xC0U) != 0x80U) return {.valid = false};
    code = code << 6U | (byte_of(text[i]) & 0x3FU);
  }
  // The shortest form only, and no halves of a pair, which are no characters.
  const bool is_long = (bytes == 3 && code < 0x800) || (bytes == 4 && code < 0x10000);
  const bool is_half = code >= 0xD800 && code <= 0xDFFF;
  if (is_long || is_half || code > 0x10FFFF) return {.valid = false};
  return {.bytes = bytes, .code = code};
}

/// Says whether a character drives a terminal or changes the order of what is read.
bool is_control(char32_t code) {
  return code < 0x20 || (code >= 0x7F && code <= 0x9F) || code == 0x061C || code == 0x200E ||
         code == 0x200F || (code >= 0x2028 && code <= 0x202E) || (code >= 0x2066 && code <= 0x2069);
}

}  // namespace

std::string TerminalText::pass(std::string_view piece) {
  const std::string text = std::exchange(begun_, {}) + std::string(piece);
  const bool keeps_colors = marks_ == TerminalMarks::lines_and_colors;
  const bool keeps_lines = marks_ != TerminalMarks::none;
  std::string clean;
  clean.reserve(text.size());
  for (std::string_view left = text; !left.empty();) {
    if (keeps_colors && left[0] == '\x1b') {
      const auto begins = [&](std::string_view color) { return left.starts_with(color); };
      const auto may_begin = [&](std::string_view color) { return color.starts_with(left); };
      if (const auto* const color = std::ranges::find_if(kColors, begins); color != kColors.end()) {
        clean += *color;
        left.remove_prefix(color->size());
        continue;
      }
      if (std::ranges::any_of(kColors, may_begin)) {
        begun_ = left;
        break;
      }
    }
    const Character character = first_of(left);
    if (character.bytes == 0) {
      begun_ = left;
      break;
    }
    const bool is_kept = keeps_lines && (left[0] == '\n' || left[0] == '\t');
    if (!character.valid) {
      clean += '?';
    } else if (is_control(character.code) && !is_kept) {
      clean += ' ';
    } else {
      clean += left.substr(0, character.bytes);
    }
    left.remove_prefix(character.bytes);
  }
  return clean;
}

std::string TerminalText::rest() {
  std::string rest = std::exchange(begun_, {});
  if (rest.empty()) return rest;
  if (rest[0] == '\x1b') return ' ' + rest.substr(1);
  return "?";
}

std::string terminal_text(std::string_view text, TerminalMarks marks) {
  TerminalText whole(marks);
  std::string clean = whole.pass(text);
  return clean + whole.rest();
}

}  // namespace howard
