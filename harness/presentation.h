// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace howard::harness {

/// How an experiment wants to be shown: plain data, so that the harness needs no report code and
/// a report needs no experiment.

/// Where a table cell or a plot coordinate comes from.
enum class CellSource : std::uint8_t {
  parameter,  ///< An axis of the point.
  metric,     ///< A metric, printed with a unit prefix that fits the column.
  detail,     ///< A fact in words.
  reference,  ///< The published figure.
  error,      ///< The relative error against it.
};

struct Column {
  std::string title;
  CellSource source{};
  std::string name;  ///< Axis, metric or detail; empty for reference and error.
};

struct Plot {
  std::string title;
  std::string x_label;
  std::string y_label;
  std::string x;                    ///< Metric on the horizontal axis, log scale.
  std::string y;                    ///< Metric on the vertical axis, log scale.
  std::vector<std::string> series;  ///< Axes whose values separate the lines, besides the backend.
};

struct Presentation {
  std::vector<Column> columns;  ///< Of the table of emulated points, then of host points.
  std::vector<Plot> plots;
  /// A detail that names the table a point stands in, for points of different kinds; empty: one
  /// table for each backend.
  std::string table_of;
};

}  // namespace howard::harness
