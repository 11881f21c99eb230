// SPDX-License-Identifier: Apache-2.0
#include "reports/pictures/plot_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "reports/pictures/chart_points.h"
#include "reports/published/reference.h"

namespace howard::reports {
namespace {

using harness::Backend;
using harness::Metric;
using harness::PointResult;

/// Holds a point that can be drawn, with its result.
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
  // Otherwise the line of equality stands for the published figures.
  if (!plot.compares) point.published = published_value(result, plot.y);
  if (point.published && *point.published <= 0) point.published = std::nullopt;
  point.artefact = plot.compares && result.reference && result.reference->status == "artefact";
  return Drawn{&result, point};
}

/// Returns the value of an axis or of a detail.
std::string value_of(const Drawn& drawn, std::string_view axis) {
  if (const auto value = harness::find_parameter(drawn.result->parameters, axis)) {
    return std::string(*value);
  }
  const std::string* const detail = drawn.result->find_detail(axis);
  return detail == nullptr ? "" : *detail;
}

std::vector<std::string> values_of(const Drawn& drawn, const std::vector<std::string>& axes) {
  std::vector<std::string> values;
  for (const std::string& axis : axes) values.push_back(value_of(drawn, axis));
  return values;
}

/// Returns the first axis, beyond `axes`, by which two points of one line with the same x differ.
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

/// Returns `prefix` and what distinguishes this point's line from the others.
std::string title_of(const Drawn& drawn, const std::vector<Drawn>& points,
                     const std::vector<std::string>& axes, std::string_view prefix) {
  std::string title(prefix);
  for (const std::string& axis : axes) {
    const std::string value = value_of(drawn, axis);
    const bool varies = std::ranges::any_of(
        points, [&](const Drawn& other) { return value_of(other, axis) != value; });
    if (varies) title += (title.empty() ? "" : ", ") + words_of(axis, value);
  }
  return title;
}

/// Holds a line and the values that make it one: each of an axis, or of "" for the backend.
struct KeyedSeries {
  PlotSeries series;
  std::map<std::string, std::string> key;
};

/// Appends the lines of one backend, in the order of their first points.
void append_series(const std::vector<Drawn>& points, std::vector<std::string> axes,
                   std::string_view prefix, bool lines, std::vector<KeyedSeries>& series) {
  while (lines) {
    const std::optional<std::string> axis = missing_axis(points, axes);
    if (!axis) break;
    axes.push_back(*axis);
  }
  std::vector<std::vector<std::string>> keys;
  const std::size_t first = series.size();
  for (const Drawn& drawn : points) {
    const std::vector<std::string> key = values_of(drawn, axes);
    const auto found = std::ranges::find(keys, key);
    const auto index = first + static_cast<std::size_t>(found - keys.begin());
    if (found == keys.end()) {
      keys.push_back(key);
      const std::string backend(name_of(drawn.result->backend));
      series.push_back(
          {.series = {.title = title_of(drawn, points, axes, prefix)}, .key = {{"", backend}}});
      for (std::size_t i = 0; i < axes.size(); ++i) series.back().key[axes[i]] = key[i];
    }
    series[index].series.points.push_back(drawn.point);
  }
  for (std::size_t i = first; i < series.size(); ++i) {
    std::ranges::stable_sort(series[i].series.points, {}, &PlotPoint::x);
  }
}

/// Returns the place of `value` among `values`, and appends it if it is new.
template <class Value>
std::size_t place_of(const Value& value, std::vector<Value>& values) {
  const auto found = std::ranges::find(values, value);
  const auto place = static_cast<std::size_t>(found - values.begin());
  if (found == values.end()) values.push_back(value);
  return place;
}

/// Returns the axis with the most values that have colours of their own.
std::optional<std::string> color_axis(const std::vector<KeyedSeries>& series) {
  std::map<std::string, std::set<std::string>> values;
  for (const KeyedSeries& one : series) {
    for (const auto& [axis, value] : one.key) values[axis].insert(value);
  }
  std::optional<std::string> best;
  for (const auto& [axis, some] : values) {
    if (some.size() <= kLineColors && (!best || some.size() > values[*best].size())) best = axis;
  }
  return best;
}

/// Gives each series a colour while there are enough. Otherwise each value of one axis gets a
/// colour and those of the others get dashes, so that a line's style can be read. If these are too
/// many, colours are used in turn.
void choose_styles(std::vector<KeyedSeries>& series) {
  const std::optional<std::string> axis = color_axis(series);
  std::vector<std::string> colors;
  std::vector<std::map<std::string, std::string>> dashes;
  bool readable = series.size() > kLineColors && axis;
  for (KeyedSeries& one : series) {
    if (!readable) break;
    std::map<std::string, std::string> rest = one.key;
    rest.erase(*axis);
    one.series.color = place_of(one.key[*axis], colors);
    one.series.dashes = place_of(rest, dashes);
    one.series.symbol = one.series.dashes;
    readable = dashes.size() <= kLineDashes;
  }
  for (std::size_t i = 0; i < series.size() && !readable; ++i) {
    series[i].series.color = i % kLineColors;
    series[i].series.dashes = i / kLineColors % kLineDashes;
    series[i].series.symbol = i;
  }
}

/// Returns whether `upper`, which is drawn later, leaves nothing of `lower` visible.
bool covers(const PlotSeries& upper, const PlotSeries& lower) {
  constexpr double kApart = 1.01;  // as much as a line is thick
  return std::ranges::all_of(lower.points, [&](const PlotPoint& point) {
    return std::ranges::any_of(upper.points, [&](const PlotPoint& other) {
      return other.x == point.x && other.y < point.y * kApart && other.y * kApart > point.y;
    });
  });
}

/// Finds the lines that others cover. Where colours alone tell the lines apart, those that cover
/// another are dashed, so that both can be seen.
void mark_covered(const harness::Plot& plot, std::vector<PlotSeries>& series) {
  if (plot.compares) return;
  const bool plain = series.size() <= kLineColors;
  for (std::size_t i = 0; i < series.size(); ++i) {
    for (std::size_t j = i + 1; j < series.size(); ++j) {
      if (!covers(series[j], series[i])) continue;
      ++series[i].covered;
      if (plain) series[j].dashes = 1;
    }
  }
}

/// Returns the plot's title with the notes that are true of all its points.
std::string title_with_notes(const harness::Plot& plot, const std::vector<Drawn>& points) {
  std::string title = plot.title;
  for (const harness::TitleNote& note : plot.notes) {
    const bool all = std::ranges::all_of(
        points, [&](const Drawn& drawn) { return value_of(drawn, note.axis) == note.value; });
    if (all) title += ", " + note.words;
  }
  return title;
}

/// Returns the unit of values on the x axis that are quantities; sizes and counts are read as they
/// are.
std::string x_unit_of(const harness::ExperimentResult& result, const harness::Plot& plot) {
  for (const PointResult& point : result.points) {
    const Metric* const x = point.find_metric(plot.x);
    if (x != nullptr && (x->unit == "s" || x->unit == "B" || x->unit == "FLOP")) return x->unit;
  }
  return "";
}

/// Returns the scale of a metric that is drawn as `value`.
Scale scale_of(const harness::ExperimentResult& result, const std::string& name,
               const std::vector<PlotSeries>& series) {
  std::vector<double> values;
  for (const PlotSeries& line : series) {
    for (const PlotPoint& point : line.points) values.push_back(point.y);
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

bool PlotSeries::has_open_symbols() const {
  return std::ranges::any_of(
      points, [](const PlotPoint& point) { return point.published.has_value() || point.artefact; });
}

PlotData collect_plot_data(const harness::ExperimentResult& result, const harness::Plot& plot) {
  std::map<Backend, std::vector<Drawn>> drawn_on;
  std::vector<Drawn> all;
  for (const PointResult& point : result.points) {
    if (const std::optional<Drawn> found = drawn(point, plot)) {
      drawn_on[point.backend].push_back(*found);
      all.push_back(*found);
    }
  }
  std::vector<KeyedSeries> series;
  for (const auto& [backend, points] : drawn_on) {
    const bool named = !plot.compares && drawn_on.size() > 1;
    append_series(points, plot.series, named ? name_of(backend) : "", !plot.compares, series);
  }
  choose_styles(series);
  PlotData data{.title = title_with_notes(plot, all), .x_unit = x_unit_of(result, plot)};
  // What all lines have in common stands in the title.
  if (!plot.compares && drawn_on.size() == 1) {
    const std::string_view backend = name_of(drawn_on.begin()->first);
    if (series.size() == 1) {
      series.front().series.title = backend;
    } else {
      data.title += fmt::format(", {}", backend);
    }
  }
  for (KeyedSeries& one : series) data.series.push_back(std::move(one.series));
  mark_covered(plot, data.series);
  // Axes that are alike have one unit: the SI one, with prefixes at the marks.
  if (plot.ratio) {
    data.y_scale = Scale{.exponent = 0, .unit = "x", .decimals = 2};
  } else if (!plot.compares) {
    data.y_scale = scale_of(result, plot.y, data.series);
  }
  return data;
}

}  // namespace howard::reports
