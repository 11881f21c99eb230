// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "reports/tables/table.h"

namespace howard::reports {

/// Returns `text` as HTML and SVG show it, between tags and between double quotes: whatever a user
/// named a thing, it stays text. Control characters become spaces.
std::string html_text(std::string_view text);

/// Returns `text` as a word that may stand in an address or in an `id`: letters, digits, "_" and
/// "-".
std::string html_word(std::string_view text);

/// Returns the table with its caption, a head for each column, and its notes as a list below. Cells
/// carry their tone as a class; a row that was skipped says why in the cells that it leaves free.
std::string html_table(const Table& table);

}  // namespace howard::reports
