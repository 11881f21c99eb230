// SPDX-License-Identifier: Apache-2.0
#include "reports/bar_chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "reports/cell_text.h"
#include "reports/chart_points.h"
#include "reports/format.h"
#include "reports/reference.h"

namespace howard::reports {
namespace {

using harness::Metric;
using harness::PointResult;

constexpr std::size_t kMostBars = 40;
/// Parts with colours of their own; the others are one more.
constexpr std::size_t kMostParts = 6;

struct Bar {
  std::string name;
  std::vector<double> parts;  ///< As the chart's kinds, then all other parts, then the rest.
  double total = 0;
  std::optional<double> published;
};

/// The names of the parts, by their sum over all bars, the largest first; no more than have
/// colours.
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

/// A metric's name as words.
std::string spaced(std::string name) {
  std::ranges::replace(name, '_', ' ');
  return name;
}

/// Where bars are cut, in SI units: a few that are many times as long as the others would leave
/// these no room.
double longest_drawn(std::vector<double> ends) {
  constexpr double kFar = 6;
  constexpr double kRoom = 2.5;
  std::ranges::sort(ends);
  const double usual = ends[(ends.size() - 1) * 3 / 4];
  return ends.back() > kFar * usual ? kRoom * usual : ends.back();
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
  // Kernels of two queues overlap: then there is no rest.
  rest = std::max(rest, 0.0);
  if (chart.shares) {
    for (double& part : bar.parts) part /= bar.total;
    bar.published.reset();
  }
  return bar;
}

/// `longest`: where bars are cut.
std::string data_text(const std::vector<Bar>& bars, double longest, const Scale& scale,
                      std::string_view unit) {
  std::string text =
      "# columns: bar | end of each part | total in words | where that stands | published; ? is "
      "none\n";
  for (const Bar& bar : bars) {
    text += gnuplot_word(bar.name);
    double end = 0;
    for (const double part : bar.parts) {
      end += part;
      text += " " + format_exact(in_unit(end, scale));
    }
    // Parts add up to the whole but for rounding.
    const bool cut = end > longest * (1 + 1e-9);
    // The words about a bar that is cut stand in it.
    const double words_at =
        cut ? 0.93 * longest : std::min(std::max(end, bar.published.value_or(0)), longest);
    text += fmt::format(" {} {} {}\n",
                        gnuplot_word((cut ? "... " : "") + format_quantity(bar.total, unit)),
                        format_exact(in_unit(words_at, scale)),
                        bar.published ? format_exact(in_unit(*bar.published, scale)) : "?");
  }
  return text;
}

std::vector<std::string> curves(const harness::BarChart& chart,
                                const std::vector<std::string>& kinds,
                                const std::vector<Bar>& bars) {
  std::vector<std::string> parts;
  const std::size_t columns = kinds.size() + 2;
  for (std::size_t i = 0; i < columns; ++i) {
    const bool drawn = std::ranges::any_of(bars, [&](const Bar& bar) { return bar.parts[i] > 0; });
    if (!drawn) continue;
    const bool rest = i + 1 == columns;
    std::string title = "notitle";
    if (!kinds.empty()) {
      title = "title " + gnuplot_string(rest                ? chart.rest
                                        : i == kinds.size() ? "other kinds"
                                                            : spaced(kinds[i]));
    }
    // A chart without parts has nothing but the rest.
    const std::string color =
        rest && !kinds.empty() ? "lc rgb '#cccccc'" : gnuplot_color(rest ? 0 : i);
    const std::string low = i == 0 ? "(0)" : fmt::format("{}", i + 1);
    parts.push_back(
        fmt::format("data using (0):0:{}:{}:($0-0.36):($0+0.36):ytic(1) with boxxyerror fs solid "
                    "0.9 noborder {} {}",
                    low, i + 2, color, title));
  }
  parts.push_back(fmt::format("data using {}:0:{} with labels left offset 1.2,0 notitle",
                              columns + 3, columns + 2));
  if (std::ranges::any_of(bars, [](const Bar& bar) { return bar.published.has_value(); })) {
    parts.push_back(fmt::format(
        "data using {}:0 with points lc rgb '#222222' lw 2 pt 6 ps 1.6 title 'published'",
        columns + 4));
  }
  return parts;
}

}  // namespace

PlotFiles write_bar_chart(const harness::ExperimentResult& result, harness::Backend backend,
                          const harness::BarChart& chart, const std::string& name,
                          const std::filesystem::path& folder) {
  const ChartPoints shown = chart_points(result, backend, chart.metric, chart.bars);
  if (shown.points.empty() || shown.points.size() > kMostBars) return {};
  const std::vector<std::string> kinds = kinds_of(shown, chart.parts);
  std::vector<Bar> bars;
  std::vector<double> ends;
  for (const PointResult* const point : shown.points) {
    bars.push_back(bar_of(*point, chart, kinds));
    bars.back().name = name_of(*point, shown, chart.bars);
    ends.push_back(chart.shares ? 1 : bars.back().total);
    if (bars.back().published) ends.push_back(*bars.back().published);
  }
  const std::string unit = shown.points.front()->find_metric(chart.metric)->unit;
  const double longest = longest_drawn(ends);
  const Scale scale = fit_scale(chart.shares ? "1" : unit, ends);
  // Room for the total in words behind the longest bar.
  const double right = 1.16 * in_unit(longest, scale);
  std::string title = fmt::format("{}, {}", chart.title, harness::name_of(backend));
  if (!shown.held.empty()) title += fmt::format(" ({})", shown.held);
  const std::string settings = fmt::format(
      "set title {}\nset xlabel {}\nset xrange [0:{:.6g}]\nset yrange [{}:-0.6]\n"
      "set grid noytics\nset tics scale 0.5\n",
      gnuplot_string(title), gnuplot_string(with_unit(chart.label, scale.unit)), right,
      static_cast<double>(bars.size()) - 0.4);
  return write_picture({.name = name,
                        .data = data_text(bars, longest, scale, unit),
                        .settings = settings,
                        .curves = curves(chart, kinds, bars)},
                       folder);
}

}  // namespace howard::reports
