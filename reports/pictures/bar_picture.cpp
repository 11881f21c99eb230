// SPDX-License-Identifier: Apache-2.0
#include "reports/pictures/bar_picture.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <string_view>

#include "reports/pictures/axis_marks.h"
#include "reports/pictures/frame.h"
#include "reports/pictures/palette.h"
#include "reports/tables/cell_text.h"
#include "reports/tables/format.h"

namespace howard::reports {
namespace {

constexpr double kTextGap = 12;  ///< Pixels between columns of text.
std::string published_mark() {
  return fmt::format("lc rgb '#222222' lw 2 {} ps 1.6", kPublishedPoint);
}

/// Says where names, bars and numbers stand: in columns beside each other, or, if that left the
/// bars less than half of the width, with the names and the numbers in a line above each bar.
struct BarLayout {
  bool above = false;
  int width = 0;               ///< The picture's.
  std::size_t columns = 0;     ///< The headings that have room; the first ones.
  std::vector<double> widths;  ///< Pixels of each column of numbers, including a gap.
  double left = 0, right = 0;  ///< Pixels beside the plot.
  double row = 0;              ///< The distance from a bar to the next, in pixels.
  std::vector<std::vector<std::string>> names;  ///< The lines of each.

  BarLayout(const BarPicture& bars, const Canvas& canvas);
  /// Returns the pixels of all columns of numbers together.
  double cells() const {
    return std::accumulate(widths.begin(), widths.begin() + static_cast<std::ptrdiff_t>(columns),
                           kTextGap);
  }
  /// Returns the lines that the longest name takes above its bar.
  double lines() const {
    std::size_t most = 1;
    for (const std::vector<std::string>& name : names) most = std::max(most, name.size());
    return static_cast<double>(most);
  }
  /// Says where the text of a bar and its upper and lower end are, in rows from its place: texts
  /// that stand above it end there.
  double text_at() const { return above ? -7 / row : 0; }
  double begins() const { return above ? 3 / row : -std::min(0.36, 14 / row); }
  double ends() const { return above ? 1 - (kLine * lines() + 4) / row : -begins(); }

 private:
  static constexpr double kLine = 17;  ///< The height of a line above a bar.

  void put_above(const BarPicture& bars);
};

BarLayout::BarLayout(const BarPicture& bars, const Canvas& canvas) : columns(bars.headings.size()) {
  constexpr double kLeastWidth = 900;
  constexpr double kMostWidth = 1200;
  constexpr double kLeastRow = 19;
  constexpr double kUsualRow = 24;
  constexpr double kThick = 48;
  constexpr double kBar = 17;
  double widest = 0;
  for (const BarRow& bar : bars.rows) {
    names.push_back({printable(bar.name)});
    widest = std::max(widest, drawn_width(bar.name));
  }
  for (std::size_t i = 0; i < columns; ++i) {
    double cell = drawn_width(bars.headings[i]);
    for (const BarRow& bar : bars.rows) cell = std::max(cell, drawn_width(bar.cells[i]));
    widths.push_back(cell + kTextGap);
  }
  left = widest + 2 * kTextGap;
  right = cells();
  width =
      canvas.size
          ? canvas.size->width
          : static_cast<int>(std::clamp(std::ceil(2 * (left + right)), kLeastWidth, kMostWidth));
  above = 2 * (left + right) > width;
  if (above) put_above(bars);
  // Few bars are thick, and many are as thin as their names allow.
  const double rows = static_cast<double>(bars.rows.size());
  constexpr double kAround = 160;  // title, axis and legend
  const double roomy = canvas.size ? (canvas.size->height - kAround) / (rows + 1.1)
                                   : std::min(600 / (rows + 4), kThick);
  row = std::max(roomy, above ? kLine * lines() + kBar : canvas.size ? kLeastRow : kUsualRow);
}

void BarLayout::put_above(const BarPicture& bars) {
  left = kTextGap;
  right = 2 * kTextGap;
  double widest = 0;
  for (const BarRow& bar : bars.rows) widest = std::max(widest, drawn_width(bar.name));
  while (columns > 1 && widest + kTextGap + cells() > width) --columns;
  // A heading is above the names.
  double numbers = 0;
  for (const BarRow& bar : bars.rows) {
    if (columns > 0) numbers = std::max(numbers, drawn_width(bar.cells.front()));
  }
  const double room = width - kTextGap - (columns > 1 ? cells() : numbers + 2 * kTextGap);
  for (std::size_t i = 0; i < names.size(); ++i) names[i] = lines_within(bars.rows[i].name, room);
}

std::string data_text(const BarPicture& bars) {
  std::string text = "# columns: bar | end of each part | published; ? is none | 1 if it is pale\n";
  for (const BarRow& row : bars.rows) {
    text += gnuplot_word(row.name);
    // Ends are sums, so their last digits are rounding.
    for (const double end : row.ends) text += fmt::format(" {:.10g}", end);
    text += fmt::format(" {} {}\n", row.published ? format_exact(*row.published) : "?",
                        row.pale ? 1 : 0);
  }
  return text;
}

/// Returns the names, right-aligned beside their bars or left-aligned above them, and the table of
/// numbers with its headings above the first bar.
std::string texts_of(const BarPicture& bars, const BarLayout& layout) {
  std::string text;
  const auto put = [&](std::string_view word, double x, double row, std::string_view align,
                       std::string_view color) {
    if (word.empty()) return;
    text += fmt::format("set label {} at screen {:.5g}, first {:.4g} {} textcolor rgb '{}'\n",
                        gnuplot_string(word), x / layout.width, row, align, color);
  };
  constexpr std::string_view kBlack = "#000000";
  constexpr double kLine = 17;
  const double heading =
      layout.above ? layout.text_at() - (kLine * layout.lines() + 4) / layout.row : -1;
  for (std::size_t row = 0; row < bars.rows.size(); ++row) {
    const std::vector<std::string>& lines = layout.names[row];
    for (std::size_t i = 0; i < lines.size(); ++i) {
      const double up = kLine * static_cast<double>(lines.size() - 1 - i) / layout.row;
      put(lines[i], layout.above ? kTextGap : layout.left - kTextGap,
          static_cast<double>(row) + layout.text_at() - up, layout.above ? "left" : "right",
          kBlack);
    }
  }
  double right = layout.width - layout.cells();
  for (std::size_t i = 0; i < layout.columns; ++i) {
    right += layout.widths[i];
    put(bars.headings[i], right, heading, "right", "#666666");
    for (std::size_t row = 0; row < bars.rows.size(); ++row) {
      put(bars.rows[row].cells[i], right, static_cast<double>(row) + layout.text_at(), "right",
          kBlack);
    }
  }
  return text;
}

/// Returns two slanted white lines through the end of each bar that is cut.
std::string breaks_text(const BarPicture& bars, const BarLayout& layout) {
  std::string text;
  for (std::size_t row = 0; row < bars.rows.size(); ++row) {
    if (!bars.is_cut(bars.rows[row])) continue;
    for (const double place : {0.955, 0.97}) {
      text += fmt::format(
          "set arrow from {:.6g}, {:.2f} to {:.6g}, {:.2f} nohead front lw 3 lc rgb '#ffffff'\n",
          (place - 0.006) * bars.longest, static_cast<double>(row) + layout.ends() + 0.05,
          (place + 0.006) * bars.longest, static_cast<double>(row) + layout.begins() - 0.05);
    }
  }
  return text;
}

std::vector<LegendEntry> legend_of(const BarPicture& bars) {
  std::vector<LegendEntry> entries;
  for (std::size_t i = 0; i < bars.parts.size(); ++i) {
    const auto& [title, color] = bars.parts[i];
    if (!title.empty() && bars.is_drawn(i)) entries.push_back({.title = title, .box = color});
  }
  if (bars.has_published()) {
    entries.push_back({.title = "published", .point = published_mark()});
  }
  if (bars.has_pale()) {
    entries.push_back({.title = "pale: " + bars.pale, .box = std::string(kPaleColor)});
  }
  return entries;
}

std::vector<std::string> curves(const BarPicture& bars, const BarLayout& layout) {
  std::vector<std::string> list;
  const std::size_t published = bars.parts.size() + 2;
  const auto part = [&](std::size_t i, bool pale) {
    list.push_back(fmt::format(
        "data using (${0}=={1} ? 0 : NaN):0:{2}:{3}:($0{4:+.3g}):($0{5:+.3g}) with boxxyerror fs "
        "solid {6} noborder {7} notitle",
        published + 1, pale ? 1 : 0, i == 0 ? "(0)" : std::to_string(i + 1), i + 2, layout.begins(),
        layout.ends(), pale ? kPaleShare : 1.0, gnuplot_color(bars.parts[i].color)));
  };
  for (std::size_t i = 0; i < bars.parts.size(); ++i) {
    if (!bars.is_drawn(i)) continue;
    part(i, false);
    if (bars.has_pale()) part(i, true);
  }
  if (bars.has_published()) {
    list.push_back(fmt::format("data using {}:($0{:+.3g}) with points {} notitle", published,
                               (layout.begins() + layout.ends()) / 2, published_mark()));
  }
  return list;
}

}  // namespace

bool BarPicture::is_cut(const BarRow& row) const {
  // Parts add up to the whole but for rounding.
  return row.ends.back() > longest * (1 + 1e-9);
}

bool BarPicture::is_drawn(std::size_t part) const {
  return std::ranges::any_of(rows, [&](const BarRow& row) {
    return row.ends[part] > (part == 0 ? 0 : row.ends[part - 1]);
  });
}

bool BarPicture::has_pale() const { return std::ranges::any_of(rows, &BarRow::pale); }

bool BarPicture::has_published() const {
  return std::ranges::any_of(rows, [](const BarRow& row) { return row.published.has_value(); });
}

double longest_drawn(std::vector<double> lengths) {
  constexpr double kFar = 4;
  constexpr double kRoom = 2.5;
  std::ranges::sort(lengths);
  const double usual = lengths[(lengths.size() - 1) * 3 / 4];
  return lengths.back() > kFar * usual ? kRoom * usual : lengths.back();
}

PlotFiles write_bars(const BarPicture& bars, const Canvas& canvas) {
  const BarLayout layout(bars, canvas);
  const double rows = static_cast<double>(bars.rows.size());
  Picture picture{.name = bars.name,
                  .title = bars.title,
                  .size = {.width = layout.width, .height = canvas.size_or({}).height},
                  .x_label = bars.label,
                  .legend = legend_of(bars),
                  .left = layout.left,
                  .right = layout.right,
                  .plot_height = (rows + 1.1) * layout.row,
                  .data = data_text(bars)};
  // Only a size that was asked for keeps a picture of few rows high.
  if (!canvas.size) picture.size.height = 0;
  const double room = layout.width - layout.left - layout.right;
  // There is room for a mark at the end of the longest bar, and for a row of headings above the
  // first bar.
  picture.settings = fmt::format(
      "set xrange [0:{:.6g}]\nset xtics ({:.10g})\nset yrange [{:.6g}:{:.3g}]\n"
      "unset ytics\nset grid noytics\n",
      1.03 * bars.longest, fmt::join(linear_marks(0, bars.longest, room), ", "), rows - 0.4,
      layout.above ? -1.3 : -1.5);
  picture.settings += texts_of(bars, layout) + breaks_text(bars, layout);
  if (bars.line) {
    picture.settings += fmt::format(
        "set arrow from {0:.6g}, graph 0 to {0:.6g}, graph 1 nohead dt 2 lc rgb '#000000' front\n",
        *bars.line);
  }
  picture.curves = curves(bars, layout);
  return write_picture(picture, canvas);
}

}  // namespace howard::reports
