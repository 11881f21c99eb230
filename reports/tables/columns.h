// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "reports/tables/table.h"

namespace howard::reports {

// Each adds a column with a cell for each row; the first one makes the rows. A later column is left
// out when no row has a value.

/// Words; an empty one is none. They are aligned and make room as `column` says.
void add_words(Table& table, TableColumn column, const std::vector<std::string>& words);
void add_words(Table& table, std::string title, const std::vector<std::string>& words);

/// Numbers of things, written in full.
void add_counts(Table& table, std::string title,
                const std::vector<std::optional<std::uint64_t>>& counts);

/// Quantities of an SI `unit` (as fit_scale takes it), with one prefix for all.
void add_quantities(Table& table, std::string title, std::string_view unit,
                    const std::vector<std::optional<double>>& values);

}  // namespace howard::reports
