// SPDX-License-Identifier: Apache-2.0
#include "reports/pictures/heat_map.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <vector>

#include "reports/pictures/frame.h"
#include "reports/pictures/map_chart.h"
#include "reports/pictures/xy_chart.h"
#include "reports/tables/format.h"

namespace howard::reports {
namespace {

std::string data_text(const MapChart& chart) {
  std::string text = fmt::format("# columns: column | row | {} | the same rounded\n", chart.label);
  for (const MapCell& cell : chart.cells) {
    text += fmt::format("{} {} {} {}\n", cell.column, cell.row, format_exact(cell.value),
                        gnuplot_word(cell.text));
  }
  return text;
}

/// Returns whether the numbers fit into the cells.
bool numbers_fit(const MapChart& chart, double width) {
  double longest = 0;
  for (const MapCell& cell : chart.cells) longest = std::max(longest, drawn_width(cell.text));
  return longest + 8 < width / static_cast<double>(chart.columns.size());
}

/// Returns marks for the columns or the rows, without those whose texts would touch.
PlotAxis axis_of(const std::vector<std::string>& values) {
  PlotAxis axis{.low = -0.5, .high = static_cast<double>(values.size()) - 0.5};
  for (std::size_t i = 0; i < values.size(); ++i) axis.marks.push_back(static_cast<double>(i));
  axis.labels = values;
  return axis;
}

}  // namespace

std::string color_box(const PlotAxis& colors, const Picture& picture) {
  constexpr double kWide = 16;
  const Frame frame = frame_of(picture);
  const PlotAxis shown = thinned_upwards(colors, frame.height());
  std::string marks;
  for (std::size_t i = 0; i < shown.marks.size(); ++i) {
    marks += fmt::format("{}{} {:.10g}", i == 0 ? "" : ", ", gnuplot_string(shown.labels[i]),
                         shown.marks[i]);
  }
  const double width = frame.size.width;
  const double height = frame.size.height;
  return fmt::format(
      "{}{}set cbrange [{:.6g}:{:.6g}]\nset cbtics ({})\n"
      "set colorbox user origin screen {:.5g}, screen {:.5g} size screen {:.5g}, screen {:.5g}\n",
      shown.logarithmic ? "set logscale cb\n" : "", gnuplot_palette(), shown.low, shown.high, marks,
      (frame.right + kWide) / width, frame.bottom / height, kWide / width, frame.height() / height);
}

double color_box_width(const PlotAxis& colors) {
  constexpr double kAround = 60;  // beside the box, and for its marks
  return label_width(colors) + kAround;
}

PlotFiles write_heat_map(const harness::ExperimentResult& result, harness::Backend backend,
                         const harness::HeatMap& map, const std::string& name,
                         const Canvas& canvas) {
  const std::optional<MapChart> chart = map_chart(result, backend, map);
  return chart ? write_map_chart(*chart, name, canvas) : PlotFiles{};
}

PlotFiles write_map_chart(const MapChart& chart, const std::string& name, const Canvas& canvas) {
  Picture picture{.name = name,
                  .title = chart.title,
                  .size = canvas.size_or({}),
                  .x_label = chart.x_label,
                  .y_label = chart.y_label,
                  .right_label = chart.label,
                  .data = data_text(chart),
                  .settings = "unset grid\n",
                  .curves = {"data using 1:2:($1-0.49):($1+0.49):($2-0.49):($2+0.49):3 with "
                             "boxxyerror fs solid noborder lc palette notitle"}};
  const PlotAxis rows = thinned_upwards(axis_of(chart.rows), frame_of(picture).height());
  picture.left = label_width(rows) + 22;
  picture.right = color_box_width(chart.colors);
  const double width = frame_of(picture).width();
  picture.settings += gnuplot_axis("x", thinned(axis_of(chart.columns), width)) +
                      gnuplot_axis("y", rows) + color_box(chart.colors, picture);
  if (numbers_fit(chart, width)) {
    picture.curves.emplace_back("data using 1:2:4 with labels notitle");
  }
  return write_picture(picture, canvas);
}

}  // namespace howard::reports
