// SPDX-License-Identifier: Apache-2.0
#include "reports/pictures/map_chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "reports/pictures/chart_points.h"
#include "reports/tables/format.h"

namespace howard::reports {
namespace {

using harness::PointResult;

/// Returns the values of an axis, each once: numbers rising, words in their order.
std::vector<std::string> axis_values(const ChartPoints& chart, std::string_view axis) {
  std::vector<std::string> values;
  for (const PointResult* const point : chart.points) {
    std::string value(harness::find_parameter(point->parameters, axis).value_or(""));
    if (std::ranges::find(values, value) == values.end()) values.push_back(std::move(value));
  }
  std::ranges::stable_sort(
      values, {}, [](const std::string& value) { return parse_integer(value).value_or(0); });
  return values;
}

std::size_t cell_place(const PointResult& point, std::string_view axis,
                       const std::vector<std::string>& values) {
  const auto value = harness::find_parameter(point.parameters, axis).value_or("");
  return static_cast<std::size_t>(std::ranges::find(values, value) - values.begin());
}

}  // namespace

std::optional<MapChart> map_chart(const harness::ExperimentResult& result, harness::Backend backend,
                                  const harness::HeatMap& map) {
  constexpr std::size_t kMostValues = 24;
  constexpr std::size_t kColorMarks = 10;
  const ChartPoints shown = chart_points(result, backend, map.metric, {map.x, map.y});
  MapChart chart{.title = fmt::format("{}, {}", map.title, harness::name_of(backend)),
                 .x_label = map.x_label,
                 .y_label = map.y_label,
                 .label = {},
                 .columns = axis_values(shown, map.x),
                 .rows = axis_values(shown, map.y),
                 .cells = {},
                 .colors = {}};
  if (chart.columns.size() < 2 || chart.rows.size() < 2 ||
      std::max(chart.columns.size(), chart.rows.size()) > kMostValues) {
    return std::nullopt;
  }
  std::vector<double> values;
  for (const PointResult* const point : shown.points) {
    values.push_back(point->find_metric(map.metric)->value);
  }
  const Scale scale = fit_scale(shown.points.front()->find_metric(map.metric)->unit, values);
  if (!shown.held.empty()) chart.title += fmt::format(" ({})", shown.held);
  chart.label = with_unit(map.label, scale.unit);
  const auto [least, most] = std::ranges::minmax(values);
  chart.colors = log_axis(in_unit(least, scale), in_unit(most, scale), kColorMarks);
  for (std::size_t i = 0; i < values.size(); ++i) {
    chart.cells.push_back({.column = cell_place(*shown.points[i], map.x, chart.columns),
                           .row = cell_place(*shown.points[i], map.y, chart.rows),
                           .value = in_unit(values[i], scale),
                           .text = format_number(values[i], scale)});
  }
  return chart;
}

}  // namespace howard::reports
