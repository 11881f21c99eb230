// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "reports/pictures/picture.h"

namespace howard::reports {

/// Holds marks of one kind, in the units of the picture.
struct ScatterSeries {
  std::string title;
  std::vector<std::pair<double, double>> points;  ///< (x, y), y positive.
  std::string style;  ///< gnuplot's: "pt 7 ps 0.8" and a colour (gnuplot_color).
};

/// Holds marks on a linear horizontal and a logarithmic vertical axis.
struct ScatterPicture {
  std::string name;  ///< The name of the files.
  std::string title;
  std::string x_label, y_label;       ///< Labels with their units.
  std::vector<ScatterSeries> series;  ///< The first is at the back; empty ones are left out.
};

/// Draws the picture on `canvas` (picture.h says which files that is). Draws nothing without a
/// point.
PlotFiles write_scatter(const ScatterPicture& picture, const Canvas& canvas);

}  // namespace howard::reports
