// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "harness/tracking/comparison/comparison.h"
#include "harness/tracking/series_history.h"
#include "reports/page/document.h"

namespace howard::tracking {

/// Returns what a reader must know first of a comparison, a sentence for each verdict that calls
/// for something: how many rows have it, and which one is worst. There is always a sentence.
std::vector<std::string> comparison_findings(const Comparison& comparison);

/// Returns the part of a page that says what has changed: counts, what could have been seen,
/// constants that moved, warnings, and the tables of comparison_tables().
reports::PagePart changes_part(const Comparison& comparison);

/// Returns the part of a page with the history of some series: a table of all, and charts of those
/// that changed last, with their levels. `now` are the values of the page's own results, which are
/// the last marks.
reports::PagePart history_part(const std::vector<SeriesHistory>& all, const Run& now);

}  // namespace howard::tracking
