// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "reports/tables/table.h"

namespace howard::reports {

/// The table as GitHub-flavoured Markdown: caption in bold, table, notes as a list. A point without
/// metrics has its reason in the first cell it leaves free.
std::string markdown_table(const Table& table);

}  // namespace howard::reports
