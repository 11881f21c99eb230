// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "reports/pictures/picture.h"
#include "reports/pictures/plot_axes.h"

namespace howard::reports {

/// Holds a mark of a chart, in the units of its axes.
struct ChartMark {
  double x = 0;
  double y = 0;
  std::string hint = {};  ///< The page says it when the pointer rests on the mark.
};

/// Holds marks that belong together.
struct ChartSeries {
  std::string title;  ///< If it is empty, the series is not in the legend.
  std::size_t color = 0;
  std::size_t dashes = 0;
  bool line = true;                  ///< A line joins the marks.
  bool steps = false;                ///< It stays level until the next mark.
  bool dots = true;                  ///< Each mark has a dot.
  std::vector<ChartMark> marks;      ///< They are sorted by x if a line joins them.
  std::vector<ChartMark> open = {};  ///< Marks with an open symbol, which no line joins.
};

/// Holds marks over two axes. gnuplot and the page draw the same ones.
struct XyChart {
  std::string name;  ///< The name of the files.
  std::string title;
  PlotAxis x, y;
  std::string x_label, y_label;     ///< Labels with their units.
  std::vector<ChartSeries> series;  ///< The first is at the back.
  bool compares = false;  ///< The axes are equal: there is a line of equality with its band.
  std::string open_title = "published";  ///< The legend's word for open symbols.
};

/// Draws the chart on `canvas` (picture.h says which files that is). Draws nothing without a mark.
PlotFiles write_xy_chart(const XyChart& chart, const Canvas& canvas);

/// Returns the range and the marks of `axis`, called "x", "y" or "y2", and "set logscale x" if it
/// is logarithmic.
std::string gnuplot_axis(std::string_view name, const PlotAxis& axis);

/// Returns gnuplot_axis() of both, without labels that would touch in `picture`, whose texts are
/// known, and keeps space in it for the labels.
std::string gnuplot_axes(const PlotAxis& x, const PlotAxis& y, Picture& picture);

}  // namespace howard::reports
