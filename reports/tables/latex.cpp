// SPDX-License-Identifier: Apache-2.0
#include "reports/tables/latex.h"

#include <fmt/format.h>

#include <cstddef>
#include <string_view>
#include <vector>

#include "reports/tables/cell_text.h"
#include "reports/tables/format.h"

namespace howard::reports {
namespace {

/// Returns text that LaTeX prints as it is.
std::string latex_text(std::string_view text) {
  std::string safe;
  for (const char c : printable(text)) {
    switch (c) {
      case '\\':
        safe += "\\textbackslash{}";
        break;
      case '~':
        safe += "\\textasciitilde{}";
        break;
      case '^':
        safe += "\\textasciicircum{}";
        break;
      case '<':
      case '>':
      case '|':
        safe += fmt::format("${}$", c == '|' ? "\\vert" : std::string(1, c));
        break;
      case '"':
        safe += "\\textquotedbl{}";
        break;
      case '#':
      case '$':
      case '%':
      case '&':
      case '_':
      case '{':
      case '}':
        safe += '\\';
        [[fallthrough]];
      default:
        safe += c;
    }
  }
  // This Latin text of the tables exists in LaTeX only in mathematics.
  for (std::size_t at = safe.find("±"); at != std::string::npos; at = safe.find("±", at)) {
    safe.replace(at, std::string_view("±").size(), "$\\pm$");
  }
  return safe;
}

std::string row_text(const TableRow& row) {
  std::size_t used = row.cells.size();
  if (!row.skipped.empty()) {
    while (used > 0 && row.cells[used - 1].text.empty()) --used;
  }
  std::string line;
  for (std::size_t i = 0; i < used; ++i) {
    line += (i > 0 ? " & " : "") + latex_text(row.cells[i].text);
  }
  if (!row.skipped.empty()) {
    const std::size_t free = row.cells.size() - used;
    line += (used > 0 ? " & " : "") +
            fmt::format("\\multicolumn{{{}}}{{l}}{{{}}}", free, latex_text(row.skipped));
  }
  return "    " + line + " \\\\\n";
}

}  // namespace

std::string latex_table(const Table& table) {
  std::string alignment;
  std::string header;
  for (const TableColumn& column : table.columns) {
    header += (header.empty() ? "" : " & ") + latex_text(with_unit(column.title, column.unit));
    alignment += column.number ? 'r' : 'l';
  }
  std::string text = fmt::format(
      "\\begin{{table}}\n  \\centering\n  \\caption{{{}}}\n  \\begin{{tabular}}{{{}}}\n"
      "    \\toprule\n    {} \\\\\n    \\midrule\n",
      latex_text(table.caption), alignment, header);
  for (const TableRow& row : table.rows) text += row_text(row);
  text += "    \\bottomrule\n  \\end{tabular}\n";
  std::vector<std::string> notes = meanings_of(table);
  notes.insert(notes.end(), table.notes.begin(), table.notes.end());
  for (const std::string& note : notes) {
    text += fmt::format("  \\par\\footnotesize {}\n", latex_text(note));
  }
  return text + "\\end{table}\n";
}

}  // namespace howard::reports
