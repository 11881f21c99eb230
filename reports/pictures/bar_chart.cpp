// SPDX-License-Identifier: Apache-2.0
#include "reports/pictures/bar_chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "reports/findings/gap_names.h"
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
  double whole = 1;  ///< What a length is divided by.
  std::optional<double> published;
  std::optional<double> error;  ///< Of the published metric, which may be the rate of this time.
  bool artefact = false;        ///< Something other than the point explains the published figure.
  bool pale = false;
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
          .published = published_value(point, chart.metric),
          .error = point.relative_error(),
          .artefact = point.reference && point.reference->status == "artefact"};
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
  return bar;
}

/// Returns whether the bars show shares rather than the metric.
bool relative(const harness::BarChart& chart) { return chart.shares || !chart.scaled_by.empty(); }

/// Returns the largest metric or published figure among the points with the same value of
/// `scaled_by`.
double group_whole(const PointResult& point, const ChartPoints& shown,
                   const harness::BarChart& chart) {
  const auto group = harness::find_parameter(point.parameters, chart.scaled_by);
  double whole = 0;
  for (const PointResult* const other : shown.points) {
    if (harness::find_parameter(other->parameters, chart.scaled_by) != group) continue;
    whole = std::max({whole, other->find_metric(chart.metric)->value,
                      published_value(*other, chart.metric).value_or(0)});
  }
  return whole;
}

/// Divides the bar by what the chart wants it to be a share of.
void scale(Bar& bar, const PointResult& point, const ChartPoints& shown,
           const harness::BarChart& chart) {
  if (!relative(chart)) return;
  bar.whole = chart.shares ? bar.total : group_whole(point, shown, chart);
  for (double& part : bar.parts) part /= bar.whole;
  if (chart.shares) bar.published.reset();
}

BarRow row_of(const Bar& bar, const harness::BarChart& chart, const Scale& axis, const Scale& cells,
              bool published) {
  BarRow row{.name = bar.name, .cells = {format_number(bar.total, cells)}, .pale = bar.pale};
  double end = 0;
  for (const double part : bar.parts) row.ends.push_back(in_unit(end += part, axis));
  if (bar.published) row.published = in_unit(*bar.published / bar.whole, axis);
  if (!published) return row;
  if (chart.published_share.empty()) {
    row.cells.push_back(
        bar.published ? (bar.artefact ? "* " : "") + format_number(*bar.published, cells) : "");
    row.cells.push_back(bar.error ? format_error(*bar.error) : "");
  } else {
    row.cells.push_back(row.published ? fmt::format("{:.1f}", *row.published) : "");
  }
  return row;
}

/// Returns the colour that a cause of gaps or a kind of op has everywhere.
std::string color_of(const std::string& kind) {
  for (std::size_t i = 0; i < profiler::kGapCauses; ++i) {
    const auto cause = static_cast<profiler::GapCause>(i);
    if (name_of(cause) == spaced(kind)) return std::string(cause_color(cause));
  }
  return std::string(part_color(kind));
}

std::vector<BarPart> parts_of(const harness::BarChart& chart,
                              const std::vector<std::string>& kinds) {
  // A chart without parts has nothing but the rest.
  if (kinds.empty()) return {{}, {.title = "", .color = std::string(series_color(0))}};
  std::vector<BarPart> parts;
  for (const std::string& kind : kinds) {
    parts.push_back({.title = spaced(kind), .color = color_of(kind)});
  }
  parts.push_back({.title = "other kinds", .color = std::string(kOthersColor)});
  parts.push_back({.title = chart.rest, .color = std::string(kRestColor)});
  return parts;
}

/// Returns where the axis ends, in SI units: where long bars are cut, or at a published figure
/// beyond the longest.
double axis_end(const std::vector<Bar>& bars, const std::vector<double>& lengths) {
  const double longest = *std::ranges::max_element(lengths);
  double end = longest_drawn(lengths);
  if (end < longest) return end;
  for (const Bar& bar : bars) end = std::max(end, bar.published.value_or(0) / bar.whole);
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
    Bar& bar = bars.emplace_back(bar_of(*point, chart, kinds));
    bar.name = name_of(*point, shown, chart.bars);
    const std::string* const detail = point->find_detail(chart.pale_unless.axis);
    bar.pale = detail != nullptr && *detail != chart.pale_unless.value;
    scale(bar, *point, shown, chart);
    if (!chart.published_share.empty()) {
      bar.published = also_published(result.experiment, *point, chart.published_share);
      if (bar.published) *bar.published *= bar.whole;
    }
    totals.push_back(bar.total);
    if (bar.published && chart.published_share.empty()) totals.push_back(*bar.published);
    ends.push_back(bar.total / (relative(chart) ? bar.whole : 1));
    lengths.push_back(ends.back());
  }
  const std::string unit = shown.points.front()->find_metric(chart.metric)->unit;
  const Scale cells = fit_scale(unit, totals);
  const Scale axis = relative(chart) ? fit_scale("1", ends) : cells;
  const bool artefacts = std::ranges::any_of(
      bars, [](const Bar& bar) { return bar.published.has_value() && bar.artefact; });
  const bool published =
      std::ranges::any_of(bars, [](const Bar& bar) { return bar.published.has_value(); });
  BarPicture picture{
      .name = name,
      .title = fmt::format("{}, {}", chart.title, harness::name_of(backend)),
      .label = with_unit(chart.label, axis.unit),
      .parts = parts_of(chart, kinds),
      .headings = {with_unit(chart.shares ? "100 % is" : harness::name_of(backend), cells.unit)},
      .longest = in_unit(axis_end(bars, lengths), axis),
      .pale = chart.pale_unless.words};
  if (!shown.held.empty()) picture.title += fmt::format(" ({})", shown.held);
  if (published && chart.published_share.empty()) {
    const bool of_rates = std::ranges::any_of(shown.points, [](const PointResult* point) {
      return point->reference && point->reference->unit.ends_with("/s");
    });
    picture.headings.insert(picture.headings.end(),
                            {artefacts ? "published (* artefact)" : "published",
                             of_rates ? "error of rate (%)" : "error (%)"});
  } else if (published) {
    picture.headings.emplace_back("published (%)");
  }
  for (const Bar& bar : bars) picture.rows.push_back(row_of(bar, chart, axis, cells, published));
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
