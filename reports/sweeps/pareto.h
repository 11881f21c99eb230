// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harness/presentation.h"
#include "reports/sweeps/sweep.h"

namespace howard::reports {

/// What can be had for a longer time.
struct ParetoFronts {
  std::string metric;
  std::string title;                ///< Of its column.
  std::vector<SweepPoints> fronts;  ///< Of each group, the fastest point first.
};

/// The points of a group than which none is better in the time or the metric and as good in the
/// other, for the first metric of the presentation's columns of which a group has two such points.
/// Absent when there is none: then the fastest point is the best in all of them.
std::optional<ParetoFronts> pareto_fronts(const SweepGroups& groups,
                                          const harness::Presentation& presentation);

}  // namespace howard::reports
