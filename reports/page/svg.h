// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "reports/pictures/plot_axes.h"

namespace howard::reports {

/// These are the pieces of which charts on the page are made. Text and axes take the colours of the
/// page.

/// A chart is drawn twice, so many units wide, and the page shows one of the drawings as wide as
/// its window allows: letters are as large as those beside it on a desk and on a phone.
constexpr double kSvgWidth = 880;
constexpr double kSvgPhoneWidth = 400;
/// The room that the labels of a chart's axes have on a desk, across and upwards.
constexpr double kChartAcross = 760;
constexpr double kChartUp = 330;

struct SvgDrawing {
  double height = 0;  ///< In the same units as the width.
  std::string shapes;
};

/// Returns a figure with its title above and its legend below.
std::string svg_figure(const std::string& title, const SvgDrawing& desk, const SvgDrawing& phone,
                       const std::string& legend = "");

/// Returns the figure with the drawings that `draw` makes for a width.
template <class Draw>
std::string svg_figure_of(const std::string& title, Draw draw, const std::string& legend = "") {
  return svg_figure(title, draw(kSvgWidth), draw(kSvgPhoneWidth), legend);
}

/// Returns words at a place; `anchor` is "start", "middle" or "end".
std::string svg_text(double x, double y, std::string_view anchor, std::string_view words);

/// Returns what a mark says when the pointer rests on it.
std::string svg_hint(std::string_view words);

/// Returns a colour of palette.h as the page shows it: black is the colour of its text, which can
/// be seen on dark pages as well.
std::string svg_color(std::string_view color);

/// Returns "7 4" for the dashes of line_dashes(), or "none".
std::string svg_dashes(std::size_t number);

/// Returns an open diamond around a place: a published figure.
std::string svg_diamond(double x, double y, std::string_view color, std::string_view hint);

/// Holds the rectangle between the axes of a chart.
struct SvgFrame {
  double width = kSvgWidth;
  double left = 80, right = kSvgWidth - 20, top = 12, bottom = 360;

  SvgFrame() = default;
  explicit SvgFrame(double wide) : width(wide), right(wide - 20) {
    if (wide < kSvgWidth) left = 68;
  }

  double x(const PlotAxis& axis, double value) const {
    return left + axis.place(value) * (right - left);
  }
  double y(const PlotAxis& axis, double value) const {
    return bottom - axis.place(value) * (bottom - top);
  }
  /// Returns the height of a chart with this frame and its axes.
  double height() const { return bottom + 48; }
};

/// Returns the grid, the marks and the labels of both axes.
std::string svg_axes(const SvgFrame& frame, const PlotAxis& x, const PlotAxis& y,
                     const std::string& x_label, const std::string& y_label);

/// Returns shapes within the frame as what a reader can look at more closely: with all that the
/// page needs to draw a part of them larger, under axes of that part.
std::string svg_plot(const SvgFrame& frame, const PlotAxis& x, const PlotAxis& y,
                     const std::string& shapes);

/// Holds an entry of a legend.
struct SvgKey {
  enum class Kind { box, line, dot, diamond };
  Kind kind{};
  std::string title;
  std::string color;  ///< A colour of svg_color().
  std::size_t dashes = 0;
  /// What of the chart a click on the entry shows and hides: the groups of svg_switched() of that
  /// name. If it is empty, the entry is no switch.
  std::string shows{};
};

/// Returns shapes that an entry of the legend shows and hides; as they are if `name` is empty.
std::string svg_switched(std::string_view name, const std::string& shapes);

/// Returns the legend; "" without entries.
std::string svg_legend(const std::vector<SvgKey>& keys);

}  // namespace howard::reports
