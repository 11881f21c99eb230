// SPDX-License-Identifier: Apache-2.0
#include "reports/tables/table_layout.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>

#include "base/text.h"
#include "reports/tables/cell_text.h"

namespace howard::reports {
namespace {

using harness::Room;

/// Says how far columns may be narrowed, one step after the other.
enum class Step : std::uint8_t {
  titles,   ///< To what is under their titles.
  cut,      ///< Spare texts are cut.
  wrap,     ///< Keys are wrapped.
  fold,     ///< Columns that are to stay whole are wrapped.
  squeeze,  ///< Keys are wrapped to few cells.
  last,     ///< Columns that are to stay whole are wrapped to few cells too.
};

/// Says how much room a column would like to have, and how little is enough.
struct Demand {
  std::size_t natural = 0;  ///< The width with its title on one line.
  std::size_t cells = 0;    ///< The widest cell, or the unit.
  std::size_t word = 0;     ///< The longest word of the title.
};

std::vector<Demand> demands_of(const Table& table) {
  std::vector<Demand> demands;
  for (const TableColumn& column : table.columns) {
    Demand demand{.natural = display_width(column.title), .cells = display_width(column.unit)};
    for (const std::string& word : split(column.title, ' ')) {
      demand.word = std::max(demand.word, display_width(word));
    }
    demands.push_back(demand);
  }
  for (const TableRow& row : table.rows) {
    for (std::size_t i = 0; i < row.cells.size(); ++i) {
      demands[i].cells = std::max(demands[i].cells, display_width(row.cells[i].text));
    }
  }
  for (Demand& demand : demands) demand.natural = std::max(demand.natural, demand.cells);
  return demands;
}

/// Returns the fewest cells that are enough for a column.
std::size_t least_width(const Table& table, std::size_t index, const Demand& demand, Step step) {
  const TableColumn& column = table.columns[index];
  const Room room = room_of(table, index);
  constexpr std::size_t kShortestCut = 16;  // the longest name of a shape
  constexpr std::size_t kShortestWrapped = 20;
  constexpr std::size_t kNarrowest = 10;
  // Less than a third of a text says nothing: the room is of more use to others.
  const std::size_t cut = std::max(kShortestCut, demand.cells / 3);
  const std::size_t all = std::max(demand.cells, demand.word);
  const auto at_least = [&](std::size_t width) {
    return std::min(all, std::max(width, demand.word));
  };
  if (column.number || step == Step::titles) return all;
  if (room == Room::spare) return at_least(cut);
  if (step == Step::last) return at_least(kNarrowest);
  if (room == Room::whole) return step == Step::fold ? at_least(kShortestWrapped) : all;
  if (step == Step::cut) return all;
  return at_least(step == Step::squeeze ? kNarrowest : kShortestWrapped);
}

std::size_t total_width(const std::vector<std::size_t>& widths) {
  std::size_t sum = 0;
  for (const std::size_t width : widths) sum += width + kColumnGap.size();
  return sum - std::min(sum, kColumnGap.size());
}

/// Narrows the columns of a layout.
class Narrowing {
 public:
  Narrowing(const Table& table, const std::vector<Demand>& demands,
            const std::vector<std::size_t>& columns)
      : table_(table), demands_(demands), columns_(columns) {
    for (const std::size_t column : columns) widths_.push_back(demands[column].natural);
  }

  /// Takes the excess from the widest columns that can give, as far as they can.
  void narrow(Step step, std::size_t limit) {
    while (!fits(limit)) {
      std::size_t* widest = nullptr;
      for (std::size_t i = 0; i < widths_.size(); ++i) {
        const std::size_t column = columns_[i];
        if (widths_[i] <= least_width(table_, column, demands_[column], step)) continue;
        if (widest == nullptr || widths_[i] > *widest) widest = &widths_[i];
      }
      if (widest == nullptr) return;
      --*widest;
    }
  }

  bool fits(std::size_t limit) const { return total_width(widths_) <= limit; }
  const std::vector<std::size_t>& widths() const { return widths_; }

 private:
  const Table& table_;
  const std::vector<Demand>& demands_;
  const std::vector<std::size_t>& columns_;
  std::vector<std::size_t> widths_;
};

}  // namespace

Room room_of(const Table& table, std::size_t column) {
  const Room room = table.columns[column].room;
  return column == 0 && room == Room::spare ? Room::key : room;
}

TableLayout lay_out(const Table& table, std::size_t limit) {
  const std::vector<Demand> demands = demands_of(table);
  std::vector<std::size_t> columns(table.columns.size());
  for (std::size_t i = 0; i < columns.size(); ++i) columns[i] = i;
  while (true) {
    Narrowing narrowing(table, demands, columns);
    for (const Step step : {Step::titles, Step::cut, Step::wrap}) narrowing.narrow(step, limit);
    const auto spare = std::find_if(columns.rbegin(), columns.rend(), [&](std::size_t column) {
      return room_of(table, column) == Room::spare;
    });
    const bool only_keys = spare == columns.rend();
    if (only_keys) {
      // Names in few cells are hard to read: that is worth a text to copy that stays whole, and
      // nothing less.
      Narrowing squeezed = narrowing;
      squeezed.narrow(Step::squeeze, limit);
      if (squeezed.fits(limit)) return {columns, squeezed.widths()};
      for (const Step step : {Step::fold, Step::squeeze, Step::last}) {
        narrowing.narrow(step, limit);
      }
    }
    if (narrowing.fits(limit) || columns.size() <= 1) return {columns, narrowing.widths()};
    columns.erase(only_keys ? std::prev(columns.end()) : std::prev(spare.base()));
  }
}

}  // namespace howard::reports
