// SPDX-License-Identifier: Apache-2.0
#include "reports/pictures/heat_map.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.h"
#include "reports/pictures/axis_marks.h"
#include "reports/pictures/chart_points.h"
#include "reports/tables/format.h"

namespace howard::reports {
namespace {

using harness::PointResult;

constexpr std::size_t kMostValues = 24;
constexpr std::size_t kColorMarks = 10;

/// Returns the values of an axis, each once: numbers rising, words in their order.
std::vector<std::string> values_of(const ChartPoints& chart, std::string_view axis) {
  std::vector<std::string> values;
  for (const PointResult* const point : chart.points) {
    std::string value(harness::find_parameter(point->parameters, axis).value_or(""));
    if (std::ranges::find(values, value) == values.end()) values.push_back(std::move(value));
  }
  std::ranges::stable_sort(
      values, {}, [](const std::string& value) { return parse_integer(value).value_or(0); });
  return values;
}

std::size_t place_of(const PointResult& point, std::string_view axis,
                     const std::vector<std::string>& values) {
  const auto value = harness::find_parameter(point.parameters, axis).value_or("");
  return static_cast<std::size_t>(std::ranges::find(values, value) - values.begin());
}

std::string tics(const std::vector<std::string>& values) {
  std::string list;
  for (std::size_t i = 0; i < values.size(); ++i) {
    list += fmt::format("{}{} {}", i == 0 ? "" : ", ", gnuplot_string(values[i]), i);
  }
  return "(" + list + ")";
}

std::string color_tics(const AxisMarks& marks) {
  std::string list;
  for (const double mark : marks.values)
    list += fmt::format("{}{:.10g}", list.empty() ? "" : ", ", mark);
  return "(" + list + ")";
}

std::string data_text(const ChartPoints& chart, const harness::HeatMap& map, const Scale& scale,
                      const std::vector<std::string>& columns,
                      const std::vector<std::string>& rows) {
  std::string text = fmt::format("# columns: column | row | {} | the same rounded\n",
                                 with_unit(map.label, scale.unit));
  for (const PointResult* const point : chart.points) {
    const harness::Metric& metric = *point->find_metric(map.metric);
    text += fmt::format("{} {} {} {}\n", place_of(*point, map.x, columns),
                        place_of(*point, map.y, rows), format_exact(in_unit(metric.value, scale)),
                        gnuplot_word(format_number(metric.value, scale)));
  }
  return text;
}

/// Returns whether the numbers fit into the cells.
bool numbers_fit(const std::vector<double>& values, const Scale& scale, std::size_t columns,
                 const PictureSize& size) {
  constexpr double kAround = 200;  // for labels and the colours' scale
  std::size_t longest = 0;
  for (const double value : values) {
    longest = std::max(longest, format_number(value, scale).size());
  }
  return kLetterWidth * static_cast<double>(longest + 1) <
         (size.width - kAround) / static_cast<double>(columns);
}

}  // namespace

PlotFiles write_heat_map(const harness::ExperimentResult& result, harness::Backend backend,
                         const harness::HeatMap& map, const std::string& name,
                         const Canvas& canvas) {
  const ChartPoints shown = chart_points(result, backend, map.metric, {map.x, map.y});
  const std::vector<std::string> columns = values_of(shown, map.x);
  const std::vector<std::string> rows = values_of(shown, map.y);
  if (columns.size() < 2 || rows.size() < 2 ||
      std::max(columns.size(), rows.size()) > kMostValues) {
    return {};
  }
  std::vector<double> values;
  for (const PointResult* const point : shown.points) {
    values.push_back(point->find_metric(map.metric)->value);
  }
  const Scale scale = fit_scale(shown.points.front()->find_metric(map.metric)->unit, values);
  std::string title = fmt::format("{}, {}", map.title, harness::name_of(backend));
  if (!shown.held.empty()) title += fmt::format(" ({})", shown.held);
  const auto [least, most] = std::ranges::minmax(values);
  const AxisMarks colors = log_marks(in_unit(least, scale), in_unit(most, scale), kColorMarks);
  // The colours are light enough for black numbers on every cell.
  const std::string settings = fmt::format(
      "set xlabel {}\nset ylabel {}\n"
      "set xtics {}\nset ytics {}\nset xrange [-0.5:{}]\nset yrange [-0.5:{}]\n"
      "set logscale cb\nset palette defined (0 '#f7fbff', 0.5 '#9ecae1', 1 '#e69f00')\n"
      "set cblabel {}\nset cbrange [{:.6g}:{:.6g}]\nset cbtics {}\n"
      "unset key\nunset grid\n",
      gnuplot_string(map.x_label), gnuplot_string(map.y_label), tics(columns), tics(rows),
      static_cast<double>(columns.size()) - 0.5, static_cast<double>(rows.size()) - 0.5,
      gnuplot_string(with_unit(map.label, scale.unit)), colors.low(), colors.high(),
      color_tics(colors));
  std::vector<std::string> curves{
      "data using 1:2:($1-0.49):($1+0.49):($2-0.49):($2+0.49):3 with boxxyerror fs solid noborder "
      "lc palette notitle"};
  const PictureSize size = canvas.size_or({});
  if (numbers_fit(values, scale, columns.size(), size)) {
    curves.emplace_back("data using 1:2:4 with labels notitle");
  }
  return write_picture({.name = name,
                        .title = title,
                        .size = size,
                        .data = data_text(shown, map, scale, columns, rows),
                        .settings = settings,
                        .curves = std::move(curves)},
                       canvas);
}

}  // namespace howard::reports
