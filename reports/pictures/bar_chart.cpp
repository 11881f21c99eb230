// SPDX-License-Identifier: Apache-2.0
#include "reports/pictures/bar_chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "reports/pictures/bar_picture.h"
#include "reports/pictures/chart_points.h"
#include "reports/pictures/palette.h"
#include "reports/published/reference.h"
#include "reports/tables/format.h"

namespace howard::reports {
namespace {

using harness::Metric;
using harness::PointResult;

constexpr std::size_t kMostBars = 40;
/// So many parts have colours of their own; the others together are one more.
constexpr std::size_t kMostParts = 6;

struct Bar {
  std::string name;
  /// The parts in the order of the chart's kinds, then all other parts, then the rest.
  std::vector<double> parts;
  double total = 0;
  std::optional<double> published;
};

/// Returns the names of the parts by their sum over all bars, the largest first, and no more than
/// there are colours.
std::vector<std::string> kinds_of(const ChartPoints& chart, const std::string& prefix) {
  std::map<std::string, double> sums;
  for (const PointResult* const point : chart.points) {
    for (const Metric& metric : point->metrics) {
      if (!prefix.empty() && metric.name.starts_with(prefix)) {
        sums[metric.name.substr(prefix.size())] += metric.value;
      }
    }
  }
  std::vector<std::string> kinds;
  for (const auto& [kind, sum] : sums) kinds.push_back(kind);
  std::ranges::stable_sort(kinds, std::greater(),
                           [&](const std::string& kind) { return sums.at(kind); });
  if (kinds.size() > kMostParts) kinds.resize(kMostParts);
  return kinds;
}

/// Returns a metric's name as words.
std::string spaced(std::string name) {
  std::ranges::replace(name, '_', ' ');
  return name;
}

std::string name_of(const PointResult& point, const ChartPoints& chart,
                    const std::vector<std::string>& axes) {
  std::string name;
  for (const std::string& axis : axes) {
    const auto value = harness::find_parameter(point.parameters, axis);
    const bool varies = std::ranges::any_of(chart.points, [&](const PointResult* other) {
      return harness::find_parameter(other->parameters, axis) != value;
    });
    if (!value || !varies) continue;
    name += (name.empty() ? "" : ", ") + words_of(axis, *value);
  }
  return name.empty() ? std::string(harness::name_of(point.backend)) : name;
}

Bar bar_of(const PointResult& point, const harness::BarChart& chart,
           const std::vector<std::string>& kinds) {
  Bar bar{.parts = std::vector<double>(kinds.size() + 2),
          .total = point.find_metric(chart.metric)->value,
          .published = published_value(point, chart.metric)};
  double& others = bar.parts[kinds.size()];
  double& rest = bar.parts[kinds.size() + 1];
  rest = bar.total;
  for (const Metric& metric : point.metrics) {
    if (chart.parts.empty() || !metric.name.starts_with(chart.parts)) continue;
    const auto kind = std::ranges::find(kinds, metric.name.substr(chart.parts.size()));
    (kind == kinds.end() ? others : bar.parts[static_cast<std::size_t>(kind - kinds.begin())]) +=
        metric.value;
    rest -= metric.value;
  }
  // Kernels of two queues overlap, and then there is no rest.
  // Parts that add up to the bar leave what rounding leaves.
  constexpr double kSumRounding = 1e-9;
  rest = rest < kSumRounding * bar.total ? 0 : rest;
  if (chart.shares) {
    for (double& part : bar.parts) part /= bar.total;
    bar.published.reset();
  }
  return bar;
}

BarRow row_of(const Bar& bar, const Scale& axis, const Scale& cells, bool published) {
  BarRow row{.name = bar.name, .cells = {format_number(bar.total, cells)}};
  double end = 0;
  for (const double part : bar.parts) row.ends.push_back(in_unit(end += part, axis));
  if (bar.published) row.published = in_unit(*bar.published, axis);
  if (!published) return row;
  row.cells.push_back(bar.published ? format_number(*bar.published, cells) : "");
  row.cells.push_back(bar.published ? format_error(bar.total / *bar.published - 1) : "");
  return row;
}

std::vector<BarPart> parts_of(const harness::BarChart& chart,
                              const std::vector<std::string>& kinds) {
  // A chart without parts has nothing but the rest.
  if (kinds.empty()) return {{}, {.title = "", .color = std::string(series_color(0))}};
  std::vector<BarPart> parts;
  for (const std::string& kind : kinds) {
    parts.push_back({.title = spaced(kind), .color = std::string(series_color(parts.size()))});
  }
  parts.push_back({.title = "other kinds", .color = std::string(series_color(parts.size()))});
  parts.push_back({.title = chart.rest, .color = std::string(kRestColor)});
  return parts;
}

/// Returns where the axis ends, in SI units: where long bars are cut, or at a published figure
/// beyond the longest.
double axis_end(const std::vector<Bar>& bars, const std::vector<double>& lengths) {
  const double longest = *std::ranges::max_element(lengths);
  double end = longest_drawn(lengths);
  if (end < longest) return end;
  for (const Bar& bar : bars) end = std::max(end, bar.published.value_or(0));
  return end;
}

}  // namespace

std::optional<BarPicture> bar_picture(const harness::ExperimentResult& result,
                                      harness::Backend backend, const harness::BarChart& chart,
                                      const std::string& name) {
  const ChartPoints shown = chart_points(result, backend, chart.metric, chart.bars);
  if (shown.points.empty() || shown.points.size() > kMostBars) return std::nullopt;
  const std::vector<std::string> kinds = kinds_of(shown, chart.parts);
  std::vector<Bar> bars;
  std::vector<double> ends;
  std::vector<double> totals;
  std::vector<double> lengths;
  for (const PointResult* const point : shown.points) {
    bars.push_back(bar_of(*point, chart, kinds));
    bars.back().name = name_of(*point, shown, chart.bars);
    totals.push_back(bars.back().total);
    ends.push_back(chart.shares ? 1 : bars.back().total);
    lengths.push_back(ends.back());
    if (bars.back().published) ends.push_back(*bars.back().published);
  }
  const std::string unit = shown.points.front()->find_metric(chart.metric)->unit;
  const Scale axis = fit_scale(chart.shares ? "1" : unit, ends);
  const Scale cells = chart.shares ? fit_scale(unit, totals) : axis;
  const bool published =
      std::ranges::any_of(bars, [](const Bar& bar) { return bar.published.has_value(); });
  BarPicture picture{
      .name = name,
      .title = fmt::format("{}, {}", chart.title, harness::name_of(backend)),
      .label = with_unit(chart.label, axis.unit),
      .parts = parts_of(chart, kinds),
      .headings = {with_unit(chart.shares ? "100 % is" : harness::name_of(backend), cells.unit)},
      .longest = in_unit(axis_end(bars, lengths), axis)};
  if (!shown.held.empty()) picture.title += fmt::format(" ({})", shown.held);
  if (published) picture.headings.insert(picture.headings.end(), {"published", "error (%)"});
  for (const Bar& bar : bars) picture.rows.push_back(row_of(bar, axis, cells, published));
  if (chart.line) picture.line = in_unit(*chart.line, axis);
  return picture;
}

PlotFiles write_bar_chart(const harness::ExperimentResult& result, harness::Backend backend,
                          const harness::BarChart& chart, const std::string& name,
                          const Canvas& canvas) {
  const std::optional<BarPicture> picture = bar_picture(result, backend, chart, name);
  return picture ? write_bars(*picture, canvas) : PlotFiles{};
}

}  // namespace howard::reports
