// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "harness/presentation.h"
#include "reports/pictures/picture.h"
#include "reports/pictures/plot_data.h"

namespace howard::reports {

/// Holds an axis of a chart, in the units that are drawn. The pictures and the page have the same
/// ones.
struct PlotAxis {
  bool logarithmic = false;  ///< `low` is positive then.
  double low = 0;
  double high = 1;                  ///< More than `low`.
  std::vector<double> marks;        ///< Values from `low` to `high`.
  std::vector<std::string> labels;  ///< The text at each mark.

  /// Returns where a value lies: 0 at `low`, 1 at `high`.
  double place(double value) const;
};

struct PlotAxes {
  PlotAxis x, y;
};

/// Returns the axes of a plot with at least one point, in a picture of `size`. Both are
/// logarithmic, but that of shares in % is linear, from 0. Marks at sizes, counts and bytes are
/// those of the data; others are round. No two labels touch. Those of a comparison are equal.
PlotAxes plot_axes(const PlotData& data, const harness::Plot& plot, const PictureSize& size);

/// Returns `axis` with fewer marks if their labels would touch on `room` pixels, beside each other
/// or above each other.
PlotAxis thinned(PlotAxis axis, double room);
PlotAxis thinned_upwards(PlotAxis axis, double room);

/// Returns the width of the widest label, in pixels.
double label_width(const PlotAxis& axis);

/// Returns an axis with round marks whose labels do not touch in `room` pixels: linear from `low`
/// to `high`, or from a little less to a little more if they are equal.
PlotAxis linear_axis(double low, double high, double room);
PlotAxis linear_axis_upwards(double low, double high, double room);
/// As linear_axis(), with marks at whole numbers alone, such as those of steps.
PlotAxis whole_axis(double low, double high, double room);

/// Returns an axis for some values, with round marks whose labels do not touch in `room` pixels:
/// logarithmic if they are positive and span more than three doublings.
PlotAxis fitted_axis(const std::vector<double>& values, double room);
PlotAxis fitted_axis_upwards(const std::vector<double>& values, double room);

/// Returns a logarithmic axis that begins and ends at a round mark and has about `most` of them.
PlotAxis log_axis(double low, double high, std::size_t most);

}  // namespace howard::reports
