// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "reports/tables/table.h"

namespace howard::reports {

/// Returns the table as a LaTeX float in the style of booktabs: caption, tabular, and notes below
/// it. It needs \usepackage{booktabs} and, as all UTF-8 text, a LaTeX of 2018 or later. A point
/// without metrics has its reason in the cells that it leaves free at the end of its row.
std::string latex_table(const Table& table);

}  // namespace howard::reports
