// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "harness/result.h"

namespace howard::reports {

/// Nobody reads a table of more rows.
inline constexpr std::size_t kMostRows = 60;

/// Holds the points that a table shows, and what it has to say if these are not all.
struct RowSample {
  std::vector<const harness::PointResult*> points;
  std::string note;
};

/// Returns all of up to kMostRows points. If there are more, the fastest one for each combination
/// of the axes that are not `swept` comes first (the fastest of all points if nothing is swept).
/// Below them, in their order, come every point with a published figure (if nothing is swept), some
/// that failed, and as many of the others as fit, spread evenly.
RowSample sample_rows(const std::vector<const harness::PointResult*>& points,
                      const std::vector<std::string>& swept);

}  // namespace howard::reports
