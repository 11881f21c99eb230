// SPDX-License-Identifier: Apache-2.0
#include "reports/sweeps/sweep_map.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <string_view>
#include <utility>

#include "reports/pictures/frame.h"
#include "reports/pictures/heat_map.h"
#include "reports/pictures/plot_axes.h"
#include "reports/pictures/xy_chart.h"
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

  /// Returns an axis with marks for the first, middle and last value at each panel's place; without
  /// the middle one if a panel of `room` pixels has no room for it.
  PlotAxis axis(std::size_t panels, double stride, double room) const {
    const std::vector<std::string> all = texts();
    double widest = 0;
    for (const std::string& text : all) widest = std::max(widest, drawn_width(text));
    std::vector<std::size_t> places{0, (size() - 1) / 2, size() - 1};
    if (3 * widest > room) places.erase(places.begin() + 1);

    PlotAxis axis{.low = -0.5, .high = static_cast<double>(panels) * stride - 0.5};
    for (std::size_t panel = 0; panel < panels; ++panel) {
      for (const std::size_t place : places) {
        axis.marks.push_back(static_cast<double>(panel) * stride + static_cast<double>(place));
        axis.labels.push_back(all[place]);
      }
    }
    return axis;
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

  bool named;  ///< Each panel has a name above it.

  /// There are at most `most` columns.
  PanelLayout(std::size_t panels, std::size_t most, bool with_names, const Ruler& across,
              const Ruler& up)
      : columns(std::clamp<std::size_t>(
            static_cast<std::size_t>(std::ceil(std::sqrt(static_cast<double>(panels)))), 1, most)),
        rows((panels + columns - 1) / columns),
        width(1.15 * static_cast<double>(across.size())),
        height((with_names ? 1.45 : 1.15) * static_cast<double>(up.size())),
        named(with_names) {}

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

constexpr std::string_view kBestMark = "lc rgb '#000000' lw 2 pt 6 ps 1.5";

std::string best_words(const PointResult& best, const std::string& metric) {
  const harness::Metric& value = *best.find_metric(metric);
  return "best " + format_quantity(value.value, value.unit);
}

std::string label(std::string_view text, double x, double y) {
  return fmt::format("set label {} at {:.10g},{:.10g} center\n", gnuplot_string(text), x, y);
}

/// Says how wide the words above panels are, and how far the farthest point is from its best.
struct PanelExtent {
  double widest = 0;
  double farthest = 1.01;

  PanelExtent(const std::vector<const SweepGroup*>& groups, const std::string& metric) {
    for (const SweepGroup* const group : groups) {
      const PointResult& best = best_of(group->points, metric);
      farthest = std::max(farthest, distance(worst_of(group->points, metric), best, metric));
      widest = std::max({widest, drawn_width(group->name), drawn_width(best_words(best, metric))});
    }
  }
};

/// Draws the panels and their best points, and returns the lines of script for the words above
/// them.
std::string draw_panels(const std::vector<const SweepGroup*>& groups, const Ruler& across,
                        const Ruler& up, const PanelLayout& layout, const std::string& metric,
                        Picture& picture) {
  std::string marks;
  std::string labels;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const SweepGroup& group = *groups[i];
    const double left = layout.left(i);
    const double bottom = layout.bottom(i);
    picture.data += fmt::format("# index {}: {}\n{}\n\n", i, group.name,
                                panel_text(group, across, up, left, bottom, metric));
    picture.curves.push_back(fmt::format("data index {} using 1:2:3 with image notitle", i));
    const PointResult& best = best_of(group.points, metric);
    marks += fmt::format("{:.10g} {:.10g}\n", left + static_cast<double>(across.place_of(best)),
                         bottom + static_cast<double>(up.place_of(best)));
    const double middle = left + (static_cast<double>(across.size()) - 1) / 2;
    const double height = static_cast<double>(up.size());
    const double top = bottom + height - 0.5;
    labels += label(best_words(best, metric), middle, top + (layout.named ? 0.1 : 0.07) * height);
    if (layout.named) labels += label(group.name, middle, top + 0.28 * height);
  }
  picture.data += fmt::format("# index {}: the best points\n{}", groups.size(), marks);
  picture.curves.push_back(
      fmt::format("data index {} using 1:2 with points {} notitle", groups.size(), kBestMark));
  return labels;
}

}  // namespace

PlotFiles write_sweep_map(const SweepGroups& groups, const std::vector<std::string>& axes,
                          const SweepMetric& metric, const std::string& name,
                          const Canvas& canvas) {
  constexpr double kPanel = 160;  // the least height of one, with its words
  constexpr double kBetween = 16;
  constexpr std::size_t kScaleMarks = 8;
  const std::vector<const SweepGroup*> shown = some_of(groups, kMostPanels);
  const Ruler across(shown, axes[0]);
  const Ruler up(shown, axes[1]);
  const PanelExtent extent(shown, metric.name);
  PlotAxis colors = log_axis(1, extent.farthest, kScaleMarks);
  for (std::string& label : colors.labels) label += "x";
  Picture picture{
      .name = name,
      .title = fmt::format("{} over {} and {}{}", metric.title, axes[0], axes[1],
                           count_text(groups, shown.size(), "panels")),
      .size = canvas.size_or({}),
      .x_label = across.title(),
      .y_label = up.title(),
      .right_label = metric.label + ": times worse than the panel's best",
      .legend = {{.title = "best", .point = std::string(kBestMark)}},
      .right = color_box_width(colors),
      .data = fmt::format(
          "# columns: place of {} | place of {} | {}: times worse than the panel's best; the last "
          "index: the best\n",
          across.title(), up.title(), metric.label),
      .settings = {},
      .curves = {}};
  const double room = picture.size.width - picture.left - picture.right;
  const auto most = static_cast<std::size_t>(room / (extent.widest + kBetween));
  const PanelLayout layout(shown.size(), std::clamp<std::size_t>(most, 1, kMostColumns),
                           !groups.axes.empty(), across, up);
  picture.plot_height = std::max(picture.plot_height, kPanel * static_cast<double>(layout.rows));
  const std::string labels = draw_panels(shown, across, up, layout, metric.name, picture);
  const double panel = room / static_cast<double>(layout.columns);
  PlotAxis x = across.axis(layout.columns, layout.width, panel);
  x.high = layout.left(layout.columns - 1) + static_cast<double>(across.size()) - 0.5;
  picture.settings = gnuplot_axes(x, up.axis(layout.rows, layout.height, INFINITY), picture);
  picture.settings += color_box(colors, picture) + "unset grid\nset border 0\n" + labels;
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
