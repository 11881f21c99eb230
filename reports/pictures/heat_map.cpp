// SPDX-License-Identifier: Apache-2.0
#include "reports/pictures/heat_map.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <vector>

#include "reports/pictures/map_chart.h"
#include "reports/tables/format.h"

namespace howard::reports {
namespace {

std::string tics(const std::vector<std::string>& values) {
  std::string list;
  for (std::size_t i = 0; i < values.size(); ++i) {
    list += fmt::format("{}{} {}", i == 0 ? "" : ", ", gnuplot_string(values[i]), i);
  }
  return "(" + list + ")";
}

std::string data_text(const MapChart& chart) {
  std::string text = fmt::format("# columns: column | row | {} | the same rounded\n", chart.label);
  for (const MapCell& cell : chart.cells) {
    text += fmt::format("{} {} {} {}\n", cell.column, cell.row, format_exact(cell.value),
                        gnuplot_word(cell.text));
  }
  return text;
}

/// Returns whether the numbers fit into the cells.
bool numbers_fit(const MapChart& chart, const PictureSize& size) {
  constexpr double kAround = 200;  // for labels and the colours' scale
  std::size_t longest = 0;
  for (const MapCell& cell : chart.cells) longest = std::max(longest, cell.text.size());
  return kLetterWidth * static_cast<double>(longest + 1) <
         (size.width - kAround) / static_cast<double>(chart.columns.size());
}

}  // namespace

PlotFiles write_heat_map(const harness::ExperimentResult& result, harness::Backend backend,
                         const harness::HeatMap& map, const std::string& name,
                         const Canvas& canvas) {
  const std::optional<MapChart> chart = map_chart(result, backend, map);
  if (!chart) return {};
  const std::string settings = fmt::format(
      "set xlabel {}\nset ylabel {}\n"
      "set xtics {}\nset ytics {}\nset xrange [-0.5:{}]\nset yrange [-0.5:{}]\n"
      "set logscale cb\n{}"
      "set cblabel {}\nset cbrange [{:.6g}:{:.6g}]\nset cbtics ({:.10g})\n"
      "unset key\nunset grid\n",
      gnuplot_string(chart->x_label), gnuplot_string(chart->y_label), tics(chart->columns),
      tics(chart->rows), static_cast<double>(chart->columns.size()) - 0.5,
      static_cast<double>(chart->rows.size()) - 0.5, gnuplot_palette(),
      gnuplot_string(chart->label), chart->colors.low, chart->colors.high,
      fmt::join(chart->colors.marks, ", "));
  std::vector<std::string> curves{
      "data using 1:2:($1-0.49):($1+0.49):($2-0.49):($2+0.49):3 with boxxyerror fs solid noborder "
      "lc palette notitle"};
  const PictureSize size = canvas.size_or({});
  if (numbers_fit(*chart, size)) curves.emplace_back("data using 1:2:4 with labels notitle");
  return write_picture({.name = name,
                        .title = chart->title,
                        .size = size,
                        .data = data_text(*chart),
                        .settings = settings,
                        .curves = std::move(curves)},
                       canvas);
}

}  // namespace howard::reports
