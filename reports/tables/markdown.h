// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "reports/tables/table.h"

namespace howard::reports {

/// Returns the table as GitHub-flavoured Markdown: the caption in bold, the table, and the notes as
/// a list. A point without metrics has its reason in the first cell that it leaves free.
std::string markdown_table(const Table& table);

}  // namespace howard::reports
