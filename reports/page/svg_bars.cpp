// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
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
constexpr double kHeadings = 22;  ///< The height of the row of headings.
constexpr double kLetter = 7;     ///< The width of most letters, in units.
constexpr double kBetweenCells = 14;

double text_width(std::string_view words) {
  return kLetter * static_cast<double>(display_width(words));
}

/// Says where names end, where bars end and where each column of numbers ends.
struct BarColumns {
  double names = 0;
  double bars = 0;
  std::vector<double> cells;

  explicit BarColumns(const BarPicture& picture) {
    // A long name is cut, because the bars need room; the page shows all of it on its hint.
    constexpr double kMostNames = 300;
    for (const BarRow& row : picture.rows) names = std::max(names, text_width(row.name));
    names = std::min(names, kMostNames) + kBetweenCells;
    double left = kSvgWidth;
    std::vector<double> widths;
    for (std::size_t i = 0; i < picture.headings.size(); ++i) {
      double widest = text_width(picture.headings[i]);
      for (const BarRow& row : picture.rows) widest = std::max(widest, text_width(row.cells[i]));
      widths.push_back(widest + kBetweenCells);
      left -= widths.back();
    }
    bars = left - kBetweenCells / 2;
    for (const double width : widths) cells.push_back(left += width);
  }
  double room() const { return bars - names; }
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
    return columns.names + columns.room() * std::min(value / picture.longest, 1.0);
  };
  std::string text;
  double begin = 0;
  for (std::size_t i = 0; i < row.ends.size(); ++i) {
    const double wide = place(row.ends[i]) - place(begin);
    if (wide > 0) {
      const BarPart& part = picture.parts[i];
      text += fmt::format(
          "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{}\" fill=\"{}\">{}</rect>\n",
          place(begin), top, wide, kBarHeight, svg_color(part.color),
          svg_hint(fmt::format("{}: {} {}", row.name,
                               part.title.empty() ? picture.label : part.title,
                               format_exact(row.ends[i] - begin))));
    }
    begin = row.ends[i];
  }
  if (picture.is_cut(row)) text += break_at(columns.bars, top);
  if (row.published && *row.published <= picture.longest) {
    text += svg_diamond(place(*row.published), top + kBarHeight / 2, "var(--text)",
                        "published: " + format_exact(*row.published));
  }
  return text;
}

/// Returns the axis below the bars and the lines of its marks behind them.
std::string marks_of(const BarPicture& picture, const BarColumns& columns, double bottom) {
  std::string text = "<g class=\"axes\">\n";
  for (const double mark : linear_marks(0, picture.longest, columns.room())) {
    const double x = columns.names + columns.room() * mark / picture.longest;
    text +=
        fmt::format("<line class=\"grid\" x1=\"{0:.1f}\" x2=\"{0:.1f}\" y1=\"{1}\" y2=\"{2}\"/>\n",
                    x, kHeadings, bottom);
    text += svg_text(x, bottom + 16, "middle", format_exact(mark));
  }
  text += svg_text(columns.names + columns.room() / 2, bottom + 36, "middle", picture.label);
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
  return keys;
}

}  // namespace

std::string svg_bars(const BarPicture& bars) {
  if (bars.rows.empty() || !(bars.longest > 0)) return "";
  const BarColumns columns(bars);
  const double bottom = kHeadings + kBarRow * static_cast<double>(bars.rows.size()) + 4;
  std::string drawing = marks_of(bars, columns, bottom);
  for (std::size_t i = 0; i < bars.headings.size(); ++i) {
    drawing +=
        fmt::format("<text class=\"head\" x=\"{:.1f}\" y=\"15\" text-anchor=\"end\">{}</text>\n",
                    columns.cells[i], html_text(bars.headings[i]));
  }
  double top = kHeadings + 4;
  for (const BarRow& row : bars.rows) {
    drawing += svg_text(
        columns.names - kBetweenCells / 2, top + 13, "end",
        shortened(row.name, static_cast<std::size_t>((columns.names - kBetweenCells) / kLetter)));
    drawing += bar_of(row, bars, columns, top);
    for (std::size_t i = 0; i < row.cells.size(); ++i) {
      drawing += svg_text(columns.cells[i], top + 13, "end", row.cells[i]);
    }
    top += kBarRow;
  }
  if (bars.line && *bars.line <= bars.longest) {
    const double x = columns.names + columns.room() * *bars.line / bars.longest;
    drawing += fmt::format(
        "<line class=\"compared\" x1=\"{0:.1f}\" x2=\"{0:.1f}\" y1=\"{1}\" y2=\"{2}\"/>\n", x,
        kHeadings, bottom);
  }
  return svg_figure(bars.title, bottom + 46, drawing, svg_legend(keys_of(bars)));
}

std::string svg_stack(const StackChart& chart) {
  if (chart.columns.empty()) return "";
  const SvgFrame frame;
  std::string drawing = svg_axes(frame, chart.x, chart.y, chart.x_label, chart.y_label);
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
        drawing += fmt::format(
            "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" "
            "fill=\"{}\">{}</rect>\n",
            left, top, wide, high, svg_color(chart.parts[part].color),
            svg_hint(fmt::format("{:.4g} to {:.4g}: {} {:.1f}", from, from + chart.width,
                                 chart.parts[part].title, end - begin)));
      }
      begin = end;
    }
  }
  std::vector<SvgKey> keys;
  for (const BarPart& part : chart.parts) {
    keys.push_back(
        {.kind = SvgKey::Kind::box, .title = part.title, .color = svg_color(part.color)});
  }
  return svg_figure(chart.title, frame.height(), drawing, svg_legend(keys));
}

}  // namespace howard::reports
