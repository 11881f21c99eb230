// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "reports/tables/table.h"

namespace howard::reports {

/// This separates two columns.
inline constexpr std::string_view kColumnGap = "  ";

/// Says which columns of a table are shown, and how wide.
struct TableLayout {
  std::vector<std::size_t> columns;  ///< Rising indices into the table's columns.
  std::vector<std::size_t> widths;   ///< The widths of these columns.
};

/// Returns how a column makes room. The first one is at least a key, because it tells the rows
/// apart.
harness::Room room_of(const Table& table, std::size_t column);

/// Returns the layout with which a table takes at most `limit` cells, as far as that is possible;
/// see `terminal_table`.
TableLayout lay_out(const Table& table, std::size_t limit);

}  // namespace howard::reports
