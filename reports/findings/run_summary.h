// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <vector>

#include "harness/result.h"
#include "reports/tables/table.h"

namespace howard::reports {

/// How an experiment did against what was published.
struct ExperimentSummary {
  std::string experiment;
  std::size_t points = 0;
  std::size_t failed = 0;
  std::size_t published = 0;    ///< Points beside a published figure, artefacts among them.
  std::size_t reproduced = 0;   ///< Within 10 %; artefacts are not counted.
  std::size_t predictions = 0;  ///< Of those compared, what no constant was fitted to.
  std::size_t artefacts = 0;
  std::size_t compared = 0;  ///< Published figures with a measured one, without artefacts.
  double error_sum = 0;      ///< |error| of those.
};

ExperimentSummary summarise(const harness::ExperimentResult& result);

/// A row for each experiment and one for all. `seconds`: how long each took; empty: not known.
Table summary_table(std::span<const harness::ExperimentResult> results,
                    const std::vector<double>& seconds);

}  // namespace howard::reports
