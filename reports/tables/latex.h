// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "reports/tables/table.h"

namespace howard::reports {

/// The table as a LaTeX float in the style of booktabs: caption, tabular, notes below it. Needs
/// \usepackage{booktabs} and, as all UTF-8 text, a LaTeX of 2018 or later. A point without metrics
/// has its reason in the cells it leaves free at the end of its row.
std::string latex_table(const Table& table);

}  // namespace howard::reports
