// SPDX-License-Identifier: Apache-2.0
#include "reports/plot_data.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "reports/chart_points.h"
#include "reports/reference.h"

namespace howard::reports {
namespace {

using harness::Backend;
using harness::Metric;
using harness::PointResult;

/// A point that can be drawn, with its result.
struct Drawn {
  const PointResult* result;
  PlotPoint point;
};

std::optional<Drawn> drawn(const PointResult& result, const harness::Plot& plot) {
  const Metric* x = result.find_metric(plot.x);
  const Metric* y = result.find_metric(plot.y);
  // Both axes are logarithmic.
  if (x == nullptr || y == nullptr || x->value <= 0 || y->value <= 0) return std::nullopt;
  PlotPoint point{.x = x->value, .y = y->value, .interval = y->ci95};
  if (point.interval && point.interval->front() <= 0) point.interval = std::nullopt;
  point.published = published_value(result, plot.y);
  if (point.published && *point.published <= 0) point.published = std::nullopt;
  return Drawn{&result, point};
}

std::string value_of(const Drawn& drawn, std::string_view axis) {
  return std::string(harness::find_parameter(drawn.result->parameters, axis).value_or(""));
}

std::vector<std::string> values_of(const Drawn& drawn, const std::vector<std::string>& axes) {
  std::vector<std::string> values;
  for (const std::string& axis : axes) values.push_back(value_of(drawn, axis));
  return values;
}

/// The first axis, beyond `axes`, by which two points of one line with the same x differ.
std::optional<std::string> missing_axis(const std::vector<Drawn>& points,
                                        const std::vector<std::string>& axes) {
  for (const Drawn& a : points) {
    for (const Drawn& b : points) {
      if (a.point.x != b.point.x || values_of(a, axes) != values_of(b, axes)) continue;
      for (const auto& [axis, value] : a.result->parameters) {
        if (value_of(b, axis) != value) return axis;
      }
    }
  }
  return std::nullopt;
}

std::string title_of(const Drawn& drawn, const std::vector<Drawn>& points,
                     const std::vector<std::string>& axes) {
  std::string title(name_of(drawn.result->backend));
  for (const std::string& axis : axes) {
    const std::string value = value_of(drawn, axis);
    const bool varies = std::ranges::any_of(
        points, [&](const Drawn& other) { return value_of(other, axis) != value; });
    if (varies) title += ", " + words_of(axis, value);
  }
  return title;
}

/// The lines of one backend, in the order of their first points.
void append_series(const std::vector<Drawn>& points, std::vector<std::string> axes,
                   std::vector<PlotSeries>& series) {
  while (const std::optional<std::string> axis = missing_axis(points, axes)) axes.push_back(*axis);
  std::vector<std::vector<std::string>> keys;
  const std::size_t first = series.size();
  for (const Drawn& drawn : points) {
    const std::vector<std::string> key = values_of(drawn, axes);
    const auto found = std::ranges::find(keys, key);
    const auto index = first + static_cast<std::size_t>(found - keys.begin());
    if (found == keys.end()) {
      keys.push_back(key);
      series.push_back({.title = title_of(drawn, points, axes)});
    }
    series[index].points.push_back(drawn.point);
  }
  for (std::size_t i = first; i < series.size(); ++i) {
    std::ranges::stable_sort(series[i].points, {}, &PlotPoint::x);
  }
}

/// Of a metric that is drawn as `value`.
Scale scale_of(const harness::ExperimentResult& result, const std::string& name,
               const std::vector<PlotSeries>& series, double PlotPoint::*value) {
  std::vector<double> values;
  for (const PlotSeries& line : series) {
    for (const PlotPoint& point : line.points) values.push_back(point.*value);
  }
  for (const PointResult& point : result.points) {
    if (const Metric* metric = point.find_metric(name)) return fit_scale(metric->unit, values);
  }
  return {};
}

}  // namespace

bool PlotSeries::has_intervals() const {
  return std::ranges::any_of(points,
                             [](const PlotPoint& point) { return point.interval.has_value(); });
}

bool PlotSeries::has_published() const {
  return std::ranges::any_of(points,
                             [](const PlotPoint& point) { return point.published.has_value(); });
}

PlotData collect_plot_data(const harness::ExperimentResult& result, const harness::Plot& plot) {
  PlotData data;
  for (const Backend backend : {Backend::emulated, Backend::host}) {
    std::vector<Drawn> points;
    for (const PointResult& point : result.points) {
      if (point.backend != backend) continue;
      if (const std::optional<Drawn> found = drawn(point, plot)) points.push_back(*found);
    }
    append_series(points, plot.series, data.series);
  }
  data.y_scale = scale_of(result, plot.y, data.series, &PlotPoint::y);
  // Sizes and counts are read as they are.
  const bool is_quantity = std::ranges::any_of(result.points, [&](const PointResult& point) {
    const Metric* const x = point.find_metric(plot.x);
    return x != nullptr && (x->unit == "s" || x->unit == "B" || x->unit == "FLOP");
  });
  if (is_quantity) data.x_scale = scale_of(result, plot.x, data.series, &PlotPoint::x);
  return data;
}

}  // namespace howard::reports
