// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "harness/result.h"
#include "reports/pictures/xy_chart.h"

namespace howard::reports {

/// Returns how far each run of each measured point was from the point's median: how runs are
/// spread, which an interval alone hides. Absent if no point was run three times, and for more
/// points than can be told apart. Training has a chart of its steps instead.
std::optional<XyChart> sample_chart(const harness::ExperimentResult& result);

}  // namespace howard::reports
