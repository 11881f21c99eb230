// SPDX-License-Identifier: Apache-2.0
#include "reports/pictures/frame.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>

#include "base/text.h"
#include "reports/tables/cell_text.h"

namespace howard::reports {
namespace {

constexpr double kEdge = 12;    ///< Free pixels at each side of a picture.
constexpr double kSymbol = 28;  ///< The width of a legend's symbol.
constexpr double kBesideSymbol = 6;
constexpr double kBetweenEntries = 22;
constexpr double kBelowTitle = 4;

/// Holds an entry of the legend where it is drawn.
struct PlacedEntry {
  const LegendEntry* entry;
  double x;
  std::size_t line;
};

struct PlacedLegend {
  std::vector<PlacedEntry> entries;
  std::size_t lines = 0;
};

double room_of(const Picture& picture) { return picture.size.width - 2 * kEdge; }

/// Places the entries in one line, or else in columns of one width.
PlacedLegend place(const Picture& picture) {
  PlacedLegend legend;
  double widest = 0;
  double all = 0;
  for (const LegendEntry& entry : picture.legend) {
    const double width = kSymbol + kBesideSymbol + drawn_width(entry.title) + kBetweenEntries;
    widest = std::max(widest, width);
    all += width;
  }
  const double room = room_of(picture) + kBetweenEntries;
  const bool one_line = all <= room;
  const auto columns = static_cast<std::size_t>(std::max(1.0, room / std::max(widest, 1.0)));
  double x = kEdge;
  for (std::size_t i = 0; i < picture.legend.size(); ++i) {
    const LegendEntry& entry = picture.legend[i];
    if (!one_line) x = kEdge + static_cast<double>(i % columns) * widest;
    legend.entries.push_back({&entry, x, one_line ? 0 : i / columns});
    x += kSymbol + kBesideSymbol + drawn_width(entry.title) + kBetweenEntries;
  }
  legend.lines = legend.entries.empty() ? 0 : legend.entries.back().line + 1;
  return legend;
}

/// Returns the lines between title and plot: what is measured upwards, and at the right.
struct Labels {
  std::vector<std::string> left, right;

  explicit Labels(const Picture& picture)
      : left(lines_within(picture.y_label, room_of(picture))),
        right(lines_within(picture.right_label, room_of(picture))) {
    const bool beside = left.size() == 1 && right.size() == 1 &&
                        drawn_width(left[0]) + drawn_width(right[0]) + 2 * kEdge < room_of(picture);
    if (!beside && !left.empty() && !right.empty()) {
      right.insert(right.begin(), left.size(), "");
    }
  }
  std::size_t count() const { return std::max(left.size(), right.size()); }
};

/// Writes lines of script that put text at places in pixels.
class Writer {
 public:
  explicit Writer(const PictureSize& size) : size_(size) {}

  void label(std::string_view words, double x, double y, std::string_view align,
             std::string_view color = "#000000") {
    if (words.empty()) return;
    text_ += fmt::format("set label {} at screen {:.5g}, screen {:.5g} {} textcolor rgb '{}'\n",
                         gnuplot_string(words), across(x), up(y), align, color);
  }
  void symbol(const LegendEntry& entry, double x, double y) {
    if (!entry.box.empty()) {
      text_ += fmt::format(
          "set object rectangle from screen {:.5g}, screen {:.5g} to screen {:.5g}, screen {:.5g} "
          "fc rgb '{}' fs solid noborder\n",
          across(x), up(y - 5), across(x + kSymbol), up(y + 5), entry.box);
    }
    if (!entry.line.empty()) {
      text_ += fmt::format(
          "set arrow from screen {:.5g}, screen {:.5g} to screen {:.5g}, screen {:.5g} nohead {}\n",
          across(x), up(y), across(x + kSymbol), up(y), entry.line);
    }
    if (!entry.point.empty()) {
      text_ += fmt::format("set label '' at screen {:.5g}, screen {:.5g} point {}\n",
                           across(x + kSymbol / 2), up(y), entry.point);
    }
  }
  void margin(char side, double place, bool upwards) {
    text_ +=
        fmt::format("set {}margin at screen {:.5g}\n", side, upwards ? up(place) : across(place));
  }
  std::string take() { return std::move(text_); }

 private:
  double across(double x) const { return x / size_.width; }
  double up(double y) const { return y / size_.height; }

  PictureSize size_;
  std::string text_ = "unset key\n";
};

}  // namespace

double drawn_width(std::string_view text) {
  // These are the widths of the widest usual font, DejaVu Sans, at 11 points.
  constexpr std::string_view kNarrow = "il jI|'.,:;";
  constexpr std::string_view kSlim = "ft()[]-r/!\"";
  constexpr std::string_view kWide = "mwMW%+@";
  double width = 0;
  for (const char c : text) {
    if ((static_cast<unsigned char>(c) & 0xC0U) == 0x80U) continue;  // continues a letter
    if (kNarrow.find(c) != std::string_view::npos) {
      width += 4.7;
    } else if (kSlim.find(c) != std::string_view::npos) {
      width += 6;
    } else if (kWide.find(c) != std::string_view::npos) {
      width += 14;
    } else {
      width += c >= 'A' && c <= 'Z' ? 10.5 : 9.3;
    }
  }
  return width;
}

std::string cut_to(std::string_view text, double width) {
  std::size_t letters = display_width(text);
  std::string cut(text);
  while (letters > 1 && drawn_width(cut) > width) cut = shortened(text, --letters);
  return cut;
}

std::vector<std::string> lines_within(std::string_view text, double width) {
  std::vector<std::string> lines;
  for (const std::string& word : split(printable(text), ' ')) {
    if (word.empty()) continue;
    if (!lines.empty() && drawn_width(lines.back() + ' ' + word) <= width) {
      lines.back() += ' ' + word;
    } else {
      lines.push_back(cut_to(word, width));
    }
  }
  return lines;
}

Frame frame_of(const Picture& picture) {
  const double titles =
      kLineHeight * static_cast<double>(lines_within(picture.title, room_of(picture)).size());
  const double labels = kLineHeight * static_cast<double>(Labels(picture).count());
  const double above = kEdge / 2 + titles + kBelowTitle + labels + picture.head + kLineHeight / 2;
  const double x_label =
      kLineHeight * static_cast<double>(lines_within(picture.x_label, room_of(picture)).size());
  const double below =
      kEdge / 2 + kLineHeight * static_cast<double>(place(picture).lines) + x_label + picture.foot;
  const double height = std::max<double>(picture.size.height, above + picture.plot_height + below);
  Frame frame{.size = {.width = picture.size.width, .height = static_cast<int>(height + 0.5)},
              .left = picture.left,
              .right = picture.size.width - picture.right,
              .bottom = below,
              .top = height - above};
  if (picture.square) {
    const double side = std::min(frame.width(), frame.height());
    frame.right = frame.left + side;
    frame.bottom = frame.top - side;
  }
  return frame;
}

std::string frame_text(const Picture& picture, const Frame& frame) {
  Writer writer(frame.size);
  const double width = frame.size.width;
  double y = frame.size.height - kEdge / 2 - kLineHeight / 2;
  for (const std::string& line : lines_within(picture.title, room_of(picture))) {
    writer.label(line, kEdge, y, "left");
    y -= kLineHeight;
  }
  y -= kBelowTitle;
  const Labels labels(picture);
  constexpr std::string_view kQuiet = "#444444";
  for (std::size_t i = 0; i < labels.count(); ++i) {
    if (i < labels.left.size()) writer.label(labels.left[i], kEdge, y, "left", kQuiet);
    if (i < labels.right.size()) writer.label(labels.right[i], width - kEdge, y, "right", kQuiet);
    y -= kLineHeight;
  }
  y = frame.bottom - picture.foot - kLineHeight / 2;
  for (const std::string& line : lines_within(picture.x_label, room_of(picture))) {
    const double half = drawn_width(line) / 2;
    const double middle = std::clamp((frame.left + frame.right) / 2, kEdge + half,
                                     std::max(kEdge + half, width - kEdge - half));
    writer.label(line, middle, y, "center", kQuiet);
    y -= kLineHeight;
  }
  for (const auto& [entry, x, line] : place(picture).entries) {
    const double middle = y - kLineHeight * static_cast<double>(line);
    writer.symbol(*entry, x, middle);
    const double begin = x + kSymbol + kBesideSymbol;
    writer.label(cut_to(entry->title, width - kEdge - begin), begin, middle, "left");
  }
  writer.margin('l', frame.left, false);
  writer.margin('r', frame.right, false);
  writer.margin('b', frame.bottom, true);
  writer.margin('t', frame.top, true);
  return writer.take();
}

}  // namespace howard::reports
