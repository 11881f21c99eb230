// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "reports/table.h"

namespace howard::reports {

/// Adds a column of words, one for each row; the first column makes the rows.
void add_words(Table& table, std::string title, const std::vector<std::string>& words);

/// Adds a column of numbers of things, written in full. Left out when no row has one.
void add_counts(Table& table, std::string title,
                const std::vector<std::optional<std::uint64_t>>& counts);

/// Adds a column of quantities of an SI `unit` (as fit_scale takes it), with one prefix for all.
/// Left out when no row has a value.
void add_quantities(Table& table, std::string title, std::string_view unit,
                    const std::vector<std::optional<double>>& values);

}  // namespace howard::reports
