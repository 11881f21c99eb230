// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace howard::harness {

/// Says how an experiment wants to be shown. It is plain data, so that the harness needs no report
/// code and a report needs no experiment.

/// Says where a table cell or a plot coordinate comes from.
enum class CellSource : std::uint8_t {
  parameter,  ///< An axis of the point.
  metric,     ///< A metric, printed with a unit prefix that fits the column.
  detail,     ///< A fact in words.
  chip,       ///< The chip that the point chose; empty if it is the run's.
  reference,  ///< The published figure.
  compared,   ///< The point's own value of the metric that was published, in the same unit.
  error,      ///< The relative error against it.
};

/// Says how a column makes room if a table is too wide.
enum class Room : std::uint8_t {
  spare,  ///< Its texts are cut first; then the column is left out.
  key,    ///< It tells the rows apart or is the answer: it is wrapped, but never cut or left out.
  whole,  ///< It holds text to copy: as `key`, but wrapped last.
};

struct Column {
  std::string title;
  CellSource source{};
  std::string name;  ///< The axis, metric or detail; empty for those of the published figure.
  Room room = Room::spare;   ///< Axes and the time are always keys.
  std::string meaning = {};  ///< A line below the table; empty if the title says it all.
};

/// Adds words to a picture's title if all points have this value.
struct TitleNote {
  std::string axis, value;
  std::string words;
};

struct Plot {
  std::string title;
  std::string x_label;
  std::string y_label;
  std::string x;  ///< The metric on the horizontal axis, with a log scale.
  std::string y;  ///< The metric on the vertical axis, with a log scale.
  /// Names the axes or details whose values separate the lines, besides the backend.
  std::vector<std::string> series;
  std::vector<TitleNote> notes;
  /// If true, x and y are the same quantity from two sources. The plot then has marks without lines
  /// between them, on equal axes, beside the line on which both are equal.
  bool compares = false;
  bool ratio = false;  ///< y is a quotient: 5 is "5x" rather than 500 %.
};

/// Describes points as bars on a linear axis from zero, with a chart for each backend.
struct BarChart {
  std::string title;
  std::string label;   ///< The label of the axis of values.
  std::string metric;  ///< The metric that is the length of a bar.
  /// Names the axes whose values tell the bars apart. On each other axis the chart keeps the value
  /// of its first point.
  std::vector<std::string> bars;
  /// The metrics whose names begin so are parts of the bar: "kernel_time."; empty if there are
  /// none.
  std::string parts;
  std::string rest;  ///< The name of the rest of a bar with parts.
  /// If true, each bar is 100 %, so that long and short ones can be compared.
  bool shares = false;
  /// If it is set, the longest bar of each value of this axis is 100 %, so that those of a small
  /// model can be seen beside those of a large one.
  std::string scaled_by = {};
  /// If it is set, a metric that is a share of the bar, whose published figure is marked.
  std::string published_share = {};
  /// Names a detail; bars with another value than `usual` are pale.
  TitleNote pale_unless = {};
  std::optional<double> line;  ///< A length to compare the bars with, drawn through all.
};

/// Describes a metric over two axes as a table of colours on a log scale, one for each backend. On
/// each other axis it keeps the value of its first point, as a bar chart does.
struct HeatMap {
  std::string title;
  std::string x_label;
  std::string y_label;
  std::string x;       ///< The axis with a value for each column.
  std::string y;       ///< The axis with a value for each row.
  std::string metric;  ///< The metric of a cell; it is positive.
  std::string label;   ///< What the metric is: "time".
};

struct Presentation {
  /// Says what the metric "time" covers, for the titles of tables: "a product and its finish". A
  /// point may say otherwise (kTimed).
  std::string timed = {};
  std::string timed_on_host = {};  ///< What it covers on the host; empty if it is the same.
  std::vector<Column> columns;     ///< The columns of the emulated points' table, then the host's.
  std::vector<Plot> plots;
  std::vector<BarChart> bar_charts;
  std::vector<HeatMap> heat_maps;
  /// Names the detail that chooses the table of a point, if points are of different kinds; empty
  /// for one table for each backend.
  std::string table_of;
  /// Lists the axes that are constants of the emulated machine with several values: "20us". The
  /// axes of the experiment itself are not among them.
  std::vector<std::string> swept;
  /// Axes with the value that a point has which lacks them. A table shows it beside other values.
  std::vector<std::pair<std::string, std::string>> neutral = {};
};

}  // namespace howard::harness
