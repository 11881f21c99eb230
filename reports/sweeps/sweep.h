// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/result.h"

namespace howard::reports {

/// These functions give code that shows a sweep over values of constants (`Presentation::swept`)
/// its points in order.

/// Holds "12.5GB/s" as 12.5 and "GB/s".
struct SweptValue {
  double number = 0;
  std::string_view unit;
};
/// Returns the value that `text` begins with; absent if it does not begin with a number.
std::optional<SweptValue> swept_value(std::string_view text);

using SweepPoints = std::vector<const harness::PointResult*>;

/// Holds emulated points that differ in nothing but the swept constants.
struct SweepGroup {
  std::vector<std::string> values;  ///< Its values on the axes of SweepGroups.
  std::string name;    ///< "256x256x256, eth", "batch 32"; empty if it is the only one.
  SweepPoints points;  ///< They are in the result's order; never empty.
};

struct SweepGroups {
  std::vector<std::string> axes;  ///< The axes by which the groups differ.
  std::vector<SweepGroup> groups;
};

/// Returns the points that have a positive `metric`, grouped, in the order of their first points.
SweepGroups group_sweep(const harness::ExperimentResult& result,
                        const std::vector<std::string>& swept, std::string_view metric);

/// Holds a point of a series, in which only one constant differs and its values rise.
struct SeriesPoint {
  double value = 0;
  const harness::PointResult* point = nullptr;
};
using SweepSeries = std::vector<SeriesPoint>;

/// Returns the points of a group along `constant`.
std::vector<SweepSeries> series_along(const SweepGroup& group,
                                      const std::vector<std::string>& swept,
                                      const std::string& constant);

/// Says what a picture of a sweep shows.
struct SweepMetric {
  std::string name;
  std::string label;  ///< "throughput"
  std::string title;  ///< "matmul_sweep, emulated: throughput"
};

/// Returns at most `most` of the groups, spread evenly over all.
std::vector<const SweepGroup*> some_of(const SweepGroups& groups, std::size_t most);
/// Returns " (12 of 40 lines)"; empty if all are shown.
std::string count_text(const SweepGroups& groups, std::size_t shown, std::string_view what);

/// Return the first point with the best value of a metric, and the first with the worst.
const harness::PointResult& best_of(const SweepPoints& points, std::string_view metric);
const harness::PointResult& worst_of(const SweepPoints& points, std::string_view metric);

}  // namespace howard::reports
