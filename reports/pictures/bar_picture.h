// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "reports/pictures/picture.h"

namespace howard::reports {

/// Describes what bars have in one colour.
struct BarPart {
  std::string title;  ///< The text of the legend; empty if it is not in it.
  std::string color;  ///< "#cccccc"
};

/// Describes a row of the chart. Lengths are in the unit of the axis.
struct BarRow {
  std::string name;                ///< Shown to its left.
  std::vector<double> ends;        ///< The ends of the parts; never falling.
  std::vector<std::string> cells;  // They stand to its right as in a table, one for each heading.
  std::optional<double> published;
  bool pale = false;  ///< It is drawn in pale colours: it is no choice.
};

/// Describes bars below each other from zero, with a column of names at their left and a table of
/// numbers at their right, so that no text covers a bar or a mark. In a narrow picture names and
/// numbers stand in a line above each bar, and columns for which there is no room are left out.
struct BarPicture {
  std::string name, title;
  std::string label;  ///< The label of the axis, with its unit.
  std::vector<BarPart> parts;
  std::vector<std::string> headings;
  std::vector<BarRow> rows;
  /// Longer bars end here and have a white break there. Otherwise a few that are many times as long
  /// as the others would leave these no room.
  double longest = 0;
  std::string pale = {};       ///< Says why rows are pale: "does not fit in DRAM".
  std::optional<double> line;  ///< Draws a dashed line at this length, for comparison.

  bool is_cut(const BarRow& row) const;
  /// Returns whether a bar has some of the part of that number.
  bool is_drawn(std::size_t part) const;
  bool has_published() const;
  bool has_pale() const;
};

/// Returns where bars of these lengths are cut, which is most often at the largest of them.
double longest_drawn(std::vector<double> lengths);

PlotFiles write_bars(const BarPicture& bars, const Canvas& canvas);

}  // namespace howard::reports
