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

#include "base/file.h"
#include "reports/pictures/bar_chart.h"
#include "reports/pictures/heat_map.h"
#include "reports/pictures/palette.h"
#include "reports/pictures/plot_axes.h"
#include "reports/pictures/plot_data.h"
#include "reports/pictures/xy_chart.h"
#include "reports/sweeps/sweep_pictures.h"
#include "reports/tables/cell_text.h"
#include "reports/tables/format.h"

namespace howard::reports {
namespace {

/// gnuplot's filled symbols: circle, square, triangles, diamond.
constexpr std::array<int, 5> kSymbols{7, 5, 9, 11, 13};

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

/// Says how a series is drawn. One that others cover is wider than they are.
struct SeriesStyle {
  std::string color, line, point;

  SeriesStyle(const PlotSeries& series, bool lines) : color(gnuplot_color(series.color)) {
    const auto wider = static_cast<double>(series.covered);
    const int symbol = kSymbols.at(series.symbol % kSymbols.size());
    if (lines) line = fmt::format("lw {:.2g} {}", 2 + 4 * wider, gnuplot_dashes(series.dashes));
    point = fmt::format("pt {} ps {:.2g}", symbol, lines ? 0.9 + 0.5 * wider : 1.2);
  }
};

/// Draws the line of equality and the band of 10 % around it.
void draw_equality(Picture& picture) {
  picture.curves = {
      "'+' using 1:(0.9*$1):(1.1*$1) with filledcurves fc rgb '#e4e4e4' fs solid noborder notitle",
      "x with lines lc rgb '#444444' lw 1 notitle"};
  picture.legend = {{.title = "within 10 %", .box = "#e4e4e4"},
                    {.title = "equal", .line = "lc rgb '#444444' lw 1"}};
}

/// Draws from back to front: bars of intervals, lines, open symbols.
void draw_series(const PlotData& data, const harness::Plot& plot, Picture& picture) {
  std::vector<std::string> lines;
  std::vector<std::string> marks;
  const double open_size = plot.compares ? 1.2 : 1.9;
  for (std::size_t i = 0; i < data.series.size(); ++i) {
    const PlotSeries& series = data.series[i];
    const std::string source = fmt::format("data index {}", i);
    const SeriesStyle style(series, !plot.compares);
    lines.push_back(fmt::format("{} using 1:2 with {} {} {} {} notitle", source,
                                plot.compares ? "points" : "linespoints", style.color, style.line,
                                style.point));
    picture.legend.push_back({.title = series.title,
                              .line = plot.compares ? "" : style.color + " " + style.line,
                              .point = style.color + " " + style.point});
    if (series.has_intervals()) {
      picture.curves.push_back(fmt::format(
          "{} using 1:2:3:4 with yerrorbars {} lw 1.5 ps 0 notitle", source, style.color));
    }
    if (series.has_open_symbols()) {
      marks.push_back(fmt::format("{} using 1:5 with points {} lw 1.5 {} ps {} notitle", source,
                                  style.color, kPublishedPoint, open_size));
    }
  }
  picture.curves.insert(picture.curves.end(), lines.begin(), lines.end());
  picture.curves.insert(picture.curves.end(), marks.begin(), marks.end());
  if (marks.empty()) return;
  picture.legend.push_back(
      {.title = plot.compares ? "published: an artefact" : "published",
       .point = fmt::format("lc rgb '#444444' lw 1.5 {} ps {}", kPublishedPoint, open_size)});
}

/// Returns the axis a little wider, because gnuplot leaves out some marks that are exactly at the
/// end.
PlotAxis widened(PlotAxis axis) {
  if (!axis.logarithmic) return axis;
  constexpr double kBeyond = 1.001;
  axis.low /= kBeyond;
  axis.high *= kBeyond;
  return axis;
}

Picture picture_of(const PlotData& data, const harness::Plot& plot, const std::string& name,
                   const Canvas& canvas) {
  constexpr std::size_t kMostNames = 16;  // a longer legend would be larger than the plot
  const PictureSize size = canvas.size_or({});
  const PlotAxes axes = plot_axes(data, plot, size);
  // With a unit at each mark the label needs none.
  Picture picture{.name = name,
                  .title = data.title,
                  .size = size,
                  .x_label = plot.x_label,
                  .y_label = with_unit(plot.y_label, data.y_scale.unit),
                  .square = plot.compares,
                  .data = data_text(data, plot),
                  .settings = {},
                  .curves = {}};
  if (plot.compares) {
    draw_equality(picture);
    picture.plot_height = 0.6 * size.width;
  }
  draw_series(data, plot, picture);
  if (data.series.size() > kMostNames) picture.legend.clear();
  picture.settings = gnuplot_axes(widened(axes.x), widened(axes.y), picture);
  return picture;
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
    files.add(write_picture(picture_of(data, plot, name, canvas), canvas));
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
    const std::string name = file_name_of(result.experiment) + canvas.suffix;
    return ++number == 1 ? name : fmt::format("{}_{}", name, number);
  };
  if (presentation.swept.empty()) return write_plain(result, presentation, next_name, canvas);
  PlotFiles files = write_sweep_pictures(result, presentation, next_name, canvas);
  files.add(write_plain(host_part(result), presentation, next_name, canvas));
  return files;
}

}  // namespace howard::reports
