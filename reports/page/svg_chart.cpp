// SPDX-License-Identifier: Apache-2.0
#include "reports/page/svg_chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "reports/page/html.h"
#include "reports/page/svg.h"
#include "reports/pictures/palette.h"
#include "reports/pictures/plot_data.h"
#include "reports/tables/format.h"

namespace howard::reports {
namespace {

/// A dot at each of more marks would hide the line.
constexpr std::size_t kMostDots = 400;

std::string line_of(const ChartSeries& series, const XyChart& chart, const SvgFrame& frame,
                    const std::string& color) {
  std::string places;
  double level = 0;
  for (const ChartMark& mark : series.marks) {
    const double x = frame.x(chart.x, mark.x);
    if (series.steps && !places.empty()) places += fmt::format("{:.1f},{:.1f} ", x, level);
    level = frame.y(chart.y, mark.y);
    places += fmt::format("{:.1f},{:.1f} ", x, level);
  }
  return fmt::format(
      "<polyline points=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"2\" "
      "stroke-dasharray=\"{}\">{}</polyline>\n",
      places, color, svg_dashes(series.dashes), svg_hint(series.title));
}

std::string series_of(const ChartSeries& series, const XyChart& chart, const SvgFrame& frame) {
  const std::string color = svg_color(series_color(series.color));
  std::string text = series.line ? line_of(series, chart, frame, color) : "";
  if (!series.dots || (series.line && series.marks.size() > kMostDots)) return text;
  for (const ChartMark& mark : series.marks) {
    text +=
        fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"4\" fill=\"{}\">{}</circle>\n",
                    frame.x(chart.x, mark.x), frame.y(chart.y, mark.y), color, svg_hint(mark.hint));
  }
  return text;
}

/// Returns the open symbols of a series.
std::string open_of(const ChartSeries& series, const XyChart& chart, const SvgFrame& frame) {
  const std::string color = svg_color(series_color(series.color));
  std::string text;
  for (const ChartMark& mark : series.open) {
    text += svg_diamond(frame.x(chart.x, mark.x), frame.y(chart.y, mark.y), color, mark.hint);
  }
  return text;
}

/// Returns the line of equality and the band of 10 % around it.
std::string equality_of(const XyChart& chart, const SvgFrame& frame) {
  constexpr double kBand = 0.1;
  const auto at = [&](double value, double factor) {
    return fmt::format("{:.1f},{:.1f} ", frame.x(chart.x, value),
                       std::clamp(frame.y(chart.y, value * factor), frame.top, frame.bottom));
  };
  const double low = chart.x.low;
  const double high = chart.x.high;
  return fmt::format(
      "<polygon class=\"band\" points=\"{}{}{}{}\"><title>within 10 %</title></polygon>\n"
      "<polyline class=\"equal\" points=\"{}{}\"><title>equal</title></polyline>\n",
      at(low, 1 - kBand), at(high, 1 - kBand), at(high, 1 + kBand), at(low, 1 + kBand), at(low, 1),
      at(high, 1));
}

/// What the legend's entry of open symbols shows and hides.
constexpr std::string_view kOpen = "open";

std::vector<SvgKey> keys_of(const XyChart& chart) {
  std::vector<SvgKey> keys;
  bool open = false;
  for (std::size_t i = 0; i < chart.series.size(); ++i) {
    const ChartSeries& series = chart.series[i];
    open = open || !series.open.empty();
    if (series.title.empty()) continue;
    keys.push_back({.kind = series.line ? SvgKey::Kind::line : SvgKey::Kind::dot,
                    .title = series.title,
                    .color = svg_color(series_color(series.color)),
                    .dashes = series.dashes,
                    .shows = std::to_string(i)});
  }
  if (open) {
    keys.push_back({.kind = SvgKey::Kind::diamond,
                    .title = chart.open_title,
                    .color = "var(--text)",
                    .shows = std::string(kOpen)});
  }
  return keys;
}

/// Returns the mark of a point, and its published figure.
void add_point(const PlotPoint& point, const PlotData& data, const harness::Plot& plot,
               const std::string& title, ChartSeries& series) {
  std::string words =
      plot.compares
          ? fmt::format("{}: {} {}, {} {}, {} %", title, plot.x_label,
                        format_quantity(point.x, data.x_unit), plot.y_label,
                        format_quantity(point.y, data.x_unit), format_error(point.y / point.x - 1))
          : fmt::format("{}: {} {:.6g}, {} {} {}", title, plot.x_label, point.x, plot.y_label,
                        format_number(point.y, data.y_scale), data.y_scale.unit);
  if (point.published) words += ", published " + format_number(*point.published, data.y_scale);
  const ChartMark mark{point.x, in_unit(point.y, data.y_scale), words};
  if (point.artefact) {
    series.open.push_back(mark);
    return;
  }
  series.marks.push_back(mark);
  if (point.published) {
    series.open.push_back({point.x, in_unit(*point.published, data.y_scale), words});
  }
}

}  // namespace

std::string svg_chart(const XyChart& chart) {
  if (std::ranges::all_of(chart.series, [](const ChartSeries& series) {
        return series.marks.empty() && series.open.empty();
      })) {
    return "";
  }
  const auto draw = [&](double width) {
    constexpr double kSquare = 460;
    SvgFrame frame(width);
    if (chart.compares) {
      const double side = std::min(kSquare, frame.right - frame.left);
      frame.bottom = frame.top + side;
      frame.right = frame.left + side;
    }
    std::string shapes = chart.compares ? equality_of(chart, frame) : "";
    for (std::size_t i = 0; i < chart.series.size(); ++i) {
      shapes += svg_switched(std::to_string(i), series_of(chart.series[i], chart, frame));
    }
    for (std::size_t i = 0; i < chart.series.size(); ++i) {
      shapes += svg_switched(std::to_string(i),
                             svg_switched(kOpen, open_of(chart.series[i], chart, frame)));
    }
    return SvgDrawing{frame.height(),
                      svg_axes(frame, chart.x, chart.y, chart.x_label, chart.y_label) +
                          svg_plot(frame, chart.x, chart.y, shapes)};
  };
  return svg_figure_of(chart.title, draw, svg_legend(keys_of(chart)));
}

std::string svg_lines(const harness::ExperimentResult& result, const harness::Plot& plot) {
  // Lines of more points are data for a program: their marks would cover each other.
  constexpr std::size_t kMostDrawn = 2000;
  const PlotData data = collect_plot_data(result, plot);
  std::size_t count = 0;
  for (const PlotSeries& series : data.series) count += series.points.size();
  if (count == 0 || count > kMostDrawn) return "";
  const PlotAxes axes = plot_axes(data, plot, {});
  XyChart chart{.name = {},
                .title = data.title,
                .x = axes.x,
                .y = axes.y,
                .x_label = plot.x_label,
                .y_label = with_unit(plot.y_label, data.y_scale.unit),
                .series = {},
                .compares = plot.compares};
  if (plot.compares) chart.open_title = "published: an artefact";
  for (const PlotSeries& series : data.series) {
    ChartSeries& drawn = chart.series.emplace_back();
    drawn.title = series.title.empty() ? "points" : series.title;
    drawn.color = series.color;
    drawn.dashes = series.dashes;
    drawn.line = !plot.compares;
    for (const PlotPoint& point : series.points) add_point(point, data, plot, drawn.title, drawn);
  }
  return svg_chart(chart);
}

}  // namespace howard::reports
