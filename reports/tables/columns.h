// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "reports/tables/table.h"

namespace howard::reports {

// Each of these functions adds a column with a cell for each row; the first one makes the rows. A
// later column is left out if no row has a value.

/// Adds words; an empty one counts as none. They are aligned and make room as `column` says.
void add_words(Table& table, TableColumn column, const std::vector<std::string>& words);
void add_words(Table& table, std::string title, const std::vector<std::string>& words);

/// Adds numbers of things, written in full.
void add_counts(Table& table, std::string title,
                const std::vector<std::optional<std::uint64_t>>& counts);

/// Adds quantities of an SI `unit` (as fit_scale takes it), with one prefix for all.
void add_quantities(Table& table, std::string title, std::string_view unit,
                    const std::vector<std::optional<double>>& values);

}  // namespace howard::reports
