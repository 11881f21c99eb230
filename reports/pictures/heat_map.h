// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "harness/presentation.h"
#include "harness/result.h"
#include "reports/pictures/picture.h"

namespace howard::reports {

/// Draws the map of one backend's points on `canvas` as a picture called `name` (picture.h says
/// which files that is). Each pair of values is a cell with its number. Cells without a point stay
/// white. It draws nothing if all points are in one row or column, or if an axis has more than 24
/// values.
PlotFiles write_heat_map(const harness::ExperimentResult& result, harness::Backend backend,
                         const harness::HeatMap& map, const std::string& name,
                         const Canvas& canvas);

}  // namespace howard::reports
