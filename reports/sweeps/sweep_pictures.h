// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "harness/presentation.h"
#include "harness/result.h"
#include "reports/pictures/map_chart.h"
#include "reports/pictures/picture.h"
#include "reports/pictures/xy_chart.h"

namespace howard::reports {

/// Draws the emulated points of a sweep of constants: a picture, with the name that `next_name`
/// gives, for each metric that the presentation's own pictures show. With one swept constant, its
/// values are the horizontal axis, and each combination of the other axes is a line, with a circle
/// where the bound changes. With more of them, the first two are the axes of a heat map, with a
/// panel for each combination of the others. Its colours say how far a point is from the panel's
/// best, which is marked. If there are more than a legend or a picture has room for, some are
/// drawn, and the title says so.
PlotFiles write_sweep_pictures(const harness::ExperimentResult& result,
                               const harness::Presentation& presentation,
                               const std::function<std::string()>& next_name, const Canvas& canvas);

/// Holds what write_sweep_pictures() draws, for a page.
struct SweepCharts {
  std::vector<XyChart> lines;
  std::vector<MapChart> maps;
};
SweepCharts sweep_charts(const harness::ExperimentResult& result,
                         const harness::Presentation& presentation);

}  // namespace howard::reports
