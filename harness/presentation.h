// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
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

/// How a column makes room where a table is too wide.
enum class Room : std::uint8_t {
  spare,  ///< Its texts are cut; then it is left out.
  key,    ///< It tells the rows apart or is the answer: it is wrapped, not cut and not left out.
  whole,  ///< As key, and wrapped last: text to copy.
};

struct Column {
  std::string title;
  CellSource source{};
  std::string name;          ///< Axis, metric or detail; empty for reference and error.
  Room room = Room::spare;   ///< Axes and the time are keys, whatever stands here.
  std::string meaning = {};  ///< Said in a line below the table; empty: the title says it all.
};

/// What a picture's title says of points that all have this value.
struct TitleNote {
  std::string axis, value;
  std::string words;
};

struct Plot {
  std::string title;
  std::string x_label;
  std::string y_label;
  std::string x;  ///< Metric on the horizontal axis, log scale.
  std::string y;  ///< Metric on the vertical axis, log scale.
  /// Axes or details whose values separate the lines, besides the backend.
  std::vector<std::string> series;
  std::vector<TitleNote> notes;
  /// x and y are the same quantity from two sources: marks without lines between them, on axes
  /// that are alike, beside the line on which both are equal.
  bool compares = false;
};

/// Points as bars on a linear axis from zero, a chart for each backend.
struct BarChart {
  std::string title;
  std::string label;   ///< Of the axis of values.
  std::string metric;  ///< The length of a bar.
  /// Axes whose values tell the bars apart; on each other axis the chart stays with the value of
  /// its first point.
  std::vector<std::string> bars;
  /// Metrics whose names begin so are parts of the bar: "kernel_time."; empty: it has none.
  std::string parts;
  std::string rest;            ///< What the rest of a bar with parts is.
  bool shares = false;         ///< Each bar is 100 %, so that long and short ones can be compared.
  std::optional<double> line;  ///< A length to compare the bars with, drawn through all of them.
};

/// A metric by two axes, as a table of colours on a log scale, one for each backend; other axes as
/// in a bar chart.
struct HeatMap {
  std::string title;
  std::string x_label;
  std::string y_label;
  std::string x;       ///< Axis with a value for each column.
  std::string y;       ///< Axis with a value for each row.
  std::string metric;  ///< Of a cell, positive.
  std::string label;   ///< What it is: "time".
};

struct Presentation {
  /// What the metric "time" is of, for the titles of tables: "a product and its finish". A point
  /// may say otherwise by its detail "timed".
  std::string timed = {};
  std::string timed_on_host = {};  ///< Where it is something else; empty: the same.
  std::vector<Column> columns;     ///< Of the table of emulated points, then of host points.
  std::vector<Plot> plots;
  std::vector<BarChart> bar_charts;
  std::vector<HeatMap> heat_maps;
  /// A detail that names the table a point stands in, for points of different kinds; empty: one
  /// table for each backend.
  std::string table_of;
  /// Axes that are constants of the emulated machine with several values: "20us". Not those of the
  /// experiment itself.
  std::vector<std::string> swept;
};

}  // namespace howard::harness
