// SPDX-License-Identifier: Apache-2.0
#include "reports/sweeps/sweep_lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <utility>
#include <vector>

#include "reports/pictures/palette.h"
#include "reports/tables/format.h"

namespace howard::reports {
namespace {

using harness::PointResult;

constexpr std::size_t kMostLines = 14;  // a longer legend covers the lines
/// Beyond this number a symbol at each point would hide the line.
constexpr std::size_t kMostSymbols = 40;

struct Mark {
  double x = 0;
  double y = 0;
  bool bound_changes = false;
};

std::vector<Mark> marks_of(const SweepSeries& series, const std::string& metric) {
  std::vector<Mark> marks;
  std::optional<std::string> bound;
  for (const auto& [value, point] : series) {
    auto own = point->find(harness::kBoundBy);
    marks.push_back({.x = value,
                     .y = point->find_metric(metric)->value,
                     .bound_changes = bound && own && *bound != *own});
    bound = std::move(own);
  }
  return marks;
}

}  // namespace

XyChart sweep_lines(const SweepGroups& groups, const std::string& constant,
                    const SweepMetric& metric) {
  const std::vector<const SweepGroup*> shown = some_of(groups, kMostLines);
  std::vector<std::vector<Mark>> lines;
  std::vector<double> xs, ys;
  for (const SweepGroup* const group : shown) {
    lines.push_back(marks_of(series_along(*group, {constant}, constant).front(), metric.name));
    for (const Mark& mark : lines.back()) {
      xs.push_back(mark.x);
      ys.push_back(mark.y);
    }
  }
  const PointResult& first = *shown.front()->points.front();
  const Scale scale = fit_scale(first.find_metric(metric.name)->unit, ys);
  for (double& y : ys) y = in_unit(y, scale);
  const std::string unit(
      swept_value(harness::find_parameter(first.parameters, constant).value_or(""))
          .value_or(SweptValue{})
          .unit);
  constexpr double kAcross = 760;
  constexpr double kUp = 440;
  XyChart chart{.name = {},
                .title = fmt::format("{} over {}{}", metric.title, constant,
                                     count_text(groups, shown.size(), "lines")),
                .x = fitted_axis(xs, kAcross),
                .y = fitted_axis_upwards(ys, kUp),
                .x_label = with_unit(constant, unit),
                .y_label = with_unit(metric.label, scale.unit),
                .series = {},
                .open_title = "the bound changes"};
  for (std::size_t i = 0; i < lines.size(); ++i) {
    ChartSeries& series = chart.series.emplace_back();
    series.title = groups.axes.empty() ? "" : shown[i]->name;
    series.color = i;
    series.dashes = i / kLineColors;
    series.dots = lines[i].size() <= kMostSymbols;
    for (const Mark& mark : lines[i]) {
      const ChartMark drawn{
          mark.x, in_unit(mark.y, scale),
          fmt::format("{}{}{} {} {}: {} {}", series.title, series.title.empty() ? "" : ", ",
                      constant, format_exact(mark.x), unit, format_number(mark.y, scale),
                      scale.unit)};
      series.marks.push_back(drawn);
      if (mark.bound_changes) series.open.push_back(drawn);
    }
  }
  return chart;
}

}  // namespace howard::reports
