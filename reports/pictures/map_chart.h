// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "harness/presentation.h"
#include "harness/result.h"
#include "reports/pictures/plot_axes.h"

namespace howard::reports {

/// Holds a cell of a map.
struct MapCell {
  std::size_t column = 0;
  std::size_t row = 0;  ///< Counted from the bottom.
  double value = 0;     ///< The value in the unit of the colours.
  std::string text;     ///< The value, rounded.
};

/// Holds a value over two axes as coloured cells. Pairs without a value have no cell. gnuplot and
/// the page draw the same ones.
struct MapChart {
  std::string title;
  std::string x_label, y_label;
  std::string label;  ///< What the value is, with its unit.
  std::vector<std::string> columns, rows;
  std::vector<MapCell> cells;
  PlotAxis colors;  ///< An axis from the lightest colour's value to the darkest's.
};

/// Returns the map of one backend's points. It is absent if all points are in one row or column, or
/// if an axis has more than 24 values.
std::optional<MapChart> map_chart(const harness::ExperimentResult& result, harness::Backend backend,
                                  const harness::HeatMap& map);

}  // namespace howard::reports
