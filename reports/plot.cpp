// SPDX-License-Identifier: Apache-2.0
#include "reports/plot.h"

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <functional>
#include <iterator>
#include <string_view>
#include <utility>

#include "reports/bar_chart.h"
#include "reports/cell_text.h"
#include "reports/format.h"
#include "reports/heat_map.h"
#include "reports/plot_data.h"
#include "reports/sweep_pictures.h"

namespace howard::reports {
namespace {

/// gnuplot's filled symbols and their open counterparts.
struct Symbol {
  int filled, open;
};
constexpr std::array<Symbol, 5> kSymbols{{{7, 6}, {5, 4}, {9, 8}, {11, 10}, {13, 12}}};

/// A sweep of more is data for a program: its lines would cover each other and their legend.
constexpr std::size_t kMostPoints = 2000;

/// How much wider than the data an axis is at each end, as a factor.
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

/// What the axes have to cover, in the units drawn.
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

/// What stands at a mark: sizes, counts and round numbers whole, quantities with three digits.
std::string label(double value, const Scale& scale) {
  if (scale.unit.empty()) return fmt::format("{:.10g}", value);
  const double shown = in_unit(value, scale);
  return shown < 100 ? fmt::format("{:.3g}", shown) : fmt::format("{:.0f}", shown);
}

/// `scale`: of the labels; places are in the unit drawn.
std::string tics(const std::vector<double>& values, const Scale& scale = {}) {
  std::string list;
  for (const double value : values) {
    list += fmt::format("{}'{}' {:.10g}", list.empty() ? "" : ", ", label(value, scale), value);
  }
  return "(" + list + ")";
}

/// The sizes of the data, but never so many that their labels touch.
std::vector<double> x_tics(const Extent& extent) {
  constexpr double kLabels = 12;  // side by side in 900 pixels
  const double least_step = std::pow(extent.x.ratio(), 1 / kLabels);
  std::vector<double> chosen;
  // From the largest down: of 4032 and 4096 the end of the line has its label.
  for (auto value = extent.x_values.rbegin(); value != extent.x_values.rend(); ++value) {
    if (chosen.empty() || *value * least_step <= chosen.back()) chosen.push_back(*value);
  }
  return {chosen.rbegin(), chosen.rend()};
}

/// The marks of a logarithmic axis: as few steps in each decade as give at least four marks.
std::vector<double> y_tics(const Extent& extent) {
  constexpr std::size_t kEnough = 4;
  const double low = extent.y.low / kMargin;
  const double high = extent.y.high * kMargin;
  const std::vector<std::vector<double>> finer{
      {1}, {1, 2, 5}, {1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 7, 8, 9}};
  std::vector<double> chosen;
  for (const std::vector<double>& steps : finer) {
    chosen.clear();
    int decade = static_cast<int>(std::floor(std::log10(low)));
    for (; std::pow(10, decade) <= high; ++decade) {
      for (const double step : steps) {
        const double value = step * std::pow(10, decade);
        if (value >= low && value <= high) chosen.push_back(value);
      }
    }
    if (chosen.size() >= kEnough) break;
  }
  return chosen;
}

std::string data_text(const PlotData& data, const harness::Plot& plot) {
  const auto shown = [&](double value) { return format_exact(in_unit(value, data.y_scale)); };
  std::string text = fmt::format(
      "# {}\n# columns: {} | {} | low and high end of its 95 % interval | published figure; ? is "
      "none\n",
      printable(plot.title), printable(plot.x_label),
      printable(with_unit(plot.y_label, data.y_scale.unit)));
  for (std::size_t i = 0; i < data.series.size(); ++i) {
    // Two blank lines separate what gnuplot calls an index.
    text +=
        fmt::format("{}\n# index {}: {}\n", i > 0 ? "\n" : "", i, printable(data.series[i].title));
    for (const PlotPoint& point : data.series[i].points) {
      text += fmt::format("{} {} {} {} {}\n", format_exact(point.x), shown(point.y),
                          point.interval ? shown(point.interval->front()) : "?",
                          point.interval ? shown(point.interval->back()) : "?",
                          point.published ? shown(*point.published) : "?");
    }
  }
  return text;
}

/// The plot command's parts, from the back to the front: bars, lines, open symbols.
std::vector<std::string> curves(const PlotData& data) {
  std::vector<std::string> bars;
  std::vector<std::string> lines;
  std::vector<std::string> marks;
  for (std::size_t i = 0; i < data.series.size(); ++i) {
    const PlotSeries& series = data.series[i];
    const std::string source = fmt::format("data index {}", i);
    const std::string color = gnuplot_color(i);
    const Symbol symbol = kSymbols[i % kSymbols.size()];
    lines.push_back(fmt::format("{} using 1:2 with linespoints {} lw 2 pt {} ps 0.9 title {}",
                                source, color, symbol.filled, gnuplot_string(series.title)));
    if (series.has_intervals()) {
      bars.push_back(
          fmt::format("{} using 1:2:3:4 with yerrorbars {} lw 1.5 ps 0 notitle", source, color));
    }
    if (series.has_published()) {
      marks.push_back(fmt::format("{} using 1:5 with points {} lw 1.5 pt {} ps 1.9 notitle", source,
                                  color, symbol.open));
    }
  }
  std::vector<std::string> parts = std::move(bars);
  parts.insert(parts.end(), lines.begin(), lines.end());
  parts.insert(parts.end(), marks.begin(), marks.end());
  if (!marks.empty()) {
    parts.emplace_back(
        "keyentry with points lc rgb '#444444' lw 1.5 pt 6 ps 1.9 title 'published'");
  }
  return parts;
}

std::string settings_text(const PlotData& data, const harness::Plot& plot) {
  const Extent extent = extent_of(data);
  constexpr std::size_t kMostNames = 16;  // a longer legend covers the lines
  std::string text = data.series.size() > kMostNames ? "unset key\n" : "";
  const auto out = std::back_inserter(text);
  fmt::format_to(out, "set title {}\n", gnuplot_string(plot.title));
  fmt::format_to(out, "set xlabel {}\n",
                 gnuplot_string(with_unit(plot.x_label, data.x_scale.unit)));
  fmt::format_to(out, "set ylabel {}\n",
                 gnuplot_string(with_unit(plot.y_label, data.y_scale.unit)));
  fmt::format_to(out, "set logscale x 2\nset logscale y 10\n");
  fmt::format_to(out, "set xrange [{:.6g}:{:.6g}]\n", extent.x.low / kMargin,
                 extent.x.high * kMargin);
  fmt::format_to(out, "set yrange [{:.6g}:{:.6g}]\n", extent.y.low / kMargin,
                 extent.y.high * kMargin);
  fmt::format_to(out, "set xtics {}\n", tics(x_tics(extent), data.x_scale));
  fmt::format_to(out, "set ytics {}\n", tics(y_tics(extent)));
  return text;
}

/// The pictures as the presentation has them, called as `next_name` says.
PlotFiles write_plain(const harness::ExperimentResult& result,
                      const harness::Presentation& presentation,
                      const std::function<std::string()>& next_name,
                      const std::filesystem::path& folder) {
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
    files.add(write_picture({.name = name,
                             .data = data_text(data, plot),
                             .settings = settings_text(data, plot),
                             .curves = curves(data)},
                            folder));
  }
  for (const auto backend : {harness::Backend::emulated, harness::Backend::host}) {
    for (const harness::BarChart& chart : presentation.bar_charts) {
      files.add(write_bar_chart(result, backend, chart, next_name(), folder));
    }
    for (const harness::HeatMap& map : presentation.heat_maps) {
      files.add(write_heat_map(result, backend, map, next_name(), folder));
    }
  }
  return files;
}

/// The points that no constant of the emulated machine concerns.
harness::ExperimentResult host_part(const harness::ExperimentResult& result) {
  harness::ExperimentResult part{.experiment = result.experiment, .context = result.context};
  std::ranges::copy_if(result.points, std::back_inserter(part.points),
                       [](const auto& point) { return point.backend == harness::Backend::host; });
  return part;
}

}  // namespace

PlotFiles write_plots(const harness::ExperimentResult& result,
                      const harness::Presentation& presentation,
                      const std::filesystem::path& folder) {
  std::size_t number = 0;
  const auto next_name = [&] {
    return ++number == 1 ? result.experiment : fmt::format("{}_{}", result.experiment, number);
  };
  if (presentation.swept.empty()) return write_plain(result, presentation, next_name, folder);
  PlotFiles files = write_sweep_pictures(result, presentation, next_name, folder);
  files.add(write_plain(host_part(result), presentation, next_name, folder));
  return files;
}

}  // namespace howard::reports
