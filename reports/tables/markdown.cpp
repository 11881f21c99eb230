// SPDX-License-Identifier: Apache-2.0
#include "reports/tables/markdown.h"

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <vector>

#include "reports/tables/cell_text.h"
#include "reports/tables/format.h"

namespace howard::reports {
namespace {

/// Returns text that Markdown shows as it is, and that stays within its cell.
std::string markdown_text(std::string_view text) {
  std::string safe;
  for (const char c : printable(text)) {
    if (c == '|' || c == '*' || c == '<' || c == '`' || c == '\\') safe += '\\';
    safe += c;
  }
  return safe;
}

using Line = std::vector<std::string>;

Line cells_of(const TableRow& row) {
  Line line;
  for (const Cell& cell : row.cells) line.push_back(markdown_text(cell.text));
  if (!row.skipped.empty()) {
    while (!line.empty() && line.back().empty()) line.pop_back();
    line.push_back(markdown_text(row.skipped));
    line.resize(row.cells.size());
  }
  return line;
}

void append_line(std::string& text, const Line& line, const std::vector<std::size_t>& widths,
                 const std::vector<TableColumn>& columns) {
  for (std::size_t i = 0; i < line.size(); ++i) {
    text += "| " + padded(line[i], widths[i], columns[i].number) + " ";
  }
  text += "|\n";
}

}  // namespace

std::string markdown_table(const Table& table) {
  std::vector<Line> lines(1);
  for (const TableColumn& column : table.columns) {
    lines[0].push_back(markdown_text(with_unit(column.title, column.unit)));
  }
  for (const TableRow& row : table.rows) lines.push_back(cells_of(row));

  constexpr std::size_t kShortestRule = 3;  // "--:"
  std::vector<std::size_t> widths(table.columns.size(), kShortestRule);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    for (std::size_t j = 0; j < widths.size(); ++j) {
      // The source is aligned too, except for reasons, which would stretch it.
      if (i > 0 && !table.rows[i - 1].skipped.empty()) continue;
      widths[j] = std::max(widths[j], display_width(lines[i][j]));
    }
  }
  std::string text = "**" + markdown_text(table.caption) + "**\n\n";
  append_line(text, lines[0], widths, table.columns);
  for (std::size_t j = 0; j < widths.size(); ++j) {
    text += "| " + std::string(widths[j] - 1, '-') + (table.columns[j].number ? ": " : "- ");
  }
  text += "|\n";
  for (std::size_t i = 1; i < lines.size(); ++i) append_line(text, lines[i], widths, table.columns);
  std::vector<std::string> notes = meanings_of(table);
  notes.insert(notes.end(), table.notes.begin(), table.notes.end());
  if (!notes.empty()) text += '\n';
  for (const std::string& note : notes) text += "- " + markdown_text(note) + "\n";
  return text;
}

}  // namespace howard::reports
