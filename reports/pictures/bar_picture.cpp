// SPDX-License-Identifier: Apache-2.0
#include "reports/pictures/bar_picture.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>

#include "reports/pictures/axis_marks.h"
#include "reports/tables/cell_text.h"
#include "reports/tables/format.h"

namespace howard::reports {
namespace {

constexpr double kHalf = 0.36;   ///< Half of a bar's thickness, in rows.
constexpr double kTextGap = 12;  ///< Pixels between columns of text.

double width_of(std::string_view text) {
  return kLetterWidth * static_cast<double>(display_width(text));
}

/// Few bars are thick, and many are as thin as their names allow.
PictureSize size_of(std::size_t rows) {
  constexpr int kAround = 160;  // for title, legend and axis
  const int count = static_cast<int>(rows);
  const int roomy = std::clamp(kAround + 48 * count, 300, 600);
  return {.height = std::max(roomy, kAround + 24 * count)};
}

/// Holds the columns of words at the right, with the heading of each.
struct Columns {
  std::vector<double> widths;  ///< Pixels, including a gap.
  double total = kTextGap;

  explicit Columns(const BarPicture& bars) {
    for (std::size_t i = 0; i < bars.headings.size(); ++i) {
      double widest = width_of(bars.headings[i]);
      for (const BarRow& row : bars.rows) widest = std::max(widest, width_of(row.cells[i]));
      widths.push_back(widest + kTextGap);
      total += widths.back();
    }
  }
};

double left_margin(const BarPicture& bars) {
  double widest = 0;
  for (const BarRow& row : bars.rows) widest = std::max(widest, width_of(row.name));
  return widest + 2 * kTextGap;
}

std::string data_text(const BarPicture& bars) {
  std::string text = "# columns: bar | end of each part | published; ? is none\n";
  for (const BarRow& row : bars.rows) {
    text += gnuplot_word(row.name);
    // Ends are sums, so their last digits are rounding.
    for (const double end : row.ends) text += fmt::format(" {:.10g}", end);
    text += fmt::format(" {}\n", row.published ? format_exact(*row.published) : "?");
  }
  return text;
}

/// Returns the table at the right, right-aligned, with its headings above the first bar.
std::string cells_text(const BarPicture& bars, const Columns& columns, double left,
                       const PictureSize& size) {
  std::string text;
  double right = size.width - columns.total + kTextGap;
  for (std::size_t i = 0; i < bars.headings.size(); ++i) {
    right += columns.widths[i];
    const auto put = [&](const std::string& word, std::string_view row, std::string_view color) {
      if (word.empty()) return;
      text += fmt::format("set label {} at screen {:.5g}, first {} right textcolor rgb '{}'\n",
                          gnuplot_string(word), (right - kTextGap) / size.width, row, color);
    };
    put(bars.headings[i], "-1", "#666666");
    for (std::size_t row = 0; row < bars.rows.size(); ++row) {
      put(bars.rows[row].cells[i], std::to_string(row), "#000000");
    }
  }
  return text + fmt::format("set lmargin at screen {:.5g}\nset rmargin at screen {:.5g}\n",
                            left / size.width, (size.width - columns.total) / size.width);
}

/// Returns two slanted white lines through the end of each bar that is cut.
std::string breaks_text(const BarPicture& bars) {
  std::string text;
  for (std::size_t row = 0; row < bars.rows.size(); ++row) {
    if (!bars.is_cut(bars.rows[row])) continue;
    for (const double place : {0.955, 0.97}) {
      text += fmt::format(
          "set arrow from {:.6g}, {:.2f} to {:.6g}, {:.2f} nohead front lw 3 lc rgb '#ffffff'\n",
          (place - 0.006) * bars.longest, static_cast<double>(row) + 0.45,
          (place + 0.006) * bars.longest, static_cast<double>(row) - 0.45);
    }
  }
  return text;
}

constexpr std::string_view kPublishedMark = "lc rgb '#222222' lw 2 pt 6 ps 1.6";

/// Returns the legend in as few lines below the axis as the width of the picture allows. gnuplot's
/// own legend has the width of the plot, so in a narrow picture most of the width would be empty.
std::string legend_text(const BarPicture& bars, const PictureSize& size) {
  constexpr double kBox = 24;
  struct Entry {
    std::string title, color;  ///< If it has no colour, it is the mark of a published figure.
  };
  std::vector<Entry> entries;
  for (std::size_t i = 0; i < bars.parts.size(); ++i) {
    const auto& [title, color] = bars.parts[i];
    if (!title.empty() && bars.is_drawn(i)) entries.push_back({title, color});
  }
  if (bars.has_published()) entries.push_back({"published", ""});
  const auto width = [&](const Entry& entry) {
    return kBox + kTextGap / 2 + width_of(entry.title) + 2 * kTextGap;
  };
  std::vector<std::vector<Entry>> lines;
  double used = size.width;
  for (const Entry& entry : entries) {
    if (used + width(entry) > size.width - 2 * kTextGap) {
      lines.emplace_back();
      used = 0;
    }
    used += width(entry);
    lines.back().push_back(entry);
  }
  std::string text = "unset key\n";
  double y = kTextGap + kLineHeight * static_cast<double>(lines.size()) - kLineHeight / 2;
  for (const std::vector<Entry>& line : lines) {
    double x = size.width;
    for (const Entry& entry : line) x -= width(entry);
    x = x / 2 + kTextGap;
    for (const Entry& entry : line) {
      const double left = x / size.width;
      const double right = (x + kBox) / size.width;
      if (entry.color.empty()) {
        text += fmt::format("set label '' at screen {:.5g}, screen {:.5g} point {}\n",
                            (left + right) / 2, y / size.height, kPublishedMark);
      } else {
        text += fmt::format(
            "set object rectangle from screen {:.5g}, screen {:.5g} to screen {:.5g}, screen "
            "{:.5g} f{} fs solid 0.9 noborder\n",
            left, (y - 5) / size.height, right, (y + 5) / size.height,
            gnuplot_color(entry.color).substr(1));
      }
      text += fmt::format("set label {} at screen {:.5g}, screen {:.5g} left\n",
                          gnuplot_string(entry.title), (x + kBox + kTextGap / 2) / size.width,
                          y / size.height);
      x += width(entry);
    }
    y -= kLineHeight;
  }
  constexpr double kAxis = 62;  // for its marks and its label
  return text + fmt::format("set bmargin at screen {:.5g}\n",
                            (kAxis + kTextGap + kLineHeight * static_cast<double>(lines.size())) /
                                size.height);
}

std::vector<std::string> curves(const BarPicture& bars) {
  std::vector<std::string> list;
  for (std::size_t i = 0; i < bars.parts.size(); ++i) {
    if (!bars.is_drawn(i)) continue;
    list.push_back(fmt::format(
        "data using (0):0:{0}:{1}:($0-{2}):($0+{2}):ytic(1) with boxxyerror fs solid 0.9 noborder "
        "{3} notitle",
        i == 0 ? "(0)" : std::to_string(i + 1), i + 2, kHalf, gnuplot_color(bars.parts[i].color)));
  }
  if (bars.has_published()) {
    list.push_back(fmt::format("data using {}:0 with points {} notitle", bars.parts.size() + 2,
                               kPublishedMark));
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

bool BarPicture::has_published() const {
  return std::ranges::any_of(rows, [](const BarRow& row) { return row.published.has_value(); });
}

double longest_drawn(std::vector<double> lengths) {
  constexpr double kFar = 6;
  constexpr double kRoom = 2.5;
  std::ranges::sort(lengths);
  const double usual = lengths[(lengths.size() - 1) * 3 / 4];
  return lengths.back() > kFar * usual ? kRoom * usual : lengths.back();
}

PlotFiles write_bars(const BarPicture& bars, const Canvas& canvas) {
  const PictureSize size = canvas.size_or(size_of(bars.rows.size()));
  Picture picture{.name = bars.name, .title = bars.title, .size = size, .data = data_text(bars)};
  // There is room for a mark at the end of the longest bar, and for a row of headings above the
  // first bar.
  const double room = size.width - left_margin(bars) - Columns(bars).total;
  picture.settings = fmt::format(
      "set xlabel {}\nset xrange [0:{:.6g}]\nset xtics ({:.10g})\nset yrange [{}:-1.5]\n"
      "set grid noytics\nset tics scale 0.5\n",
      gnuplot_string(bars.label), 1.03 * bars.longest,
      fmt::join(linear_marks(0, bars.longest, room), ", "),
      static_cast<double>(bars.rows.size()) - 0.4);
  picture.settings += cells_text(bars, Columns(bars), left_margin(bars), size) + breaks_text(bars) +
                      legend_text(bars, size);
  if (bars.line) {
    picture.settings += fmt::format(
        "set arrow from {0:.6g}, graph 0 to {0:.6g}, graph 1 nohead dt 2 lc rgb '#000000' front\n",
        *bars.line);
  }
  picture.curves = curves(bars);
  return write_picture(picture, canvas);
}

}  // namespace howard::reports
