// SPDX-License-Identifier: Apache-2.0
#include "reports/page/html.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <vector>

#include "reports/tables/cell_text.h"

namespace howard::reports {
namespace {

std::string_view class_of(Tone tone) {
  switch (tone) {
    case Tone::plain:
      return "";
    case Tone::good:
      return "good";
    case Tone::fair:
      return "fair";
    case Tone::bad:
      return "bad";
  }
  return "";
}

/// Returns the class of a long text, which would be broken into a tall and narrow column: a list of
/// names with numbers is shown in one line instead.
std::string_view length_class(std::string_view text) {
  constexpr std::size_t kLong = 40;
  constexpr std::ptrdiff_t kMany = 3;
  if (text.size() <= kLong) return "";
  return std::ranges::count(text, ',') >= kMany ? "list" : "long";
}

std::string class_attribute(bool number, Tone tone, std::string_view words = "") {
  std::string classes = number ? "number" : "";
  const std::string_view own = class_of(tone);
  if (!own.empty()) classes += (classes.empty() ? "" : " ") + std::string(own);
  const std::string_view length = length_class(words);
  if (!length.empty()) classes += (classes.empty() ? "" : " ") + std::string(length);
  return classes.empty() ? "" : fmt::format(" class=\"{}\"", classes);
}

std::string head_of(const TableColumn& column) {
  std::string text = html_text(column.title);
  if (!column.unit.empty()) {
    text += fmt::format(" <span class=\"unit\">{}</span>", html_text(column.unit));
  }
  return fmt::format("<th scope=\"col\"{}>{}</th>", class_attribute(column.number, Tone::plain),
                     text);
}

std::string row_of(const TableRow& row, const std::vector<TableColumn>& columns) {
  std::size_t filled = row.cells.size();
  if (!row.skipped.empty()) {
    while (filled > 0 && row.cells[filled - 1].text.empty()) --filled;
  }
  std::string text = "<tr>";
  for (std::size_t i = 0; i < filled; ++i) {
    const Cell& cell = row.cells[i];
    text += fmt::format("<td{}>{}</td>", class_attribute(columns[i].number, cell.tone, cell.text),
                        html_text(cell.text));
  }
  if (!row.skipped.empty() && filled < row.cells.size()) {
    text += fmt::format("<td class=\"skipped\" colspan=\"{}\">{}</td>", row.cells.size() - filled,
                        html_text(row.skipped));
  }
  return text + "</tr>\n";
}

}  // namespace

std::string html_text(std::string_view text) {
  std::string safe;
  for (const char c : printable(text)) {
    switch (c) {
      case '&':
        safe += "&amp;";
        break;
      case '<':
        safe += "&lt;";
        break;
      case '>':
        safe += "&gt;";
        break;
      case '"':
        safe += "&quot;";
        break;
      case '\'':
        safe += "&#39;";
        break;
      default:
        safe += c;
    }
  }
  return safe;
}

std::string html_word(std::string_view text) {
  std::string word;
  for (const char c : text) {
    const bool plain = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-';
    word += plain ? c : '-';
  }
  return word;
}

std::string html_table(const Table& table) {
  std::string text = "<div class=\"wide\"><table>\n<caption><span>" + html_text(table.caption) +
                     "</span></caption>\n<thead><tr>";
  for (const TableColumn& column : table.columns) text += head_of(column);
  text += "</tr></thead>\n<tbody>\n";
  for (const TableRow& row : table.rows) text += row_of(row, table.columns);
  text += "</tbody></table></div>\n";
  std::vector<std::string> notes = meanings_of(table);
  notes.insert(notes.end(), table.notes.begin(), table.notes.end());
  if (notes.empty()) return text;
  std::string list = "<ul class=\"notes\">\n";
  for (const std::string& note : notes) list += "<li>" + html_text(note) + "</li>\n";
  list += "</ul>\n";
  // Many of them would stand between their reader and the next table.
  constexpr std::size_t kMostNotes = 6;
  if (notes.size() <= kMostNotes) return text + list;
  return text + fmt::format("<details><summary>{} notes on this table</summary>\n{}</details>\n",
                            notes.size(), list);
}

}  // namespace howard::reports
