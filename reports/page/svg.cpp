// SPDX-License-Identifier: Apache-2.0
#include "reports/page/svg.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

#include "base/text.h"
#include "reports/page/html.h"
#include "reports/pictures/axis_marks.h"
#include "reports/pictures/chart_points.h"
#include "reports/pictures/picture.h"
#include "reports/pictures/plot_data.h"
#include "reports/tables/format.h"

namespace howard::reports {
namespace {

constexpr double kWidth = 880;
constexpr std::size_t kMostMarks = 10;
/// Lines of more points than these are data for a program: their marks would cover each other.
constexpr std::size_t kMostDrawn = 2000;

std::string opened(double height, const std::string& title) {
  return fmt::format(
      "<figure><figcaption>{0}</figcaption>\n<div class=\"wide\"><svg viewBox=\"0 0 {1} {2}\" "
      "role=\"img\" aria-label=\"{0}\">\n",
      html_text(title), kWidth, height);
}

std::string text_at(double x, double y, std::string_view anchor, std::string_view words) {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>\n", x, y, anchor,
                     html_text(words));
}

/// What a mark says when the pointer rests on it.
std::string hint(std::string_view words) { return "<title>" + html_text(words) + "</title>"; }

/// A logarithmic axis from `from` to `to` on the drawing.
class LogAxis {
 public:
  LogAxis(double low, double high, double from, double to)
      : marks_(log_marks(low, high, kMostMarks)), from_(from), to_(to) {}

  double place(double value) const {
    const double share = std::log(value / marks_.low()) / std::log(marks_.high() / marks_.low());
    return from_ + share * (to_ - from_);
  }
  const std::vector<double>& marks() const { return marks_.values; }

 private:
  AxisMarks marks_;
  double from_, to_;
};

struct Frame {
  double left = 80, right = kWidth - 20, top = 12, bottom = 360;
};

std::string axes_of(const Frame& frame, const LogAxis& x, const LogAxis& y,
                    const std::string& x_label, const std::string& y_label) {
  std::string text = "<g class=\"axes\">\n";
  for (const double mark : x.marks()) {
    text +=
        fmt::format("<line class=\"grid\" x1=\"{0:.1f}\" x2=\"{0:.1f}\" y1=\"{1}\" y2=\"{2}\"/>",
                    x.place(mark), frame.top, frame.bottom);
    text += text_at(x.place(mark), frame.bottom + 18, "middle", format_exact(mark));
  }
  for (const double mark : y.marks()) {
    text +=
        fmt::format("<line class=\"grid\" x1=\"{1}\" x2=\"{2}\" y1=\"{0:.1f}\" y2=\"{0:.1f}\"/>",
                    y.place(mark), frame.left, frame.right);
    text += text_at(frame.left - 6, y.place(mark) + 4, "end", format_exact(mark));
  }
  text += text_at((frame.left + frame.right) / 2, frame.bottom + 38, "middle", x_label);
  text += fmt::format(
      "<text transform=\"translate(16 {:.1f}) rotate(-90)\" text-anchor=\"middle\">"
      "{}</text>\n",
      (frame.top + frame.bottom) / 2, html_text(y_label));
  return text + "</g>\n";
}

std::string series_of(const PlotSeries& series, const PlotData& data, const harness::Plot& plot,
                      const LogAxis& x, const LogAxis& y) {
  constexpr std::array<std::string_view, kLineDashes> kDashes{"none", "7 4", "2 3", "9 3 2 3",
                                                              "12 5"};
  const std::string color = hex_color(gnuplot_color(series.color));
  std::string line;
  std::string marks;
  for (const PlotPoint& point : series.points) {
    const double at_x = x.place(point.x);
    const double at_y = y.place(in_unit(point.y, data.y_scale));
    line += fmt::format("{:.1f},{:.1f} ", at_x, at_y);
    std::string words =
        fmt::format("{}: {} {}, {} {} {}", series.title, plot.x_label, format_exact(point.x),
                    plot.y_label, format_number(point.y, data.y_scale), data.y_scale.unit);
    if (point.published) {
      const double published_y = y.place(in_unit(*point.published, data.y_scale));
      words += ", published " + format_number(*point.published, data.y_scale);
      marks += fmt::format(
          "<path class=\"published\" stroke=\"{}\" d=\"M{:.1f} {:.1f}l5 5l-5 5l-5 "
          "-5z\">{}</path>\n",
          color, at_x, published_y - 5, hint(words));
    }
    marks += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"4\" fill=\"{}\">{}</circle>\n",
                         at_x, at_y, color, hint(words));
  }
  if (plot.compares) return marks;
  return fmt::format(
             "<polyline points=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"2\" "
             "stroke-dasharray=\"{}\"/>\n",
             line, color, kDashes[series.dashes % kLineDashes]) +
         marks;
}

/// The names of the lines below the drawing, which has room for as many as there are.
std::string legend_of(const PlotData& data) {
  std::string text = "<ul class=\"legend\">\n";
  for (const PlotSeries& series : data.series) {
    text += fmt::format(
        "<li><svg viewBox=\"0 0 12 12\" class=\"key\"><circle cx=\"6\" cy=\"6\" "
        "r=\"5\" fill=\"{}\"/></svg> {}</li>\n",
        hex_color(gnuplot_color(series.color)),
        html_text(series.title.empty() ? "points" : series.title));
  }
  return text + "</ul>\n";
}

struct Extremes {
  double low = std::numeric_limits<double>::infinity();
  double high = 0;

  void include(double value) {
    low = std::min(low, value);
    high = std::max(high, value);
  }
};

/// The colours of a map from the least to the greatest value: they get darker evenly, so that the
/// order can be read in grey as well.
std::string map_color(double share) {
  struct Rgb {
    double red, green, blue;
  };
  constexpr std::array<Rgb, 5> kStops{
      {{253, 231, 37}, {94, 201, 98}, {33, 145, 140}, {59, 82, 139}, {68, 1, 84}}};
  const double place = std::clamp(share, 0.0, 1.0) * (kStops.size() - 1);
  const auto stop = std::min(static_cast<std::size_t>(place), kStops.size() - 2);
  const double rest = place - static_cast<double>(stop);
  const auto mix = [&](double a, double b) { return static_cast<int>(a + rest * (b - a)); };
  const Rgb& a = kStops[stop];
  const Rgb& b = kStops[stop + 1];
  return fmt::format("#{:02x}{:02x}{:02x}", mix(a.red, b.red), mix(a.green, b.green),
                     mix(a.blue, b.blue));
}

std::vector<std::string> map_values(const ChartPoints& chart, std::string_view axis) {
  std::vector<std::string> values;
  for (const harness::PointResult* const point : chart.points) {
    std::string value(harness::find_parameter(point->parameters, axis).value_or(""));
    if (std::ranges::find(values, value) == values.end()) values.push_back(std::move(value));
  }
  std::ranges::stable_sort(
      values, {}, [](const std::string& value) { return parse_integer(value).value_or(0); });
  return values;
}

}  // namespace

std::string hex_color(std::string_view gnuplot_color) {
  const std::size_t begin = gnuplot_color.find('#');
  return begin == std::string_view::npos ? "#888888" : std::string(gnuplot_color.substr(begin, 7));
}

std::string svg_lines(const harness::ExperimentResult& result, const harness::Plot& plot) {
  const PlotData data = collect_plot_data(result, plot);
  Extremes x;
  Extremes y;
  std::size_t count = 0;
  for (const PlotSeries& series : data.series) {
    for (const PlotPoint& point : series.points) {
      x.include(point.x);
      y.include(in_unit(point.y, data.y_scale));
      if (point.published) y.include(in_unit(*point.published, data.y_scale));
      ++count;
    }
  }
  if (count == 0 || count > kMostDrawn) return "";
  const Frame frame;
  const LogAxis across(x.low, x.high, frame.left, frame.right);
  const LogAxis up(y.low, y.high, frame.bottom, frame.top);
  std::string text = opened(frame.bottom + 48, data.title);
  text += axes_of(frame, across, up, with_unit(plot.x_label, data.x_unit),
                  with_unit(plot.y_label, data.y_scale.unit));
  for (const PlotSeries& series : data.series) text += series_of(series, data, plot, across, up);
  return text + "</svg></div>\n" + legend_of(data) + "</figure>\n";
}

std::string svg_bars(const BarPicture& bars) {
  constexpr double kNames = 230;
  constexpr double kNumbers = 200;
  constexpr double kRow = 26;
  if (bars.rows.empty() || !(bars.longest > 0)) return "";
  const double room = kWidth - kNames - kNumbers;
  const auto length = [&](double value) { return room * std::min(value / bars.longest, 1.0); };
  const double height = kRow * static_cast<double>(bars.rows.size()) + 30;
  std::string text = opened(height, bars.title);
  double top = 0;
  for (const BarRow& row : bars.rows) {
    text += text_at(kNames - 8, top + 17, "end", row.name);
    double begin = 0;
    for (std::size_t i = 0; i < row.ends.size(); ++i) {
      const double wide = length(row.ends[i]) - length(begin);
      if (wide > 0) {
        text += fmt::format(
            "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"18\" "
            "fill=\"{}\">{}</rect>\n",
            kNames + length(begin), top + 4, wide, hex_color(bars.parts[i].color),
            hint(fmt::format("{}: {} {}", row.name,
                             bars.parts[i].title.empty() ? bars.label : bars.parts[i].title,
                             format_exact(row.ends[i] - begin))));
      }
      begin = row.ends[i];
    }
    if (row.published) {
      text +=
          fmt::format("<path class=\"published\" d=\"M{:.1f} {:.1f}l5 5l-5 5l-5 -5z\">{}</path>\n",
                      kNames + length(*row.published), top + 8,
                      hint("published: " + format_exact(*row.published)));
    }
    text += text_at(kNames + room + 8, top + 17, "start", join(row.cells, "   "));
    top += kRow;
  }
  text += text_at(kNames + room / 2, top + 20, "middle", bars.label);
  text += "</svg></div>\n<ul class=\"legend\">\n";
  for (const BarPart& part : bars.parts) {
    if (part.title.empty()) continue;
    text += fmt::format(
        "<li><svg viewBox=\"0 0 12 12\" class=\"key\"><rect width=\"12\" "
        "height=\"12\" fill=\"{}\"/></svg> {}</li>\n",
        hex_color(part.color), html_text(part.title));
  }
  return text + "</ul>\n</figure>\n";
}

std::string svg_map(const harness::ExperimentResult& result, harness::Backend backend,
                    const harness::HeatMap& map) {
  const ChartPoints shown = chart_points(result, backend, map.metric, {map.x, map.y});
  const std::vector<std::string> columns = map_values(shown, map.x);
  const std::vector<std::string> rows = map_values(shown, map.y);
  if (columns.size() < 2 || rows.size() < 2) return "";
  constexpr double kLeft = 110;
  constexpr double kTop = 8;
  constexpr double kCell = 34;
  Extremes values;
  std::vector<double> all;
  for (const harness::PointResult* const point : shown.points) {
    all.push_back(point->find_metric(map.metric)->value);
    values.include(all.back());
  }
  const Scale scale = fit_scale(shown.points.front()->find_metric(map.metric)->unit, all);
  const double wide = (kWidth - kLeft - 10) / static_cast<double>(columns.size());
  const double bottom = kTop + kCell * static_cast<double>(rows.size());
  std::string text =
      opened(bottom + 48, fmt::format("{}, {}: {}", map.title, harness::name_of(backend),
                                      with_unit(map.label, scale.unit)));
  for (const harness::PointResult* const point : shown.points) {
    const std::string x(harness::find_parameter(point->parameters, map.x).value_or(""));
    const std::string y(harness::find_parameter(point->parameters, map.y).value_or(""));
    const auto column = static_cast<double>(std::ranges::find(columns, x) - columns.begin());
    const auto row = static_cast<double>(std::ranges::find(rows, y) - rows.begin());
    const double value = point->find_metric(map.metric)->value;
    const double share = values.high > values.low
                             ? std::log(value / values.low) / std::log(values.high / values.low)
                             : 0;
    const double left = kLeft + wide * column;
    const double top = bottom - kCell * (row + 1);
    text += fmt::format(
        "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{}\" fill=\"{}\">"
        "{}</rect>\n",
        left, top, wide - 1, kCell - 1, map_color(share),
        hint(fmt::format("{} {}, {} {}: {}", map.x_label, x, map.y_label, y,
                         format_quantity(value, point->find_metric(map.metric)->unit))));
    if (wide > 60) {
      text += fmt::format(
          "<text class=\"{}\" x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">{}"
          "</text>\n",
          share > 0.45 ? "light" : "dark", left + wide / 2, top + 21,
          html_text(format_number(value, scale)));
    }
  }
  for (std::size_t i = 0; i < columns.size(); ++i) {
    text +=
        text_at(kLeft + wide * (static_cast<double>(i) + 0.5), bottom + 18, "middle", columns[i]);
  }
  for (std::size_t i = 0; i < rows.size(); ++i) {
    text += text_at(kLeft - 8, bottom - kCell * (static_cast<double>(i) + 0.4), "end", rows[i]);
  }
  text += text_at(kLeft + (kWidth - kLeft) / 2, bottom + 38, "middle", map.x_label);
  return text + "</svg></div>\n</figure>\n";
}

}  // namespace howard::reports
