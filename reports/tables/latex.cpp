// SPDX-License-Identifier: Apache-2.0
#include "reports/tables/latex.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "reports/tables/cell_text.h"
#include "reports/tables/format.h"
#include "reports/tables/table_layout.h"

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

/// What a page's width holds in small letters, in characters of a table.
constexpr std::size_t kPageLetters = 110;
/// More rows than this are no float, which has to fit a page, but a table that goes on.
constexpr std::size_t kPageRows = 40;

/// Returns "gpt2-trace-emulated-device" of "gpt2_trace: emulated device, virtual time".
std::string label_of(std::string_view caption) {
  std::string label;
  for (const char c : caption.substr(0, caption.find(','))) {
    const bool plain = std::isalnum(static_cast<unsigned char>(c)) != 0;
    if (plain) label += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    if (!plain && !label.empty() && label.back() != '-') label += '-';
  }
  while (label.ends_with('-')) label.pop_back();
  return label;
}

/// Returns a column's head, in lines above each other where it is wider than its cells.
std::string head_text(const TableColumn& column, std::size_t width) {
  constexpr std::size_t kShort = 12;
  const std::string text = with_unit(column.title, column.unit);
  const std::size_t most = std::max(width, kShort);
  if (text.size() <= most) return latex_text(text);
  std::vector<std::string> lines;
  for (const std::string& word : split(text, ' ')) {
    if (!lines.empty() && lines.back().size() + 1 + word.size() <= most) {
      lines.back() += " " + word;
    } else {
      lines.push_back(word);
    }
  }
  for (std::string& line : lines) line = latex_text(line);
  return fmt::format("\\shortstack[{}]{{{}}}", column.number ? 'r' : 'l', join(lines, " \\\\ "));
}

std::string row_text(const TableRow& row, const std::vector<std::size_t>& columns) {
  std::size_t used = columns.size();
  if (!row.skipped.empty()) {
    while (used > 0 && row.cells[columns[used - 1]].text.empty()) --used;
  }
  std::string line;
  for (std::size_t i = 0; i < used; ++i) {
    line += (i > 0 ? " & " : "") + latex_text(row.cells[columns[i]].text);
  }
  if (!row.skipped.empty() && used < columns.size()) {
    line += (used > 0 ? " & " : "") + fmt::format("\\multicolumn{{{}}}{{l}}{{{}}}",
                                                  columns.size() - used, latex_text(row.skipped));
  }
  return "    " + line + " \\\\\n";
}

/// Returns how the columns are aligned: a text that is wider than its share of the page is broken
/// into lines.
std::string alignment_of(const Table& table, const TableLayout& layout) {
  std::string alignment;
  for (std::size_t i = 0; i < layout.columns.size(); ++i) {
    const std::size_t column = layout.columns[i];
    std::size_t widest = 0;
    for (const TableRow& row : table.rows) {
      widest = std::max(widest, row.cells[column].text.size());
    }
    // Half an em is what a letter takes on average.
    alignment += table.columns[column].number ? "r"
                 : widest <= layout.widths[i]
                     ? "l"
                     : fmt::format("p{{{:.1f}em}}", static_cast<double>(layout.widths[i]) / 2);
  }
  return alignment;
}

std::vector<std::string> notes_of(const Table& table, const TableLayout& layout) {
  std::vector<std::string> left_out;
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    const bool shown = std::ranges::find(layout.columns, i) != layout.columns.end();
    if (!shown) left_out.push_back(table.columns[i].title);
  }
  std::vector<std::string> notes = meanings_of(table);
  notes.insert(notes.end(), table.notes.begin(), table.notes.end());
  if (!left_out.empty()) {
    notes.push_back(fmt::format("wider than a page, and in the CSV: {}", join(left_out, ", ")));
  }
  return notes;
}

}  // namespace

std::string latex_table(const Table& table) {
  const TableLayout layout = lay_out(table, kPageLetters);
  const std::string alignment = alignment_of(table, layout);
  std::string header;
  for (std::size_t i = 0; i < layout.columns.size(); ++i) {
    header += (i > 0 ? " & " : "") + head_text(table.columns[layout.columns[i]], layout.widths[i]);
  }
  const std::string caption = fmt::format("\\caption{{{}}}\\label{{tab:{}}}",
                                          latex_text(table.caption), label_of(table.caption));
  const bool goes_on = table.rows.size() > kPageRows;
  std::string text =
      goes_on
          ? fmt::format(
                "\\begin{{longtable}}{{{0}}}\n  {1} \\\\\n    \\toprule\n    {2} \\\\\n"
                "    \\midrule\n    \\endfirsthead\n    \\toprule\n    {2} \\\\\n    \\midrule\n"
                "    \\endhead\n    \\bottomrule\n    \\endfoot\n",
                alignment, caption, header)
          : fmt::format(
                "\\begin{{table}}\n  \\centering\n  {}\n  \\begin{{tabular}}{{{}}}\n"
                "    \\toprule\n    {} \\\\\n    \\midrule\n",
                caption, alignment, header);
  for (const TableRow& row : table.rows) text += row_text(row, layout.columns);
  text += goes_on ? "\\end{longtable}\n" : "    \\bottomrule\n  \\end{tabular}\n";
  for (const std::string& note : notes_of(table, layout)) {
    text += fmt::format("  \\par\\footnotesize {}\n", latex_text(note));
  }
  // After a float ends so do its small letters.
  return text + (goes_on ? "  \\normalsize\n" : "\\end{table}\n");
}

}  // namespace howard::reports
