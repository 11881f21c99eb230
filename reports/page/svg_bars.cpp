// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "reports/page/html.h"
#include "reports/page/svg.h"
#include "reports/page/svg_chart.h"
#include "reports/pictures/axis_marks.h"
#include "reports/pictures/palette.h"
#include "reports/tables/cell_text.h"
#include "reports/tables/format.h"

namespace howard::reports {
namespace {

constexpr double kBarRow = 26;  ///< The distance from a bar to the next.
constexpr double kBarHeight = 18;
constexpr double kNameLine = 18;  ///< The height of a name above its bar.
constexpr double kHeadings = 22;  ///< The height of the row of headings.
constexpr double kLetter = 7;     ///< The width of most letters, in units.
constexpr double kBetweenCells = 14;

double text_width(std::string_view words) {
  return kLetter * static_cast<double>(display_width(words));
}

/// Says where names, bars and columns of numbers are: beside each other, or, in a narrow drawing,
/// with the names and those numbers that have room in a line above each bar.
struct BarColumns {
  bool above = false;
  double width;                ///< Of the drawing.
  double names = 0;            ///< The room of a name.
  double left = 0, right = 0;  ///< Of the longest bar.
  std::vector<double> cells;   ///< The ends of the columns.

  BarColumns(const BarPicture& picture, double wide) : above(wide < kSvgWidth), width(wide) {
    // A long name is cut, because the bars need room; the page shows all of it on its hint.
    constexpr double kMostNames = 300;
    for (const BarRow& row : picture.rows) names = std::max(names, text_width(row.name));
    names = std::min(names, kMostNames);
    std::vector<double> widths;
    double all = 0;
    for (std::size_t i = 0; i < picture.headings.size(); ++i) {
      double widest = text_width(picture.headings[i]);
      for (const BarRow& row : picture.rows) widest = std::max(widest, text_width(row.cells[i]));
      widest += kBetweenCells;
      if (above && i > 0 && names + all + widest > width) break;
      widths.push_back(widest);
      all += widest;
    }
    left = above ? kBetweenCells : names + kBetweenCells;
    right = above ? width - kBetweenCells : width - all - kBetweenCells / 2;
    if (above) names = std::min(names, width - all - kBetweenCells / 2);
    double end = width - all;
    for (const double cell : widths) cells.push_back(end += cell);
  }
  double room() const { return right - left; }
  double row() const { return above ? kBarRow + kNameLine : kBarRow; }
  /// Returns how far below the top of its row a bar begins.
  double bar() const { return above ? kNameLine : 0; }
};

/// Returns two slanted lines through the end of a bar that is cut.
std::string break_at(double right, double top) {
  std::string text;
  for (const double from_end : {20.0, 12.0}) {
    text += fmt::format("<path class=\"break\" d=\"M{:.1f} {:.1f}l6 -{}\"/>\n", right - from_end,
                        top + kBarHeight + 2, kBarHeight + 4);
  }
  return text;
}

std::string bar_of(const BarRow& row, const BarPicture& picture, const BarColumns& columns,
                   double top) {
  const auto place = [&](double value) {
    return columns.left + columns.room() * std::min(value / picture.longest, 1.0);
  };
  std::string text;
  double begin = 0;
  for (std::size_t i = 0; i < row.ends.size(); ++i) {
    const double wide = place(row.ends[i]) - place(begin);
    if (wide > 0) {
      const BarPart& part = picture.parts[i];
      text += fmt::format(
          "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{}\" "
          "fill=\"{}\"{}>{}</rect>\n",
          place(begin), top, wide, kBarHeight, svg_color(part.color),
          row.pale ? fmt::format(" fill-opacity=\"{}\"", kPaleShare) : "",
          svg_hint(fmt::format("{}: {}{} {:.5g}", row.name,
                               part.title.empty() ? "" : part.title + ", ", picture.label,
                               row.ends[i] - begin)));
    }
    begin = row.ends[i];
  }
  if (picture.is_cut(row)) text += break_at(columns.right, top);
  if (row.published && *row.published <= picture.longest) {
    text += svg_diamond(
        place(*row.published), top + kBarHeight / 2, "var(--text)",
        fmt::format("{}: published, {} {:.5g}", row.name, picture.label, *row.published));
  }
  return text;
}

/// Returns the axis below the bars and the lines of its marks behind them.
std::string marks_of(const BarPicture& picture, const BarColumns& columns, double bottom) {
  std::string text = "<g class=\"axes\">\n";
  for (const double mark : linear_marks(0, picture.longest, columns.room())) {
    const double x = columns.left + columns.room() * mark / picture.longest;
    text +=
        fmt::format("<line class=\"grid\" x1=\"{0:.1f}\" x2=\"{0:.1f}\" y1=\"{1}\" y2=\"{2}\"/>\n",
                    x, kHeadings, bottom);
    text += svg_text(x, bottom + 16, "middle", format_exact(mark));
  }
  text += svg_text(columns.left + columns.room() / 2, bottom + 36, "middle", picture.label);
  return text + "</g>\n";
}

std::vector<SvgKey> keys_of(const BarPicture& picture) {
  std::vector<SvgKey> keys;
  for (std::size_t i = 0; i < picture.parts.size(); ++i) {
    const auto& [title, color] = picture.parts[i];
    if (title.empty() || !picture.is_drawn(i)) continue;
    keys.push_back({.kind = SvgKey::Kind::box, .title = title, .color = svg_color(color)});
  }
  if (picture.has_published()) {
    keys.push_back({.kind = SvgKey::Kind::diamond, .title = "published", .color = "var(--text)"});
  }
  if (picture.has_pale()) {
    keys.push_back({.kind = SvgKey::Kind::box,
                    .title = "pale: " + picture.pale,
                    .color = std::string(kPaleColor)});
  }
  return keys;
}

SvgDrawing bars_of(const BarPicture& bars, double width) {
  const BarColumns columns(bars, width);
  const double bottom = kHeadings + columns.row() * static_cast<double>(bars.rows.size()) + 4;
  std::string shapes = marks_of(bars, columns, bottom);
  for (std::size_t i = 0; i < columns.cells.size(); ++i) {
    shapes +=
        fmt::format("<text class=\"head\" x=\"{:.1f}\" y=\"15\" text-anchor=\"end\">{}</text>\n",
                    columns.cells[i], html_text(bars.headings[i]));
  }
  double top = kHeadings + 4;
  for (const BarRow& row : bars.rows) {
    shapes += svg_text(columns.above ? 0 : columns.names + kBetweenCells / 2, top + 13,
                       columns.above ? "start" : "end",
                       shortened(row.name, static_cast<std::size_t>(columns.names / kLetter)));
    shapes += bar_of(row, bars, columns, top + columns.bar());
    for (std::size_t i = 0; i < columns.cells.size(); ++i) {
      if (!row.cells[i].empty())
        shapes += svg_text(columns.cells[i], top + 13, "end", row.cells[i]);
    }
    top += columns.row();
  }
  if (bars.line && *bars.line <= bars.longest) {
    const double x = columns.left + columns.room() * *bars.line / bars.longest;
    shapes += fmt::format(
        "<line class=\"compared\" x1=\"{0:.1f}\" x2=\"{0:.1f}\" y1=\"{1}\" y2=\"{2}\"/>\n", x,
        kHeadings, bottom);
  }
  return {bottom + 46, std::move(shapes)};
}

SvgDrawing stack_of(const StackChart& chart, double width) {
  const SvgFrame frame(width);
  std::string shapes = svg_axes(frame, chart.x, chart.y, chart.x_label, chart.y_label);
  for (std::size_t i = 0; i < chart.columns.size(); ++i) {
    const double from = chart.width * static_cast<double>(i);
    const double left = frame.x(chart.x, from);
    const double wide = frame.x(chart.x, from + chart.width) - left;
    double begin = 0;
    for (std::size_t part = 0; part < chart.columns[i].size(); ++part) {
      const double end = chart.columns[i][part];
      const double top = frame.y(chart.y, end);
      const double high = frame.y(chart.y, begin) - top;
      if (high > 0) {
        shapes += fmt::format(
            "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" "
            "fill=\"{}\">{}</rect>\n",
            left, top, wide, high, svg_color(chart.parts[part].color),
            svg_hint(fmt::format("{} {:.4g} to {:.4g}: {}, {} {:.5g}", chart.x_label, from,
                                 from + chart.width, chart.parts[part].title, chart.y_label,
                                 end - begin)));
      }
      begin = end;
    }
  }
  return {frame.height(), std::move(shapes)};
}

}  // namespace

std::string svg_bars(const BarPicture& bars) {
  if (bars.rows.empty() || !(bars.longest > 0)) return "";
  return svg_figure_of(
      bars.title, [&](double width) { return bars_of(bars, width); }, svg_legend(keys_of(bars)));
}

std::string svg_stack(const StackChart& chart) {
  if (chart.columns.empty()) return "";
  std::vector<SvgKey> keys;
  for (const BarPart& part : chart.parts) {
    keys.push_back(
        {.kind = SvgKey::Kind::box, .title = part.title, .color = svg_color(part.color)});
  }
  return svg_figure_of(
      chart.title, [&](double width) { return stack_of(chart, width); }, svg_legend(keys));
}

}  // namespace howard::reports
