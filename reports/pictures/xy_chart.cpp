// SPDX-License-Identifier: Apache-2.0
#include "reports/pictures/xy_chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>

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

}  // namespace

std::string gnuplot_axis(char name, const PlotAxis& axis) {
  std::string marks;
  for (std::size_t i = 0; i < axis.marks.size(); ++i) {
    marks += fmt::format("{}{} {:.10g}", marks.empty() ? "" : ", ", gnuplot_string(axis.labels[i]),
                         axis.marks[i]);
  }
  return fmt::format("{}set {}range [{:.6g}:{:.6g}]\nset {}tics ({})\n",
                     axis.logarithmic ? fmt::format("set logscale {}\n", name) : "", name, axis.low,
                     axis.high, name, marks);
}

PlotFiles write_xy_chart(const XyChart& chart, const Canvas& canvas) {
  Picture picture{
      .name = chart.name,
      .title = chart.title,
      .size = canvas.size_or({}),
      .data =
          fmt::format("# columns: {} | {} | the same for {}; ? is none\n", printable(chart.x_label),
                      printable(chart.y_label), printable(chart.open_title)),
      .settings = fmt::format("set xlabel {}\nset ylabel {}\n{}{}", gnuplot_string(chart.x_label),
                              gnuplot_string(chart.y_label), gnuplot_axis('x', chart.x),
                              gnuplot_axis('y', chart.y)),
      .curves = {}};
  bool open = false;
  for (const ChartSeries& series : chart.series) {
    if (series.marks.empty()) continue;
    // Two blank lines separate what gnuplot calls an index.
    picture.data += fmt::format("{}\n# index {}: {}\n{}", picture.curves.empty() ? "" : "\n",
                                picture.curves.size(), printable(series.title), marks_text(series));
    picture.curves.push_back(fmt::format("data index {} using 1:2 with {} title {}",
                                         picture.curves.size(), series_style(series),
                                         gnuplot_string(series.title)));
    open = open || !series.open.empty();
  }
  if (picture.curves.empty()) return {};
  if (open) {
    picture.curves.push_back(
        fmt::format("data using 1:3 with points lc rgb '#444444' lw 1.5 pt 6 ps 1.7 title {}",
                    gnuplot_string(chart.open_title)));
  }
  return write_picture(picture, canvas);
}

}  // namespace howard::reports
