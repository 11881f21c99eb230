// SPDX-License-Identifier: Apache-2.0
#include "reports/terminal_table.h"

#include <fmt/format.h>
#include <algorithm>
#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "reports/cell_text.h"

namespace howard::reports {
namespace {

constexpr std::string_view kGap = "  ";
/// Text columns are not cut below this: the longest name of a shape stays whole.
constexpr std::size_t kShortestText = 16;

/// The width of each column that is shown; the others are left out.
using Widths = std::vector<std::size_t>;

Widths natural_widths(const Table& table) {
  Widths widths;
  for (const TableColumn& column : table.columns) {
    widths.push_back(std::max(display_width(column.title), display_width(column.unit)));
  }
  for (const TableRow& row : table.rows) {
    for (std::size_t i = 0; i < row.cells.size(); ++i) {
      widths[i] = std::max(widths[i], display_width(row.cells[i].text));
    }
  }
  return widths;
}

std::size_t total(const Widths& widths) {
  std::size_t sum = 0;
  for (const std::size_t width : widths) sum += width + kGap.size();
  return sum - std::min(sum, kGap.size());
}

/// Takes what is too much from the widest text columns; as much as they can give.
void shorten(Widths& widths, const std::vector<TableColumn>& columns, std::size_t limit) {
  while (total(widths) > limit) {
    std::size_t* widest = nullptr;
    for (std::size_t i = 0; i < widths.size(); ++i) {
      const std::size_t least = std::max(kShortestText, display_width(columns[i].title));
      if (columns[i].number || widths[i] <= least) continue;
      if (widest == nullptr || widths[i] > *widest) widest = &widths[i];
    }
    if (widest == nullptr) return;
    --*widest;
  }
}

Widths fit(const Table& table, std::size_t limit) {
  Widths natural = natural_widths(table);
  while (true) {
    Widths widths = natural;
    shorten(widths, table.columns, limit);
    if (total(widths) <= limit || widths.size() <= 1) return widths;
    natural.pop_back();
  }
}

std::string colored(const std::string& text, Tone tone, bool color) {
  if (!color || tone == Tone::plain) return text;
  const std::string_view code = tone == Tone::good ? "32" : tone == Tone::fair ? "33" : "31";
  return fmt::format("\x1b[{}m{}\x1b[0m", code, text);
}

class Printer {
 public:
  Printer(const Table& table, const TerminalStyle& style)
      : table_(table),
        style_(style),
        limit_(style.width ? static_cast<std::size_t>(std::max(*style.width, 1))
                           : std::string::npos),
        widths_(fit(table, limit_)) {}

  std::string print() {
    text_ = wrapped(printable(table_.caption), limit_) + "\n\n";
    print_header();
    for (const TableRow& row : table_.rows) print_row(row);
    print_notes();
    return std::move(text_);
  }

 private:
  void end_line() {
    text_.erase(text_.find_last_not_of(' ') + 1);
    text_ += '\n';
  }

  std::string laid_out(std::string_view text, std::size_t column) const {
    return padded(shortened(text, widths_[column]), widths_[column], table_.columns[column].number);
  }

  void print_header() {
    print_header_line(&TableColumn::title);
    const std::span shown(table_.columns.data(), widths_.size());
    if (std::ranges::any_of(shown, [](const auto& column) { return !column.unit.empty(); })) {
      print_header_line(&TableColumn::unit);
    }
    for (std::size_t i = 0; i < widths_.size(); ++i) {
      if (i > 0) text_ += kGap;
      text_.append(widths_[i], '-');
    }
    text_ += '\n';
  }

  /// Units stand below the titles: beside them they would make most columns wider than their cells.
  void print_header_line(std::string TableColumn::*text) {
    for (std::size_t i = 0; i < widths_.size(); ++i) {
      if (i > 0) text_ += kGap;
      text_ += laid_out(table_.columns[i].*text, i);
    }
    end_line();
  }

  void print_row(const TableRow& row) {
    std::size_t used = 0;
    for (std::size_t i = 0; i < widths_.size(); ++i) {
      const bool reason_next =
          !row.skipped.empty() &&
          std::all_of(row.cells.begin() + static_cast<std::ptrdiff_t>(i), row.cells.end(),
                      [](const Cell& cell) { return cell.text.empty(); });
      if (reason_next) break;
      text_ += colored(laid_out(printable(row.cells[i].text), i), row.cells[i].tone, style_.color);
      text_ += kGap;
      used += widths_[i] + kGap.size();
    }
    if (!row.skipped.empty()) print_reason(row, used);
    end_line();
  }

  /// In the place of the cells the point does not have; whole among the notes if it does not fit.
  void print_reason(const TableRow& row, std::size_t used) {
    const std::string reason = printable(row.skipped);
    const std::size_t room = limit_ - std::min(used, limit_);
    const std::string shown = shortened(reason, room);
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
    std::vector<std::string> notes;
    if (widths_.size() < table_.columns.size()) notes.push_back(dropped_columns());
    for (const auto& [reason, point, rows] : long_reasons_) {
      notes.push_back(rows == 1 ? point + reason : fmt::format("{} rows {}", rows, reason));
    }
    notes.insert(notes.end(), table_.notes.begin(), table_.notes.end());
    if (!notes.empty()) text_ += '\n';
    for (const std::string& note : notes) text_ += wrapped(printable(note), limit_) + "\n";
  }

  std::string dropped_columns() const {
    std::vector<std::string> titles;
    for (std::size_t i = widths_.size(); i < table_.columns.size(); ++i) {
      titles.push_back(table_.columns[i].title);
    }
    return fmt::format("not shown in {} columns: {}", limit_, join(titles, ", "));
  }

  /// A reason that does not fit its row, once for all rows that have it.
  struct LongReason {
    std::string reason;
    std::string point;  ///< The first row's cells.
    std::size_t rows = 0;
  };

  const Table& table_;
  const TerminalStyle& style_;
  std::size_t limit_;
  Widths widths_;
  std::string text_;
  std::vector<LongReason> long_reasons_;
};

}  // namespace

std::string terminal_table(const Table& table, const TerminalStyle& style) {
  return Printer(table, style).print();
}

}  // namespace howard::reports
