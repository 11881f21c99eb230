// SPDX-License-Identifier: Apache-2.0
#include "reports/cell_text.h"

#include <algorithm>

#include "base/text.h"

namespace howard::reports {
namespace {

bool starts_code_point(char byte) { return (static_cast<unsigned char>(byte) & 0xC0U) != 0x80U; }

}  // namespace

std::size_t display_width(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(text, starts_code_point));
}

std::string printable(std::string_view text) {
  std::string clean(text);
  for (char& byte : clean) {
    const auto code = static_cast<unsigned char>(byte);
    if (code < ' ' || code == 0x7F) byte = ' ';
  }
  return clean;
}

std::string padded(std::string_view text, std::size_t width, bool right) {
  const std::size_t used = display_width(text);
  const std::string spaces(used < width ? width - used : 0, ' ');
  return right ? spaces + std::string(text) : std::string(text) + spaces;
}

std::string shortened(std::string_view text, std::size_t width) {
  if (display_width(text) <= width) return std::string(text);
  if (width == 0) return "";
  std::string cut;
  std::size_t points = 0;
  for (const char byte : text) {
    if (starts_code_point(byte) && ++points >= width) break;
    cut += byte;
  }
  return cut + "…";
}

std::string wrapped(std::string_view text, std::size_t width) {
  std::string lines;
  std::size_t used = 0;
  for (const std::string& word : split(text, ' ')) {
    const std::size_t length = display_width(word);
    if (used > 0 && used + 1 + length > width) {
      lines += "\n  ";
      used = 2;
    } else if (used > 0) {
      lines += ' ';
      ++used;
    }
    lines += word;
    used += length;
  }
  return lines;
}

}  // namespace howard::reports
