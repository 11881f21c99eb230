// SPDX-License-Identifier: Apache-2.0
#include "reports/heat_map.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "reports/cell_text.h"
#include "reports/chart_points.h"
#include "reports/format.h"

namespace howard::reports {
namespace {

using harness::PointResult;

constexpr std::size_t kMostValues = 24;

/// The values of an axis, each once: numbers rising, words as they come.
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

std::string data_text(const ChartPoints& chart, const harness::HeatMap& map, const Scale& scale,
                      const std::vector<std::string>& columns,
                      const std::vector<std::string>& rows) {
  std::string text = fmt::format("# columns: column | row | {} | the same in words\n",
                                 with_unit(map.metric, scale.unit));
  for (const PointResult* const point : chart.points) {
    const harness::Metric& metric = *point->find_metric(map.metric);
    text += fmt::format("{} {} {} {}\n", place_of(*point, map.x, columns),
                        place_of(*point, map.y, rows), format_exact(in_unit(metric.value, scale)),
                        gnuplot_word(format_quantity(metric.value, metric.unit)));
  }
  return text;
}

}  // namespace

PlotFiles write_heat_map(const harness::ExperimentResult& result, harness::Backend backend,
                         const harness::HeatMap& map, const std::string& name,
                         const std::filesystem::path& folder) {
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
  // Light enough for black numbers on every cell.
  const std::string settings = fmt::format(
      "set title {}\nset xlabel {}\nset ylabel {}\n"
      "set xtics {}\nset ytics {}\nset xrange [-0.5:{}]\nset yrange [-0.5:{}]\n"
      "set logscale cb\nset palette defined (0 '#f7fbff', 0.5 '#9ecae1', 1 '#e69f00')\n"
      "unset key\nunset grid\nunset colorbox\n",
      gnuplot_string(title), gnuplot_string(map.x_label), gnuplot_string(map.y_label),
      tics(columns), tics(rows), static_cast<double>(columns.size()) - 0.5,
      static_cast<double>(rows.size()) - 0.5);
  return write_picture(
      {.name = name,
       .data = data_text(shown, map, scale, columns, rows),
       .settings = settings,
       .curves = {"data using 1:2:($1-0.49):($1+0.49):($2-0.49):($2+0.49):3 with boxxyerror fs "
                  "solid noborder lc palette notitle",
                  "data using 1:2:4 with labels notitle"}},
      folder);
}

}  // namespace howard::reports
