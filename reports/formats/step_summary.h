// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <vector>

#include "harness/result.h"
#include "reports/tables/table.h"

namespace howard::reports {

/// Holds what the Markdown of a GitHub step summary says.
struct StepSummary {
  std::string headline;                ///< "3 experiments, 210 points".
  std::vector<std::string> sentences;  ///< What a reader must know first.
  std::vector<Table> tables;           ///< The most important one first.
};

/// Returns a step summary of results: what failed and what is far from the published figures, the
/// `verdicts`, and then `tables`.
StepSummary summary_of_results(std::span<const harness::ExperimentResult> results,
                               const std::vector<Table>& verdicts,
                               const std::vector<Table>& tables);

/// Returns the summary as Markdown. Long tables are cut, and the last ones are left out, because
/// GitHub takes one MiB of a step; the text says what is not shown.
std::string step_summary(StepSummary summary);

}  // namespace howard::reports
