// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/sim_time.h"
#include "reports/tables/table.h"

namespace howard::reports {

// Each of these functions adds a column with a cell for each row; the first one makes the rows
// unless the table has them. A later column is left out if no row has a value.

void add_column(Table& table, TableColumn column, std::vector<Cell> cells);

/// Adds words; an empty one counts as none. They are aligned and make room as `column` says.
void add_words(Table& table, TableColumn column, const std::vector<std::string>& words);
void add_words(Table& table, std::string title, const std::vector<std::string>& words);

/// Makes the columns of these titles keys: the answer, which is never left out.
void make_keys(Table& table, std::initializer_list<std::string_view> titles);

/// Adds numbers of things, written in full.
void add_counts(Table& table, std::string title,
                const std::vector<std::optional<std::uint64_t>>& counts);

/// Adds quantities of an SI `unit` (as fit_scale takes it), with one prefix for all.
void add_quantities(Table& table, std::string title, std::string_view unit,
                    const std::vector<std::optional<double>>& values);

/// Adds several columns of quantities that are compared: one prefix for all of them.
struct QuantityColumn {
  std::string title;
  std::vector<std::optional<double>> values;
};
void add_compared(Table& table, std::string_view unit, const std::vector<QuantityColumn>& columns);

/// Adds times, with one prefix for all.
void add_times(Table& table, std::string title, const std::vector<SimTime>& times);

/// Returns what `get`, a member or a function, says of each row.
template <class Rows, class Get>
auto each(const Rows& rows, const Get& get) {
  std::vector<std::decay_t<decltype(std::invoke(get, *std::begin(rows)))>> values;
  for (const auto& row : rows) values.push_back(std::invoke(get, row));
  return values;
}

}  // namespace howard::reports
