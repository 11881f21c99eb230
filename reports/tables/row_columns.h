// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/sim_time.h"
#include "base/units.h"
#include "reports/tables/columns.h"

namespace howard::reports {

/// Adds columns to a table whose rows are those of a range, which must outlive it. `get`, a member
/// or a function of a row, says what a cell holds: a text, a number, a time, a size, or an
/// std::optional of one of them.
template <class Rows>
class RowColumns {
 public:
  RowColumns(Table& table, const Rows& rows) : table_(table), rows_(rows) {}

  template <class Get>
  void words(TableColumn column, const Get& get) const {
    add_words(table_, std::move(column), collected<std::string>(get));
  }
  template <class Get>
  void words(std::string title, const Get& get) const {
    words(TableColumn{.title = std::move(title)}, get);
  }
  /// Adds words that name the rows: they are the last to lose room.
  template <class Get>
  void keys(std::string title, const Get& get) const {
    words(TableColumn{.title = std::move(title), .room = harness::Room::key}, get);
  }
  template <class Get>
  void counts(std::string title, const Get& get) const {
    add_counts(table_, std::move(title), collected<std::optional<std::uint64_t>>(get));
  }
  template <class Get>
  void quantities(std::string title, std::string_view unit, const Get& get) const {
    add_quantities(table_, std::move(title), unit, collected<std::optional<double>>(get));
  }

 private:
  template <class Cell, class Get>
  std::vector<Cell> collected(const Get& get) const {
    return each(rows_, [&](const auto& row) -> Cell { return cell(std::invoke(get, row)); });
  }
  template <class Value>
  static Value cell(Value value) {
    return value;
  }
  static std::string cell(std::string_view word) { return std::string(word); }
  static std::string cell(const char* word) { return word; }
  static double cell(SimTime time) { return time.seconds(); }
  static double cell(Bytes size) { return static_cast<double>(size.value()); }
  static std::optional<double> cell(const std::optional<SimTime>& time) {
    return time ? std::optional(time->seconds()) : std::nullopt;
  }

  Table& table_;
  const Rows& rows_;
};

}  // namespace howard::reports
