// SPDX-License-Identifier: Apache-2.0
#include "reports/sweeps/sweep_map.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <string_view>
#include <utility>

#include "reports/tables/format.h"

namespace howard::reports {
namespace {

using harness::PointResult;

constexpr std::size_t kMostPanels = 12;
constexpr std::size_t kMostColumns = 4;

/// Holds the values of a constant, rising, and the place of each.
class Ruler {
 public:
  Ruler(const std::vector<const SweepGroup*>& groups, const std::string& constant)
      : constant_(constant) {
    for (const SweepGroup* const group : groups) {
      for (const PointResult* const point : group->points) places_.emplace(number_of(*point), 0);
    }
    std::size_t next = 0;
    for (auto& [value, place] : places_) place = next++;
    const PointResult& first = *groups.front()->points.front();
    unit_ = swept_value(text_of(first)).value_or(SweptValue{}).unit;
  }

  std::size_t size() const { return places_.size(); }
  std::size_t place_of(const PointResult& point) const { return places_.at(number_of(point)); }
  std::string title() const { return with_unit(constant_, unit_); }
  /// Returns the values, rising.
  std::vector<std::string> texts() const {
    std::vector<std::string> list;
    for (const auto& [value, place] : places_) list.push_back(fmt::format("{:.6g}", value));
    return list;
  }

  /// Returns marks for the first, middle and last value at each panel's place.
  std::string tics(std::size_t panels, double stride) const {
    std::string list;
    for (std::size_t panel = 0; panel < panels; ++panel) {
      for (const std::size_t place : {std::size_t{0}, (size() - 1) / 2, size() - 1}) {
        const double value = std::next(places_.begin(), static_cast<std::ptrdiff_t>(place))->first;
        list += fmt::format("{}'{:.6g}' {:.10g}", list.empty() ? "" : ", ", value,
                            static_cast<double>(panel) * stride + static_cast<double>(place));
      }
    }
    return "(" + list + ")";
  }

 private:
  std::string_view text_of(const PointResult& point) const {
    return harness::find_parameter(point.parameters, constant_).value_or("");
  }
  double number_of(const PointResult& point) const {
    return swept_value(text_of(point)).value_or(SweptValue{}).number;
  }

  std::string constant_;
  std::string unit_;
  std::map<double, std::size_t> places_;
};

/// Returns how many times worse than the best a point is.
double distance(const PointResult& point, const PointResult& best, const std::string& name) {
  const harness::Metric& metric = *point.find_metric(name);
  const double ratio = metric.value / best.find_metric(name)->value;
  return metric.better == harness::Better::lower ? ratio : 1 / ratio;
}

/// Says where the panels are, in cells.
struct PanelLayout {
  std::size_t columns, rows;
  double width, height;  ///< The distance from a panel to the next.

  PanelLayout(std::size_t panels, const Ruler& across, const Ruler& up)
      : columns(std::min(kMostColumns, static_cast<std::size_t>(
                                           std::ceil(std::sqrt(static_cast<double>(panels)))))),
        rows((panels + columns - 1) / columns),
        width(1.15 * static_cast<double>(across.size())),
        height((panels == 1 ? 1.15 : 1.35) * static_cast<double>(up.size())) {}

  double left(std::size_t panel) const { return static_cast<double>(panel % columns) * width; }
  double bottom(std::size_t panel) const {
    return static_cast<double>(rows - 1 - panel / columns) * height;
  }
};

/// Returns all cells of a panel, row by row, because an image has no gaps.
std::string panel_text(const SweepGroup& group, const Ruler& across, const Ruler& up, double left,
                       double bottom, const std::string& metric) {
  const PointResult& best = best_of(group.points, metric);
  std::vector<double> cells(across.size() * up.size(), NAN);
  for (const PointResult* const point : group.points) {
    cells[up.place_of(*point) * across.size() + across.place_of(*point)] =
        distance(*point, best, metric);
  }
  std::string text;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const auto [row, column] = std::pair(i / across.size(), i % across.size());
    text += fmt::format("{:.10g} {:.10g} {}\n", left + static_cast<double>(column),
                        bottom + static_cast<double>(row),
                        std::isnan(cells[i]) ? "NaN" : fmt::format("{:.6g}", cells[i]));
  }
  return text;
}

std::string label(std::string_view text, double x, double y) {
  return fmt::format("set label {} at {:.10g},{:.10g} center\n", gnuplot_string(text), x, y);
}

}  // namespace

PlotFiles write_sweep_map(const SweepGroups& groups, const std::vector<std::string>& axes,
                          const SweepMetric& metric, const std::string& name,
                          const Canvas& canvas) {
  const std::vector<const SweepGroup*> shown = some_of(groups, kMostPanels);
  const Ruler across(shown, axes[0]);
  const Ruler up(shown, axes[1]);
  const PanelLayout layout(shown.size(), across, up);
  const std::string some = count_text(groups, shown.size(), "panels");
  Picture picture{.name = name,
                  .title = fmt::format("{} over {} and {}{}", metric.title, axes[0], axes[1], some),
                  .size = canvas.size_or({})};
  picture.data = fmt::format(
      "# columns: place of {} | place of {} | {}: times worse than the panel's best; the last "
      "index: the best\n",
      across.title(), up.title(), metric.label);
  std::string marks;
  std::string labels;
  double farthest = 1;
  for (std::size_t i = 0; i < shown.size(); ++i) {
    const SweepGroup& group = *shown[i];
    const double left = layout.left(i);
    const double bottom = layout.bottom(i);
    picture.data += fmt::format("# index {}: {}\n{}\n\n", i, group.name,
                                panel_text(group, across, up, left, bottom, metric.name));
    picture.curves.push_back(fmt::format("data index {} using 1:2:3 with image notitle", i));
    const PointResult& best = best_of(group.points, metric.name);
    const harness::Metric& value = *best.find_metric(metric.name);
    farthest = std::max(farthest, distance(worst_of(group.points, metric.name), best, metric.name));
    marks += fmt::format("{:.10g} {:.10g}\n", left + static_cast<double>(across.place_of(best)),
                         bottom + static_cast<double>(up.place_of(best)));
    const double middle = left + (static_cast<double>(across.size()) - 1) / 2;
    const double top = bottom + static_cast<double>(up.size()) - 0.5;
    const std::string words = "best " + format_quantity(value.value, value.unit);
    labels += label(words, middle, top + 0.07 * static_cast<double>(up.size()));
    if (!group.values.empty()) {
      labels += label(group.name, middle, top + 0.19 * static_cast<double>(up.size()));
    }
  }
  picture.data += fmt::format("# index {}: the best points\n{}", shown.size(), marks);
  picture.curves.push_back(fmt::format(
      "data index {} using 1:2 with points lc rgb '#000000' lw 2 pt 6 ps 1.5 title 'best'",
      shown.size()));
  // The scale has doublings, if there are any.
  picture.settings = fmt::format(
      "set xlabel {}\nset ylabel {}\nset xtics {}\nset ytics {}\n"
      "set xrange [{:.6g}:{:.6g}]\nset yrange [{:.6g}:{:.6g}]\n{}set cbrange [1:{:.6g}]\n"
      "set cblabel {} offset 2,0\nset format cb '%gx'\n{}"
      "unset grid\nset border 0\n{}",
      gnuplot_string(across.title()), gnuplot_string(up.title()),
      across.tics(layout.columns, layout.width), up.tics(layout.rows, layout.height), -0.5,
      layout.left(layout.columns - 1) + static_cast<double>(across.size()) - 0.5, -0.5,
      static_cast<double>(layout.rows) * layout.height - 0.5,
      farthest >= 3 ? "set logscale cb 2\n" : "", std::max(farthest, 1.01),
      gnuplot_string(metric.label + ": times worse than the panel's best"), gnuplot_palette(),
      labels);
  return write_picture(picture, canvas);
}

std::vector<MapChart> sweep_maps(const SweepGroups& groups, const std::vector<std::string>& axes,
                                 const SweepMetric& metric) {
  constexpr std::size_t kColorMarks = 8;
  const std::vector<const SweepGroup*> shown = some_of(groups, kMostPanels);
  const Ruler across(shown, axes[0]);
  const Ruler up(shown, axes[1]);
  std::vector<MapChart> maps;
  for (const SweepGroup* const group : shown) {
    const PointResult& best = best_of(group->points, metric.name);
    const double farthest = distance(worst_of(group->points, metric.name), best, metric.name);
    const harness::Metric& value = *best.find_metric(metric.name);
    MapChart& map = maps.emplace_back(
        MapChart{.title = fmt::format("{} over {} and {}{}{}; best {}", metric.title, axes[0],
                                      axes[1], group->name.empty() ? "" : ", ", group->name,
                                      format_quantity(value.value, value.unit)),
                 .x_label = across.title(),
                 .y_label = up.title(),
                 .label = "times worse than the best",
                 .columns = across.texts(),
                 .rows = up.texts(),
                 .cells = {},
                 .colors = log_axis(1, std::max(farthest, 1.01), kColorMarks)});
    for (const PointResult* const point : group->points) {
      const double worse = distance(*point, best, metric.name);
      map.cells.push_back({.column = across.place_of(*point),
                           .row = up.place_of(*point),
                           .value = worse,
                           .text = fmt::format("{:.3g}x", worse)});
    }
  }
  return maps;
}

}  // namespace howard::reports
