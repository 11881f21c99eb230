// SPDX-License-Identifier: Apache-2.0
#include "reports/pictures/stack_chart.h"

#include <fmt/format.h>

#include <cstddef>

#include "reports/pictures/xy_chart.h"
#include "reports/tables/cell_text.h"

namespace howard::reports {

PlotFiles write_stack_chart(const StackChart& chart, const Canvas& canvas) {
  if (chart.columns.empty()) return {};
  Picture picture{
      .name = chart.name,
      .title = chart.title,
      .size = canvas.size_or({}),
      .x_label = chart.x_label,
      .y_label = chart.y_label,
      .data = fmt::format("# columns: {}, from | to | {}: 0, and the end of each part\n",
                          printable(chart.x_label), printable(chart.y_label)),
      .settings = {},
      .curves = {}};
  for (std::size_t i = 0; i < chart.columns.size(); ++i) {
    const double from = chart.width * static_cast<double>(i);
    picture.data += fmt::format("{:.6g} {:.6g} 0", from, from + chart.width);
    for (const double end : chart.columns[i]) picture.data += fmt::format(" {:.6g}", end);
    picture.data += "\n";
  }
  for (std::size_t i = 0; i < chart.parts.size(); ++i) {
    picture.curves.push_back(
        fmt::format("data using 1:3:1:2:{}:{} with boxxyerror fs solid noborder {} notitle", i + 3,
                    i + 4, gnuplot_color(chart.parts[i].color)));
    picture.legend.push_back({.title = chart.parts[i].title, .box = chart.parts[i].color});
  }
  picture.settings = gnuplot_axes(chart.x, chart.y, picture);
  return write_picture(picture, canvas);
}

}  // namespace howard::reports
