// SPDX-License-Identifier: Apache-2.0
#include "reports/tables/cell_text.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <utility>

#include "base/terminal_text.h"
#include "base/text.h"

namespace howard::reports {
namespace {

bool starts_code_point(char byte) { return (static_cast<unsigned char>(byte) & 0xC0U) != 0x80U; }

/// Returns how many bytes the first `width` cells of `text` take.
std::size_t bytes_of_cells(std::string_view text, std::size_t width) {
  std::size_t points = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (starts_code_point(text[i]) && ++points > width) return i;
  }
  return text.size();
}

/// Returns where a word that does not fit `width` cells is best broken: behind the last sign that
/// leaves at least half of the line in use, or else where the line ends.
std::size_t best_break(std::string_view word, std::size_t width) {
  const std::size_t most = bytes_of_cells(word, width);
  const std::string_view line = word.substr(0, most);
  for (const std::string_view signs : {"/,;", ":=+_-"}) {
    const std::size_t sign = line.find_last_of(signs);
    if (sign != line.npos && sign + 1 >= most / 2) return sign + 1;
  }
  return most;
}

}  // namespace

std::size_t display_width(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(text, starts_code_point));
}

std::string printable(std::string_view text) { return terminal_text(text); }

std::string spreadsheet_text(std::string_view text) {
  std::string cell = printable(text);
  if (cell.find_first_of("=+-@") != 0 || cell.size() == 1) return cell;
  // A number may have a unit, whose letters nothing computes: "+10.0", "-5 %", "-1.5e-3 ms".
  const std::size_t end = cell.find_last_of("0123456789") + 1;
  const std::size_t start = cell[0] == '+' ? 1 : 0;
  const bool is_number = end > start && parse_number(cell.substr(start, end - start)).has_value();
  const bool has_unit =
      std::all_of(cell.begin() + static_cast<std::ptrdiff_t>(end), cell.end(),
                  [](unsigned char c) { return std::isalpha(c) != 0 || c == ' ' || c == '%'; });
  if (!is_number || !has_unit) cell.insert(0, "'");
  return cell;
}

std::string padded(std::string_view text, std::size_t width, bool right) {
  const std::size_t used = display_width(text);
  const std::string spaces(used < width ? width - used : 0, ' ');
  return right ? spaces + std::string(text) : std::string(text) + spaces;
}

std::string_view ellipsis(bool ascii) { return ascii ? "..." : "…"; }

std::string shortened(std::string_view text, std::size_t width, bool ascii) {
  if (display_width(text) <= width) return std::string(text);
  const std::string_view end = ellipsis(ascii);
  const std::size_t end_width = display_width(end);
  if (width < end_width) return std::string(text.substr(0, bytes_of_cells(text, width)));
  return std::string(text.substr(0, bytes_of_cells(text, width - end_width))) + std::string(end);
}

std::string with_ascii_marks(std::string text) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 2> kMarks{
      {{"±", "+-"}, {"…", "..."}}};
  for (const auto& [mark, ascii] : kMarks) {
    for (std::size_t at = text.find(mark); at != text.npos; at = text.find(mark, at)) {
      text.replace(at, mark.size(), ascii);
    }
  }
  return text;
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

std::vector<std::string> folded(std::string_view text, std::size_t width) {
  constexpr std::size_t kIndent = 2;
  const std::size_t indent = width > 4 * kIndent ? kIndent : 0;
  std::vector<std::string> lines(1);
  std::size_t used = 0;
  const auto begin_line = [&] {
    lines.emplace_back(indent, ' ');
    used = indent;
  };
  for (const std::string& whole : split(text, ' ')) {
    std::string_view word = whole;
    const bool at_start = used == 0 || (lines.size() > 1 && used == indent);
    if (!at_start && used + 1 + display_width(word) > width) {
      begin_line();
    } else if (!at_start) {
      lines.back() += ' ';
      ++used;
    }
    while (used + display_width(word) > width && width > used) {
      const std::size_t taken = best_break(word, width - used);
      lines.back() += word.substr(0, taken);
      word.remove_prefix(taken);
      begin_line();
    }
    lines.back() += word;
    used += display_width(word);
  }
  return lines;
}

}  // namespace howard::reports
