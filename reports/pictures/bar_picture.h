// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "reports/pictures/picture.h"

namespace howard::reports {

/// What bars have in one colour.
struct BarPart {
  std::string title;  ///< Of the legend; empty: not in it.
  std::string color;  ///< "lc rgb '#cccccc'"
};

/// A row of the chart. Lengths are in the unit of the axis.
struct BarRow {
  std::string name;                ///< To its left.
  std::vector<double> ends;        ///< Where each part ends, not falling.
  std::vector<std::string> cells;  /// To its right, as in a table: one for each heading.
  std::optional<double> published;
};

/// Bars that lie below each other from zero, with a column of names at their left and a table of
/// numbers at their right, so that no text stands on a bar or beside a mark.
struct BarPicture {
  std::string name, title;
  std::string label;  ///< Of the axis, with its unit.
  std::vector<BarPart> parts;
  std::vector<std::string> headings;
  std::vector<BarRow> rows;
  /// Where bars end that are longer: these have a white break there. A few that are many times as
  /// long as the others would leave these no room.
  double longest = 0;
  std::optional<double> line;  ///< A dashed line at this length, for comparison.
};

/// Where bars of these lengths are cut; most often the largest of them.
double longest_drawn(std::vector<double> lengths);

PlotFiles write_bars(const BarPicture& bars, const Canvas& canvas);

}  // namespace howard::reports
