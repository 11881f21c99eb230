// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "reports/pictures/map_chart.h"
#include "reports/pictures/picture.h"
#include "reports/sweeps/sweep.h"

namespace howard::reports {

/// Draws a metric over the values of two constants, the first of `axes` from left to right and the
/// second upwards. Each group is a panel, whose colours say how many times worse a point is than
/// the best of the panel.
PlotFiles write_sweep_map(const SweepGroups& groups, const std::vector<std::string>& axes,
                          const SweepMetric& metric, const std::string& name, const Canvas& canvas);

/// Returns the panels of that picture as maps, for a page.
std::vector<MapChart> sweep_maps(const SweepGroups& groups, const std::vector<std::string>& axes,
                                 const SweepMetric& metric);

}  // namespace howard::reports
