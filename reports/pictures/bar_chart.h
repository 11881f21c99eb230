// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "harness/presentation.h"
#include "harness/result.h"
#include "reports/pictures/picture.h"

namespace howard::reports {

/// Draws the chart of one backend's points on `canvas` as a picture called `name` (picture.h says
/// which files that is). Each point is a bar with its parts in colours, the largest kinds first; a
/// published figure is an open symbol. It draws nothing if there is no point, or if there are more
/// than 40, whose names would cover each other.
PlotFiles write_bar_chart(const harness::ExperimentResult& result, harness::Backend backend,
                          const harness::BarChart& chart, const std::string& name,
                          const Canvas& canvas);

}  // namespace howard::reports
