// SPDX-License-Identifier: Apache-2.0
#include "reports/tables/terminal_table.h"

#include <fmt/format.h>
#include <algorithm>
#include <cstddef>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.h"
#include "reports/tables/cell_text.h"
#include "reports/tables/table_layout.h"

namespace howard::reports {
namespace {

std::string colored(const std::string& text, Tone tone, bool color) {
  if (!color || tone == Tone::plain) return text;
  const std::string_view code = tone == Tone::good ? "32" : tone == Tone::fair ? "33" : "31";
  return fmt::format("\x1b[{}m{}\x1b[0m", code, text);
}

/// Returns the table with marks in ASCII only.
Table with_ascii_marks_only(Table table) {
  const auto change = [](std::string& text) { text = with_ascii_marks(std::move(text)); };
  change(table.caption);
  for (TableColumn& column : table.columns) {
    change(column.title);
    change(column.meaning);
  }
  for (TableRow& row : table.rows) {
    change(row.skipped);
    for (Cell& cell : row.cells) change(cell.text);
  }
  std::ranges::for_each(table.notes, change);
  return table;
}

/// Returns whether a text has options or a command to be pasted. They are printed in one line,
/// which a terminal breaks without adding anything to what is copied from it.
bool is_to_paste(std::string_view text) {
  return text.starts_with("-a ") || text.starts_with("--") ||
         text.find(" -a ") != std::string_view::npos ||
         text.find("run_experiment ") != std::string_view::npos;
}

class Printer {
 public:
  Printer(const Table& table, const TerminalStyle& style)
      : table_(table),
        style_(style),
        limit_(style.width ? static_cast<std::size_t>(std::max(*style.width, 1))
                           : std::string::npos),
        layout_(lay_out(table, limit_)) {}

  std::string print() {
    text_ = wrapped(printable(table_.caption), limit_) + "\n\n";
    if (!table_.columns.empty()) print_header();
    for (const TableRow& row : table_.rows) print_row(row);
    print_notes();
    return std::move(text_);
  }

 private:
  using Lines = std::vector<std::string>;

  void end_line() {
    text_.erase(text_.find_last_not_of(' ') + 1);
    text_ += '\n';
  }

  std::size_t shown_count() const { return layout_.columns.size(); }
  std::size_t width(std::size_t place) const { return layout_.widths[place]; }
  const TableColumn& column(std::size_t place) const {
    return table_.columns[layout_.columns[place]];
  }
  const Cell& cell(const TableRow& row, std::size_t place) const {
    return row.cells[layout_.columns[place]];
  }

  std::string laid_out(std::string_view text, std::size_t place) const {
    return padded(text, width(place), column(place).number);
  }

  Lines lines_of(std::string_view text, std::size_t place) const {
    const bool is_cut = room_of(table_, layout_.columns[place]) == harness::Room::spare;
    const bool is_last = place + 1 == shown_count();
    if (is_last && is_to_paste(text)) return {std::string(text)};
    if (is_cut) return {shortened(text, width(place), style_.ascii)};
    if (display_width(text) <= width(place)) return {std::string(text)};
    return folded(text, width(place));
  }

  /// Titles that are wrapped end on one line. Units are below, because beside the titles they would
  /// make most columns wider than their cells.
  void print_header() {
    std::vector<Lines> titles;
    std::size_t height = 0;
    bool has_units = false;
    for (std::size_t i = 0; i < shown_count(); ++i) {
      titles.push_back(title_lines(i));
      height = std::max(height, titles.back().size());
      has_units = has_units || !column(i).unit.empty();
    }
    for (std::size_t line = 0; line < height; ++line) {
      print_header_line([&](std::size_t i) -> std::string_view {
        const std::size_t missing = height - titles[i].size();
        return line < missing ? std::string_view() : titles[i][line - missing];
      });
    }
    if (has_units) print_header_line([&](std::size_t i) { return column(i).unit; });
    for (std::size_t i = 0; i < shown_count(); ++i) {
      if (i > 0) text_ += kColumnGap;
      text_.append(width(i), '-');
    }
    text_ += '\n';
  }

  Lines title_lines(std::size_t place) const {
    Lines lines;
    for (std::string& word : split(column(place).title, ' ')) {
      const bool joins =
          !lines.empty() && display_width(lines.back()) + 1 + display_width(word) <= width(place);
      if (joins) {
        lines.back() += ' ' + word;
      } else {
        lines.push_back(shortened(word, width(place), style_.ascii));
      }
    }
    return lines;
  }

  template <class TextOf>
  void print_header_line(TextOf text_of) {
    for (std::size_t i = 0; i < shown_count(); ++i) {
      if (i > 0) text_ += kColumnGap;
      text_ += laid_out(text_of(i), i);
    }
    end_line();
  }

  void print_row(const TableRow& row) {
    std::vector<Lines> cells;
    std::size_t height = 1;
    for (std::size_t i = 0; i < count_of_cells(row); ++i) {
      cells.push_back(lines_of(printable(cell(row, i).text), i));
      height = std::max(height, cells.back().size());
    }
    for (std::size_t line = 0; line < height; ++line) {
      std::size_t used = 0;
      for (std::size_t i = 0; i < cells.size(); ++i) {
        const std::string_view text = line < cells[i].size() ? cells[i][line] : std::string_view();
        const Tone tone = text.empty() ? Tone::plain : cell(row, i).tone;
        text_ += colored(laid_out(text, i), tone, style_.color);
        text_ += kColumnGap;
        used += width(i) + kColumnGap.size();
      }
      if (line == 0 && !row.skipped.empty()) print_reason(row, used);
      end_line();
    }
  }

  /// A reason takes the place of the cells at the end that a point does not have.
  std::size_t count_of_cells(const TableRow& row) const {
    std::size_t count = shown_count();
    if (row.skipped.empty()) return count;
    while (count > 0 && cell(row, count - 1).text.empty()) --count;
    return count;
  }

  /// The whole reason goes among the notes if it does not fit.
  void print_reason(const TableRow& row, std::size_t used) {
    const std::string reason = printable(row.skipped);
    const std::size_t room = limit_ - std::min(used, limit_);
    const std::string shown = shortened(reason, room, style_.ascii);
    if (shown != reason) {
      std::string point;
      for (const Cell& cell : row.cells) point += cell.text.empty() ? "" : cell.text + ' ';
      const auto known = std::ranges::find(long_reasons_, reason, &LongReason::reason);
      if (known == long_reasons_.end()) {
        long_reasons_.push_back({reason, point, 1});
      } else {
        ++known->rows;
      }
    }
    text_ += colored(shown, reason.starts_with("failed") ? Tone::bad : Tone::plain, style_.color);
  }

  void print_notes() {
    Lines notes;
    if (shown_count() < table_.columns.size()) notes.push_back(left_out_columns());
    for (std::size_t i = 0; i < shown_count(); ++i) {
      if (!column(i).meaning.empty()) notes.push_back(column(i).title + ": " + column(i).meaning);
    }
    for (const auto& [reason, point, rows] : long_reasons_) {
      notes.push_back(rows == 1 ? point + reason : fmt::format("{} rows {}", rows, reason));
    }
    notes.insert(notes.end(), table_.notes.begin(), table_.notes.end());
    if (!notes.empty()) text_ += '\n';
    for (const std::string& note : notes) {
      text_ += (is_to_paste(note) ? printable(note) : wrapped(printable(note), limit_)) + "\n";
    }
  }

  std::string left_out_columns() const {
    Lines titles;
    for (std::size_t i = 0; i < table_.columns.size(); ++i) {
      const bool shown = std::ranges::find(layout_.columns, i) != layout_.columns.end();
      if (!shown) titles.push_back(table_.columns[i].title);
    }
    return fmt::format("not shown in {} columns: {}", limit_, join(titles, ", "));
  }

  /// Holds a reason that does not fit its row, once for all rows that have it.
  struct LongReason {
    std::string reason;
    std::string point;  ///< The cells of the first row.
    std::size_t rows = 0;
  };

  const Table& table_;
  const TerminalStyle& style_;
  std::size_t limit_;
  TableLayout layout_;
  std::string text_;
  std::vector<LongReason> long_reasons_;
};

}  // namespace

std::string terminal_table(const Table& table, const TerminalStyle& style) {
  if (style.ascii) return Printer(with_ascii_marks_only(table), style).print();
  return Printer(table, style).print();
}

}  // namespace howard::reports
