// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "harness/result.h"

namespace howard::reports {

/// A table of more rows is no longer read.
inline constexpr std::size_t kMostRows = 60;

/// The points that a table shows, and what it has to say if these are not all.
struct RowSample {
  std::vector<const harness::PointResult*> points;
  std::string note;
};

/// All of up to kMostRows points. Of more: at the top the fastest one for each combination of the
/// axes that are not `swept` (of all points where nothing is swept); below them, in their order,
/// every point with a published figure (where nothing is swept), some that failed, and as many of
/// the others as fit, spread evenly.
RowSample sample_rows(const std::vector<const harness::PointResult*>& points,
                      const std::vector<std::string>& swept);

}  // namespace howard::reports
