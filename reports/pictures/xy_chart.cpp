// SPDX-License-Identifier: Apache-2.0
#include "reports/pictures/xy_chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <string_view>

#include "reports/pictures/frame.h"
#include "reports/pictures/palette.h"
#include "reports/tables/cell_text.h"

namespace howard::reports {
namespace {

/// Returns a row for each mark: x, y, and y once more if it has an open symbol.
std::string marks_text(const ChartSeries& series) {
  const auto number = [](double value) { return fmt::format("{:.9g}", value); };
  std::vector<ChartMark> open = series.open;
  std::string text;
  for (const ChartMark& mark : series.marks) {
    const auto same = std::ranges::find_if(
        open, [&](const ChartMark& other) { return other.x == mark.x && other.y == mark.y; });
    text += fmt::format("{} {} {}\n", number(mark.x), number(mark.y),
                        same == open.end() ? "?" : number(mark.y));
    if (same != open.end()) open.erase(same);
  }
  for (const ChartMark& mark : open) {
    text += fmt::format("{} ? {}\n", number(mark.x), number(mark.y));
  }
  return text;
}

std::string series_style(const ChartSeries& series) {
  const std::string color = gnuplot_color(series.color);
  if (!series.line) return fmt::format("points {} pt 7 ps 1.2", color);
  const std::string line = fmt::format("{} lw 2 {}", color, gnuplot_dashes(series.dashes));
  if (series.steps) return "steps " + line;
  return series.dots ? fmt::format("linespoints {} pt 7 ps 0.9", line) : "lines " + line;
}

/// Returns the legend's entry of a series: what series_style() draws.
LegendEntry entry_of(const ChartSeries& series) {
  const std::string color = gnuplot_color(series.color);
  LegendEntry entry{.title = series.title};
  if (series.line) entry.line = fmt::format("{} lw 2 {}", color, gnuplot_dashes(series.dashes));
  if (series.dots && !series.steps) entry.point = fmt::format("{} pt 7 ps 0.9", color);
  return entry;
}

std::string open_mark() {
  return fmt::format("lc rgb '#444444' lw 1.5 {} ps 1.7", kPublishedPoint);
}

}  // namespace

std::string gnuplot_axis(std::string_view name, const PlotAxis& axis) {
  std::string marks;
  for (std::size_t i = 0; i < axis.marks.size(); ++i) {
    marks += fmt::format("{}{} {:.10g}", marks.empty() ? "" : ", ", gnuplot_string(axis.labels[i]),
                         axis.marks[i]);
  }
  return fmt::format("{}set {}range [{:.6g}:{:.6g}]\nset {}tics ({})\n",
                     axis.logarithmic ? fmt::format("set logscale {}\n", name) : "", name, axis.low,
                     axis.high, name, marks);
}

std::string gnuplot_axes(const PlotAxis& x, const PlotAxis& y, Picture& picture) {
  const PlotAxis up = thinned_upwards(y, frame_of(picture).height());
  // The first and the last label may stand half beyond the ends of the axis.
  const double first = x.labels.empty() ? 0 : drawn_width(x.labels.front());
  picture.left = std::max(label_width(up) + 22, first / 2 + 6);
  picture.right = std::max(picture.right, label_width(x) / 2 + 6);
  const PlotAxis across = thinned(x, frame_of(picture).width());
  return gnuplot_axis("x", across) + gnuplot_axis("y", up);
}

PlotFiles write_xy_chart(const XyChart& chart, const Canvas& canvas) {
  Picture picture{.name = chart.name,
                  .title = chart.title,
                  .size = canvas.size_or({}),
                  .x_label = chart.x_label,
                  .y_label = chart.y_label,
                  .data = fmt::format("# columns: {} | {} | the same for {}; ? is none\n",
                                      printable(chart.x_label), printable(chart.y_label),
                                      printable(chart.open_title)),
                  .settings = {},
                  .curves = {}};
  bool open = false;
  for (const ChartSeries& series : chart.series) {
    if (series.marks.empty() && series.open.empty()) continue;
    // Two blank lines separate what gnuplot calls an index.
    picture.data += fmt::format("{}\n# index {}: {}\n{}", picture.curves.empty() ? "" : "\n",
                                picture.curves.size(), printable(series.title), marks_text(series));
    picture.curves.push_back(fmt::format("data index {} using 1:2 with {} notitle",
                                         picture.curves.size(), series_style(series)));
    open = open || !series.open.empty();
    if (!series.title.empty()) picture.legend.push_back(entry_of(series));
  }
  if (picture.curves.empty()) return {};
  if (open) {
    picture.curves.push_back(fmt::format("data using 1:3 with points {} notitle", open_mark()));
    picture.legend.push_back({.title = chart.open_title, .point = open_mark()});
  }
  picture.settings = gnuplot_axes(chart.x, chart.y, picture);
  return write_picture(picture, canvas);
}

}  // namespace howard::reports
