// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "reports/tables/table.h"

namespace howard::reports {

struct TerminalStyle {
  std::optional<int> width;  ///< Columns of the terminal; absent: no limit.
  bool color = false;        ///< ANSI colours: errors by size, failed points.
  bool ascii = false;        ///< No mark outside of ASCII.
};

/// The table in aligned columns under its caption, a rule below the header, its notes at the end.
/// When it is too wide, in this order: titles are wrapped, the texts of spare columns cut, those of
/// key columns wrapped, spare columns left out from the right, which a line below the table says,
/// and at last what is to stay whole is wrapped. A point without metrics shows its reason instead.
std::string terminal_table(const Table& table, const TerminalStyle& style);

}  // namespace howard::reports
