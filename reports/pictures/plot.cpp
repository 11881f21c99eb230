// SPDX-License-Identifier: Apache-2.0
#include "reports/pictures/plot.h"

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <functional>
#include <iterator>
#include <string_view>
#include <utility>

#include "reports/pictures/axis_marks.h"
#include "reports/pictures/bar_chart.h"
#include "reports/pictures/heat_map.h"
#include "reports/pictures/plot_data.h"
#include "reports/sweeps/sweep_pictures.h"
#include "reports/tables/cell_text.h"
#include "reports/tables/format.h"

namespace howard::reports {
namespace {

/// Holds one of gnuplot's filled symbols and its open counterpart.
struct Symbol {
  int filled, open;
};
constexpr std::array<Symbol, 5> kSymbols{{{7, 6}, {5, 4}, {9, 8}, {11, 10}, {13, 12}}};

/// A sweep of more points is data for a program: its lines would cover each other and their legend.
constexpr std::size_t kMostPoints = 2000;

/// An axis is wider than the data at each end by this factor.
constexpr double kMargin = 1.25;

struct Range {
  double low = 0;
  double high = 0;

  void include(double value) {
    low = low == 0 ? value : std::min(low, value);
    high = std::max(high, value);
  }
  double ratio() const { return high / low; }
};

/// Says what the axes have to cover, in the units drawn.
struct Extent {
  Range x, y;
  std::vector<double> x_values;  ///< Each once, rising.
};

Extent extent_of(const PlotData& data) {
  Extent extent;
  for (const PlotSeries& series : data.series) {
    for (const PlotPoint& point : series.points) {
      extent.x.include(point.x);
      extent.x_values.push_back(point.x);
      extent.y.include(in_unit(point.y, data.y_scale));
      if (point.published) extent.y.include(in_unit(*point.published, data.y_scale));
      for (const double end : point.interval.value_or(std::array{point.y, point.y})) {
        extent.y.include(in_unit(end, data.y_scale));
      }
    }
  }
  std::ranges::sort(extent.x_values);
  const auto repeated = std::ranges::unique(extent.x_values);
  extent.x_values.erase(repeated.begin(), repeated.end());
  return extent;
}

/// Returns the text at a mark. Sizes, counts and round numbers are whole; quantities have their
/// unit.
std::string label(double value, std::string_view unit) {
  if (unit.empty()) return fmt::format("{:.10g}", value);
  // Buffers are made of tiles, whose bytes are a power of two.
  constexpr double kKibi = 1024;
  if (unit == "B" && std::fmod(value, kKibi) == 0) {
    const bool mebi = std::fmod(value, kKibi * kKibi) == 0;
    return fmt::format("{:.10g} {}", value / (mebi ? kKibi * kKibi : kKibi), mebi ? "MiB" : "KiB");
  }
  const Scale scale = fit_scale(unit, {&value, 1});
  return fmt::format("{:.4g} {}", in_unit(value, scale), scale.unit);
}

std::string tics(const std::vector<double>& values, std::string_view unit = "") {
  std::string list;
  for (const double value : values) {
    list += fmt::format("{}'{}' {:.10g}", list.empty() ? "" : ", ", label(value, unit), value);
  }
  return "(" + list + ")";
}

/// Returns the sizes of the data, but never so many that their labels touch.
std::vector<double> size_marks(const Extent& extent, double most) {
  const double least_step = std::pow(extent.x.ratio(), 1 / most);
  std::vector<double> chosen;
  // It goes from the largest down, so that of 4032 and 4096 the end of the line has its label.
  for (auto value = extent.x_values.rbegin(); value != extent.x_values.rend(); ++value) {
    if (chosen.empty() || *value * least_step <= chosen.back()) chosen.push_back(*value);
  }
  return {chosen.rbegin(), chosen.rend()};
}

/// Says for how many labels there is room.
struct LabelRoom {
  double sizes, quantities;  ///< "4096" and "100 MFLOP", beside each other.
  std::size_t upwards;

  explicit LabelRoom(const PictureSize& size)
      : sizes(std::max(3.0, size.width / 75.0)),
        quantities(std::max(5.0, size.width / 110.0)),
        upwards(static_cast<std::size_t>(std::max(5.0, size.height / 45.0))) {}
};

std::string data_text(const PlotData& data, const harness::Plot& plot) {
  const auto shown = [&](double value) { return format_exact(in_unit(value, data.y_scale)); };
  std::string text = fmt::format(
      "# {}\n# columns: {} | {} | low and high end of its 95 % interval | published figure; ? is "
      "none\n",
      printable(data.title), printable(with_unit(plot.x_label, data.x_unit)),
      printable(with_unit(plot.y_label, data.y_scale.unit)));
  for (std::size_t i = 0; i < data.series.size(); ++i) {
    // Two blank lines separate what gnuplot calls an index.
    text +=
        fmt::format("{}\n# index {}: {}\n", i > 0 ? "\n" : "", i, printable(data.series[i].title));
    for (const PlotPoint& point : data.series[i].points) {
      const std::string y = point.artefact ? "?" : shown(point.y);
      text += fmt::format("{} {} {} {} {}\n", format_exact(point.x), y,
                          point.interval ? shown(point.interval->front()) : "?",
                          point.interval ? shown(point.interval->back()) : "?",
                          point.published  ? shown(*point.published)
                          : point.artefact ? shown(point.y)
                                           : "?");
    }
  }
  return text;
}

/// Returns "with points lc rgb ...", which is how a series is drawn. A series that others cover is
/// wider than they are.
std::string style_of(const PlotSeries& series, const Symbol& symbol, bool lines) {
  const auto wider = static_cast<double>(series.covered);
  if (!lines) {
    return fmt::format("points {} lw 1.5 pt {} ps 1.2", gnuplot_color(series.color), symbol.filled);
  }
  return fmt::format("linespoints {} lw {:.2g} dt {} pt {} ps {:.2g}", gnuplot_color(series.color),
                     2 + 4 * wider, series.dashes + 1, symbol.filled, 0.9 + 0.5 * wider);
}

/// Returns the line of equality and the band of 10 % around it.
std::vector<std::string> equality() {
  return {
      "'+' using 1:(0.9*$1):(1.1*$1) with filledcurves fc rgb '#e4e4e4' fs solid noborder "
      "title 'within 10 %'",
      "x with lines lc rgb '#444444' lw 1 title 'equal'"};
}

/// Returns the plot command's parts, from back to front: bars, lines, open symbols.
std::vector<std::string> curves(const PlotData& data, const harness::Plot& plot) {
  std::vector<std::string> bars;
  std::vector<std::string> lines;
  std::vector<std::string> marks;
  for (std::size_t i = 0; i < data.series.size(); ++i) {
    const PlotSeries& series = data.series[i];
    const std::string source = fmt::format("data index {}", i);
    const std::string color = gnuplot_color(series.color);
    const Symbol symbol = kSymbols[i % kSymbols.size()];
    lines.push_back(fmt::format("{} using 1:2 with {} title {}", source,
                                style_of(series, symbol, !plot.compares),
                                gnuplot_string(series.title)));
    if (series.has_intervals()) {
      bars.push_back(
          fmt::format("{} using 1:2:3:4 with yerrorbars {} lw 1.5 ps 0 notitle", source, color));
    }
    if (series.has_open_symbols()) {
      marks.push_back(fmt::format("{} using 1:5 with points {} lw 1.5 pt {} ps {} notitle", source,
                                  color, symbol.open, plot.compares ? 1.2 : 1.9));
    }
  }
  std::vector<std::string> parts = plot.compares ? equality() : std::vector<std::string>();
  parts.insert(parts.end(), bars.begin(), bars.end());
  parts.insert(parts.end(), lines.begin(), lines.end());
  parts.insert(parts.end(), marks.begin(), marks.end());
  if (!marks.empty()) {
    parts.push_back(fmt::format(
        "keyentry with points lc rgb '#444444' lw 1.5 pt 6 ps {} title '{}'",
        plot.compares ? 1.2 : 1.9, plot.compares ? "published: an artefact" : "published"));
  }
  return parts;
}

/// Returns "[100:2000]", a little wider, because gnuplot leaves out some marks that are exactly at
/// the end.
std::string range(double low, double high) {
  constexpr double kBeyond = 1.001;
  return fmt::format("[{:.6g}:{:.6g}]", low / kBeyond, high * kBeyond);
}

/// Makes both axes alike, so that the line of equality is a diagonal.
std::string equal_axes_text(const Extent& extent, const std::string& unit, const LabelRoom& room) {
  const AxisMarks marks =
      log_marks(std::min(extent.x.low, extent.y.low), std::max(extent.x.high, extent.y.high),
                static_cast<std::size_t>(room.quantities));
  return fmt::format(
      "set logscale xy 10\nset size square\n"
      "set xrange {0}\nset yrange {0}\nset xtics {1}\nset ytics {1}\n"
      "set key outside right top vertical Left reverse samplen 2 noinvert\n",
      range(marks.low(), marks.high()), tics(marks.values, unit));
}

std::string axes_text(const Extent& extent, const std::string& x_unit, const LabelRoom& room) {
  // For amounts of bytes, as for sizes, the values of the data are the round ones.
  const bool of_data = x_unit.empty() || x_unit == "B";
  const AxisMarks x =
      of_data ? AxisMarks{size_marks(extent, room.sizes)}
              : log_marks(extent.x.low, extent.x.high, static_cast<std::size_t>(room.quantities));
  const double margin = of_data ? kMargin : 1;
  const AxisMarks y = log_marks(extent.y.low, extent.y.high, room.upwards);
  return fmt::format(
      "set logscale x 2\nset logscale y 10\n"
      "set xrange {}\nset yrange {}\nset xtics {}\nset ytics {}\n",
      range(std::min(x.low(), extent.x.low) / margin, std::max(x.high(), extent.x.high) * margin),
      range(y.low(), y.high()), tics(x.values, x_unit), tics(y.values));
}

std::string settings_text(const PlotData& data, const harness::Plot& plot,
                          const PictureSize& size) {
  const Extent extent = extent_of(data);
  constexpr std::size_t kMostNames = 16;  // a longer legend covers the lines
  std::string text = data.series.size() > kMostNames ? "unset key\n" : "";
  // With a unit at each mark the label needs none.
  text += fmt::format("set xlabel {}\nset ylabel {}\n", gnuplot_string(plot.x_label),
                      gnuplot_string(with_unit(plot.y_label, data.y_scale.unit)));
  const LabelRoom room(size);
  return text + (plot.compares ? equal_axes_text(extent, data.x_unit, room)
                               : axes_text(extent, data.x_unit, room));
}

/// Draws the pictures as the presentation has them, with the names that `next_name` gives.
PlotFiles write_plain(const harness::ExperimentResult& result,
                      const harness::Presentation& presentation,
                      const std::function<std::string()>& next_name, const Canvas& canvas) {
  if (result.points.size() > kMostPoints) {
    return {
        .written = {},
        .not_rendered = fmt::format("{} has {} points, and none can be told from another beyond {}",
                                    result.experiment, result.points.size(), kMostPoints)};
  }
  PlotFiles files;
  for (const harness::Plot& plot : presentation.plots) {
    const std::string name = next_name();
    const PlotData data = collect_plot_data(result, plot);
    if (data.series.empty()) continue;
    const PictureSize size = canvas.size_or({});
    files.add(write_picture({.name = name,
                             .title = data.title,
                             .size = size,
                             .data = data_text(data, plot),
                             .settings = settings_text(data, plot, size),
                             .curves = curves(data, plot)},
                            canvas));
  }
  for (const auto backend : {harness::Backend::emulated, harness::Backend::host}) {
    for (const harness::BarChart& chart : presentation.bar_charts) {
      files.add(write_bar_chart(result, backend, chart, next_name(), canvas));
    }
    for (const harness::HeatMap& map : presentation.heat_maps) {
      files.add(write_heat_map(result, backend, map, next_name(), canvas));
    }
  }
  return files;
}

/// Returns the points that no constant of the emulated machine affects.
harness::ExperimentResult host_part(const harness::ExperimentResult& result) {
  harness::ExperimentResult part{.experiment = result.experiment, .context = result.context};
  std::ranges::copy_if(result.points, std::back_inserter(part.points),
                       [](const auto& point) { return point.backend == harness::Backend::host; });
  return part;
}

}  // namespace

PlotFiles write_plots(const harness::ExperimentResult& result,
                      const harness::Presentation& presentation, const Canvas& canvas) {
  std::size_t number = 0;
  const auto next_name = [&] {
    return ++number == 1 ? result.experiment : fmt::format("{}_{}", result.experiment, number);
  };
  if (presentation.swept.empty()) return write_plain(result, presentation, next_name, canvas);
  PlotFiles files = write_sweep_pictures(result, presentation, next_name, canvas);
  files.add(write_plain(host_part(result), presentation, next_name, canvas));
  return files;
}

}  // namespace howard::reports
