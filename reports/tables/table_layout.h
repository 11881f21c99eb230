// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "reports/tables/table.h"

namespace howard::reports {

/// What stands between two columns.
inline constexpr std::string_view kColumnGap = "  ";

/// Which columns of a table are shown, and how wide.
struct TableLayout {
  std::vector<std::size_t> columns;  ///< Indices into the table's, rising.
  std::vector<std::size_t> widths;   ///< Of those.
};

/// How a column makes room. The first one is a key at least: it tells the rows apart.
harness::Room room_of(const Table& table, std::size_t column);

/// The layout with which a table takes at most `limit` cells, as far as that is possible: see
/// `terminal_table`.
TableLayout lay_out(const Table& table, std::size_t limit);

}  // namespace howard::reports
