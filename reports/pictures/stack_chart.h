// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "reports/pictures/bar_picture.h"
#include "reports/pictures/picture.h"
#include "reports/pictures/plot_axes.h"

namespace howard::reports {

/// Holds columns of equal width that stand beside each other without gaps, each divided into parts:
/// shares over time. gnuplot and the page draw the same ones.
struct StackChart {
  std::string name;  ///< The name of the files.
  std::string title;
  PlotAxis x, y;                 ///< Columns begin at 0 of both.
  std::string x_label, y_label;  ///< Labels with their units.
  std::vector<BarPart> parts;
  double width = 0;                          ///< A column's, in the unit of the x axis.
  std::vector<std::vector<double>> columns;  ///< The ends of each column's parts; never falling.
};

/// Draws the chart on `canvas` (picture.h says which files that is). Draws nothing without a
/// column.
PlotFiles write_stack_chart(const StackChart& chart, const Canvas& canvas);

}  // namespace howard::reports
