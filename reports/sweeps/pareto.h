// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harness/presentation.h"
#include "reports/sweeps/sweep.h"

namespace howard::reports {

/// Holds what a longer time can buy.
struct ParetoFronts {
  std::string metric;
  std::string title;                ///< The title of its column.
  std::vector<SweepPoints> fronts;  ///< One for each group, with the fastest point first.
};

/// Returns the points of a group for which no other is better in the time or the metric and as good
/// in the other. It takes the first metric of the presentation's columns for which a group has two
/// such points. The result is absent if there is none; the fastest point is then the best in all of
/// them.
std::optional<ParetoFronts> pareto_fronts(const SweepGroups& groups,
                                          const harness::Presentation& presentation);

}  // namespace howard::reports
