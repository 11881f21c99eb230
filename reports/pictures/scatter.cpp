// SPDX-License-Identifier: Apache-2.0
#include "reports/pictures/scatter.h"

#include <fmt/format.h>

#include "reports/tables/cell_text.h"
#include "reports/tables/format.h"

namespace howard::reports {

PlotFiles write_scatter(const ScatterPicture& scatter, const Canvas& canvas) {
  Picture picture{
      .name = scatter.name,
      .title = scatter.title,
      .size = canvas.size_or({}),
      .data = {},
      .settings = fmt::format("set xlabel {}\nset ylabel {}\nset logscale y\n"
                              "set xrange [0:*]\nset key maxrows 2",
                              gnuplot_string(scatter.x_label), gnuplot_string(scatter.y_label)),
      .curves = {}};
  for (const ScatterSeries& series : scatter.series) {
    if (series.points.empty()) continue;
    // Two blank lines separate what gnuplot calls an index.
    picture.data += fmt::format("{}# index {}: {}\n", picture.curves.empty() ? "" : "\n\n",
                                picture.curves.size(), printable(series.title));
    for (const auto& [x, y] : series.points) {
      picture.data += fmt::format("{} {}\n", format_exact(x), format_exact(y));
    }
    picture.curves.push_back(fmt::format("data index {} using 1:2 with points {} title {}",
                                         picture.curves.size(), series.style,
                                         gnuplot_string(series.title)));
  }
  if (picture.curves.empty()) return {};
  return write_picture(picture, canvas);
}

}  // namespace howard::reports
