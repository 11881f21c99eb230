// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "reports/table.h"

namespace howard::reports {

struct TerminalStyle {
  std::optional<int> width;  ///< Columns of the terminal; absent: no limit.
  bool color = false;        ///< ANSI colours: errors by size, failed points.
};

/// The table in aligned columns under its caption, a rule below the header, its notes at the end.
/// When it is too wide, first its widest text column is shortened, then columns are left out from
/// the right, which a line below the table says. A point without metrics shows its reason instead.
std::string terminal_table(const Table& table, const TerminalStyle& style);

}  // namespace howard::reports
