// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <vector>

#include "harness/result.h"
#include "reports/tables/table.h"

namespace howard::reports {

/// Compares an experiment with what was published.
struct ExperimentSummary {
  std::string experiment;
  std::size_t points = 0;
  std::size_t failed = 0;
  /// The number of points beside a published figure, including artefacts.
  std::size_t published = 0;
  std::size_t reproduced = 0;   ///< Those within 10 %, without artefacts.
  std::size_t predictions = 0;  ///< Those of `compared` to which no constant was fitted.
  std::size_t artefacts = 0;
  std::size_t compared = 0;  ///< Published figures with a measured one, without artefacts.
  double error_sum = 0;      ///< The sum of |error| over these.
};

ExperimentSummary summarise(const harness::ExperimentResult& result);

/// Returns a row for each experiment and one for all. `seconds` says how long each took; it is
/// empty if that is not known.
Table summary_table(std::span<const harness::ExperimentResult> results,
                    const std::vector<double>& seconds);

}  // namespace howard::reports
