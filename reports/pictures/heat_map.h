// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "harness/presentation.h"
#include "harness/result.h"
#include "reports/pictures/map_chart.h"
#include "reports/pictures/picture.h"
#include "reports/pictures/plot_axes.h"

namespace howard::reports {

/// Draws the map of one backend's points on `canvas` as a picture called `name` (picture.h says
/// which files that is). Each pair of values is a cell with its number. Cells without a point stay
/// white. It draws nothing if all points are in one row or column, or if an axis has more than 24
/// values.
PlotFiles write_heat_map(const harness::ExperimentResult& result, harness::Backend backend,
                         const harness::HeatMap& map, const std::string& name,
                         const Canvas& canvas);

/// Draws a map likewise.
PlotFiles write_map_chart(const MapChart& chart, const std::string& name, const Canvas& canvas);

/// Returns the lines of script that draw the scale of colours at the right of a picture, whose
/// texts and margins are known.
std::string color_box(const PlotAxis& colors, const Picture& picture);

/// Returns the pixels that the scale takes at the right of the plot.
double color_box_width(const PlotAxis& colors);

}  // namespace howard::reports
