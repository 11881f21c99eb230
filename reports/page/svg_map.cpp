// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>

#include "reports/page/html.h"
#include "reports/page/svg.h"
#include "reports/page/svg_chart.h"
#include "reports/pictures/palette.h"

namespace howard::reports {
namespace {

constexpr double kMapTop = 8;
constexpr double kCellHeight = 34;
constexpr double kMapLetter = 7;  ///< The width of most letters, in units.
constexpr double kScale = 90;     ///< The width of the scale of colours and its marks.

/// Returns the colours from the least value to the greatest, upwards, with their marks.
std::string color_scale(const MapChart& chart, double width, double bottom) {
  constexpr int kSteps = 32;
  constexpr double kWide = 14;
  const double left = width - kScale + 16;
  const double step = (bottom - kMapTop) / kSteps;
  std::string text;
  for (int i = 0; i < kSteps; ++i) {
    text += fmt::format(
        "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{}\" height=\"{:.1f}\" fill=\"{}\"/>", left,
        bottom - step * (i + 1), kWide, step + 0.5, map_color((i + 0.5) / kSteps));
  }
  double last = bottom + kCellHeight;
  for (std::size_t i = 0; i < chart.colors.marks.size(); ++i) {
    const double y = bottom - chart.colors.place(chart.colors.marks[i]) * (bottom - kMapTop);
    constexpr double kLine = 14;
    if (last - y < kLine) continue;
    last = y;
    text += svg_text(left + kWide + 4, y + 4, "start", chart.colors.labels[i]);
  }
  return text + "\n";
}

/// Returns the cells, the names of columns and rows and the scale, in a drawing of that width.
SvgDrawing map_of(const MapChart& chart, double width) {
  const double left = width < kSvgWidth ? 66 : 110;
  const double wide =
      (width - left - kScale) / static_cast<double>(std::max<std::size_t>(1, chart.columns.size()));
  const double bottom = kMapTop + kCellHeight * static_cast<double>(chart.rows.size());
  constexpr double kRoomForNumber = 60;
  std::string text;
  for (const MapCell& cell : chart.cells) {
    const double begin = left + wide * static_cast<double>(cell.column);
    const double top = bottom - kCellHeight * static_cast<double>(cell.row + 1);
    text += fmt::format(
        "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{}\" fill=\"{}\">{}</rect>\n",
        begin, top, wide - 1, kCellHeight - 1, map_color(chart.colors.place(cell.value)),
        svg_hint(fmt::format("{} {}, {} {}: {} {}", chart.x_label, chart.columns[cell.column],
                             chart.y_label, chart.rows[cell.row], chart.label, cell.text)));
    if (wide < std::min(kRoomForNumber, kMapLetter * static_cast<double>(cell.text.size() + 1))) {
      continue;
    }
    text += fmt::format(
        "<text class=\"dark\" x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">{}</text>\n",
        begin + wide / 2, top + 21, html_text(cell.text));
  }
  double free = left;
  for (std::size_t i = 0; i < chart.columns.size(); ++i) {
    const double middle = left + wide * (static_cast<double>(i) + 0.5);
    const double half = kMapLetter / 2 * static_cast<double>(chart.columns[i].size());
    if (i > 0 && middle - half < free) continue;
    free = middle + half + kMapLetter;
    text += svg_text(middle, bottom + 18, "middle", chart.columns[i]);
  }
  for (std::size_t i = 0; i < chart.rows.size(); ++i) {
    text += svg_text(left - 8, bottom - kCellHeight * (static_cast<double>(i) + 0.4), "end",
                     chart.rows[i]);
  }
  text += svg_text(left + (width - left - kScale) / 2, bottom + 38, "middle", chart.x_label);
  text += fmt::format(
      "<text transform=\"translate(16 {:.1f}) rotate(-90)\" text-anchor=\"middle\">{}</text>\n",
      (kMapTop + bottom) / 2, html_text(chart.y_label));
  return {bottom + 48, text + color_scale(chart, width, bottom)};
}

}  // namespace

std::string svg_map(const MapChart& chart) {
  return svg_figure_of(fmt::format("{}: {}", chart.title, chart.label),
                       [&](double width) { return map_of(chart, width); });
}

}  // namespace howard::reports
