// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "reports/tables/table.h"

namespace howard::reports {

/// Returns the table as a LaTeX float in the style of booktabs: caption with a label, tabular, and
/// notes below it. A table of more rows than a page has goes on over several. Columns that a page
/// has no room for are left out, which a note says, and wide texts are broken into lines. It needs
/// \usepackage{booktabs,longtable} and, as all UTF-8 text, a LaTeX of 2018 or later. A point
/// without metrics has its reason in the cells that it leaves free at the end of its row.
std::string latex_table(const Table& table);

}  // namespace howard::reports
