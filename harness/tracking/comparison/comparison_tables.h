// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "harness/tracking/comparison/comparison.h"
#include "reports/tables/table.h"

namespace howard::tracking {

/// Returns a table for each of these that has something to show: exact times that moved, with what
/// explains them; sampled metrics, all of them; rows that only one side has; rows that failed. The
/// worst comes first.
std::vector<reports::Table> comparison_tables(const Comparison& comparison);

/// Returns what was compared and found in sentences, one a line: counts of verdicts by kind, what
/// the comparison could have seen, and constants that moved.
std::vector<std::string> comparison_lines(const Comparison& comparison);

/// Returns what is to be said of one row: "slower: 78.2 us -> 81.0 us (+3.6 %), matmul +2.8 us".
std::string row_words(const JudgedRow& row);

/// Returns "BENCHMARK", with the metric behind it if that is not the time.
std::string row_name(const Series& series);

}  // namespace howard::tracking
