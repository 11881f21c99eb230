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

#include "reports/pictures/bar_chart.h"
#include "reports/pictures/heat_map.h"
#include "reports/pictures/plot_axes.h"
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
  return fmt::format("linespoints {} lw {:.2g} {} pt {} ps {:.2g}", gnuplot_color(series.color),
                     2 + 4 * wider, gnuplot_dashes(series.dashes), symbol.filled,
                     0.9 + 0.5 * wider);
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

std::string tics(const PlotAxis& axis) {
  std::string list;
  for (std::size_t i = 0; i < axis.marks.size(); ++i) {
    list += fmt::format("{}'{}' {:.10g}", list.empty() ? "" : ", ", axis.labels[i], axis.marks[i]);
  }
  return "(" + list + ")";
}

std::string settings_text(const PlotData& data, const harness::Plot& plot,
                          const PictureSize& size) {
  constexpr std::size_t kMostNames = 16;  // a longer legend covers the lines
  const PlotAxes axes = plot_axes(data, plot, size);
  const std::string kind =
      plot.compares ? "set logscale xy 10\nset size square\n"
                      "set key outside right top vertical Left reverse samplen 2 noinvert\n"
                    : "set logscale x 2\nset logscale y 10\n";
  // With a unit at each mark the label needs none.
  return fmt::format(
      "{}set xlabel {}\nset ylabel {}\n{}set xrange {}\nset yrange {}\nset xtics "
      "{}\nset ytics {}\n",
      data.series.size() > kMostNames ? "unset key\n" : "", gnuplot_string(plot.x_label),
      gnuplot_string(with_unit(plot.y_label, data.y_scale.unit)), kind,
      range(axes.x.low, axes.x.high), range(axes.y.low, axes.y.high), tics(axes.x), tics(axes.y));
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
