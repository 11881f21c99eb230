// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "reports/tables/table.h"

namespace howard::reports {

struct TerminalStyle {
  std::optional<int> width;  ///< Columns of the terminal; absent if there is no limit.
  bool color = false;        ///< Uses ANSI colours for errors by size and for failed points.
  bool ascii = false;        ///< Uses no mark outside of ASCII.
};

/// Returns the table in aligned columns under its caption, with a rule below the header and its
/// notes at the end. If it is too wide, it is made narrower in this order: titles are wrapped, the
/// texts of spare columns are cut to a third, those of key columns are wrapped, spare columns are
/// left out from the right (a line below the table says so), and at last what is to stay whole is
/// wrapped. A point without metrics shows its reason instead.
std::string terminal_table(const Table& table, const TerminalStyle& style);

}  // namespace howard::reports
