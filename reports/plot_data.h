// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "harness/presentation.h"
#include "harness/result.h"
#include "reports/format.h"

namespace howard::reports {

struct PlotPoint {
  double x = 0;  ///< Positive, in SI units, as is `y`.
  double y = 0;
  std::optional<std::array<double, 2>> interval;  ///< 95 %, of y.
  std::optional<double> published;                ///< Positive.
};

struct PlotSeries {
  std::string title;              ///< "emulated, worker", "host".
  std::vector<PlotPoint> points;  ///< By x; never empty.

  bool has_intervals() const;
  bool has_published() const;
};

/// The points of a plot, sorted into its lines.
struct PlotData {
  std::vector<PlotSeries> series;
  Scale x_scale;  ///< Of the labels of times, amounts of bytes and of work; else none.
  Scale y_scale;
};

PlotData collect_plot_data(const harness::ExperimentResult& result, const harness::Plot& plot);

}  // namespace howard::reports
