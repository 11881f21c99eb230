// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "harness/result.h"

namespace howard::reports {

/// Holds what a chart with few axes shows of a result.
struct ChartPoints {
  std::vector<const harness::PointResult*> points;  ///< They are in the result's order.
  /// The values that all points have on the axes for which the chart has no room, if the result has
  /// others too: "dispatch worker, dim 384".
  std::string held;
};

/// Returns the points of `backend` whose `metric` is positive and which have the first one's values
/// on all axes but `free`.
ChartPoints chart_points(const harness::ExperimentResult& result, harness::Backend backend,
                         std::string_view metric, const std::vector<std::string>& free);

/// Returns a value that says to which axis it belongs: "dim 256", "traced", "not traced", but
/// "worker".
std::string words_of(const std::string& axis, std::string_view value);

}  // namespace howard::reports
