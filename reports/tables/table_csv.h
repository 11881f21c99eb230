// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "reports/tables/table.h"

namespace howard::reports {

/// Returns the table as CSV (RFC 4180, with LF): a line of titles with their units, then a line for
/// each row, with the numbers as the table shows them. A point without metrics has its reason in
/// the first cell that it leaves free. Caption and notes are left out.
std::string table_csv(const Table& table);

}  // namespace howard::reports
