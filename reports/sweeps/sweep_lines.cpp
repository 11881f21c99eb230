// SPDX-License-Identifier: Apache-2.0
#include "reports/sweeps/sweep_lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string_view>
#include <utility>
#include <vector>

#include "reports/tables/format.h"

namespace howard::reports {
namespace {

using harness::PointResult;

constexpr std::size_t kMostLines = 14;  // a longer legend covers the lines
/// Beyond this number a symbol at each point would hide the line.
constexpr std::size_t kMostSymbols = 40;

struct Mark {
  double x = 0;
  double y = 0;
  bool bound_changes = false;
};

std::vector<Mark> marks_of(const SweepSeries& series, const std::string& metric) {
  std::vector<Mark> marks;
  const std::string* bound = nullptr;
  for (const auto& [value, point] : series) {
    const std::string* const own = point->find_detail("bound_by");
    marks.push_back({.x = value,
                     .y = point->find_metric(metric)->value,
                     .bound_changes = bound && own && *bound != *own});
    bound = own;
  }
  return marks;
}

/// Returns round marks of a logarithmic axis, up to ten if the values allow it.
std::string log_tics(double least, double most) {
  std::string list;
  const bool wide = most > 1e4 * least;
  for (double decade = std::pow(10, std::floor(std::log10(least))); decade <= most; decade *= 10) {
    for (const double step : {1.0, 2.0, 5.0}) {
      if (wide && step > 1) continue;
      list += fmt::format("{}'{:.10g}' {:.10g}", list.empty() ? "" : ", ", step * decade,
                          step * decade);
    }
  }
  return "(" + list + ")";
}

/// Returns an axis for the values, which is logarithmic if they span more than a few doublings.
std::string axis_text(char axis, const std::vector<double>& values) {
  constexpr double kFew = 8;
  const auto [least, most] = std::ranges::minmax(values);
  if (least <= 0 || most < kFew * least) return fmt::format("set autoscale {}fix\n", axis);
  // A mark at the very end of a logarithmic axis would have no label.
  const double room = axis == 'x' ? 1.02 : 1.15;
  return fmt::format("set logscale {0}\nset {0}tics {1}\nset {0}range [{2:.6g}:{3:.6g}]\n", axis,
                     log_tics(least, most), least / room, most * room);
}

}  // namespace

PlotFiles write_sweep_lines(const SweepGroups& groups, const std::string& constant,
                            const SweepMetric& metric, const std::string& name,
                            const Canvas& canvas) {
  const std::vector<const SweepGroup*> shown = some_of(groups, kMostLines);
  std::vector<std::vector<Mark>> lines;
  std::vector<double> xs, ys;
  for (const SweepGroup* const group : shown) {
    lines.push_back(marks_of(series_along(*group, {constant}, constant).front(), metric.name));
    for (const Mark& mark : lines.back()) {
      xs.push_back(mark.x);
      ys.push_back(mark.y);
    }
  }
  const PointResult& first = *shown.front()->points.front();
  const Scale scale = fit_scale(first.find_metric(metric.name)->unit, ys);
  const std::string unit(
      swept_value(harness::find_parameter(first.parameters, constant).value_or(""))
          .value_or(SweptValue{})
          .unit);
  const std::string some = count_text(groups, shown.size(), "lines");
  Picture picture{.name = name,
                  .title = fmt::format("{} over {}{}", metric.title, constant, some),
                  .size = canvas.size_or({})};
  picture.data = fmt::format("# columns: {} | {} | the same where the bound changes; ? is none\n",
                             with_unit(constant, unit), with_unit(metric.label, scale.unit));
  bool changes = false;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::string title = groups.axes.empty() ? metric.label : shown[i]->name;
    picture.data += fmt::format("{}\n# index {}: {}\n", i > 0 ? "\n" : "", i, title);
    for (const Mark& mark : lines[i]) {
      const std::string y = fmt::format("{:.9g}", in_unit(mark.y, scale));
      picture.data += fmt::format("{:.9g} {} {}\n", mark.x, y, mark.bound_changes ? y : "?");
      changes = changes || mark.bound_changes;
    }
    constexpr std::size_t kDifferent = 7;
    picture.curves.push_back(
        fmt::format("data index {} using 1:2 with {} {} lw 2 dt {} pt 7 ps 0.7 title {}", i,
                    lines[i].size() > kMostSymbols ? "lines" : "linespoints", gnuplot_color(i),
                    1 + i / kDifferent, groups.axes.empty() ? "''" : gnuplot_string(title)));
  }
  if (changes) {
    picture.curves.push_back(
        "data using 1:3 with points lc rgb '#444444' lw 1.5 pt 6 ps 1.7 title 'the bound changes'");
  }
  for (double& y : ys) y = in_unit(y, scale);
  picture.settings = fmt::format(
      "set xlabel {}\nset ylabel {}\n{}{}set offsets 0, 0, graph 0.03, graph 0.03\n",
      gnuplot_string(with_unit(constant, unit)),
      gnuplot_string(with_unit(metric.label, scale.unit)), axis_text('x', xs), axis_text('y', ys));
  return write_picture(picture, canvas);
}

}  // namespace howard::reports
