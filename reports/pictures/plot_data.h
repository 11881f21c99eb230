// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "harness/presentation.h"
#include "harness/result.h"
#include "reports/pictures/palette.h"
#include "reports/tables/format.h"

namespace howard::reports {

struct PlotPoint {
  double x = 0;  ///< Positive and in SI units, as is `y`.
  double y = 0;
  std::optional<std::array<double, 2>> interval;  ///< The 95 % interval of y.
  std::optional<double> published;                ///< The published figure; positive.
  /// In a comparison, true if the published figure does not measure what it says.
  bool artefact = false;
};

struct PlotSeries {
  std::string title;              ///< "emulated, worker", "host".
  std::vector<PlotPoint> points;  ///< Sorted by x; never empty.
  /// No two series have the same colour and dashes, up to kMostStyles of them.
  std::size_t color = 0;
  std::size_t dashes = 0;
  std::size_t symbol = 0;  ///< Of its marks; as the dashes, where several lines have one colour.
  /// The number of following series that cover this one, which would hide it.
  std::size_t covered = 0;

  bool has_intervals() const;
  bool has_open_symbols() const;
};

constexpr std::size_t kMostStyles = kLineColors * kLineDashes;

/// Holds the points of a plot, sorted into its lines.
struct PlotData {
  std::string title;
  std::vector<PlotSeries> series;
  std::string x_unit;  ///< The unit of times, bytes and work; "" for sizes and counts.
  Scale y_scale;
};

PlotData collect_plot_data(const harness::ExperimentResult& result, const harness::Plot& plot);

}  // namespace howard::reports
