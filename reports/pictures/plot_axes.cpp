// SPDX-License-Identifier: Apache-2.0
#include "reports/pictures/plot_axes.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <string_view>
#include <utility>

#include "reports/pictures/axis_marks.h"
#include "reports/pictures/frame.h"
#include "reports/tables/format.h"

namespace howard::reports {
namespace {

/// An axis is wider than the data at each end by this factor.
constexpr double kMargin = 1.25;

struct AxisRange {
  double low = 0;
  double high = 0;

  void include(double value) {
    low = low == 0 ? value : std::min(low, value);
    high = std::max(high, value);
  }
  double ratio() const { return high / low; }
};

/// Says what the axes have to cover, in the units drawn.
struct PlotExtent {
  AxisRange x, y;
  std::vector<double> x_values;  ///< Each once, rising.
};

PlotExtent extent_of(const PlotData& data) {
  PlotExtent extent;
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
std::string mark_label(double value, std::string_view unit) {
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

/// Returns the sizes of the data, but never so many that their labels touch.
std::vector<double> size_marks(const PlotExtent& extent, double most) {
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

PlotAxis log_axis_between(double low, double high, const std::vector<double>& marks,
                          std::string_view unit = "") {
  PlotAxis axis{.logarithmic = true, .low = low, .high = high, .marks = marks, .labels = {}};
  for (const double mark : marks) axis.labels.push_back(mark_label(mark, unit));
  return axis;
}

PlotAxis linear_axis_with(double low, double high, double room,
                          std::vector<double> (*marks_of)(double, double, double)) {
  if (high <= low) {
    const double around = low == 0 ? 1 : std::abs(low) / 4;
    low -= around;
    high += around;
  }
  PlotAxis axis{.low = low, .high = high, .marks = marks_of(low, high, room), .labels = {}};
  for (const double mark : axis.marks) axis.labels.push_back(format_exact(mark));
  return axis;
}

PlotAxis fitted_axis_with(const std::vector<double>& values, double room, double label_room,
                          PlotAxis (*linear)(double, double, double)) {
  constexpr double kFew = 8;
  const auto [least, most] = std::ranges::minmax(values);
  if (least <= 0 || most < kFew * least) return linear(least, most, room);
  PlotAxis axis = log_axis(least, most, static_cast<std::size_t>(std::max(5.0, room / label_room)));
  // It begins and ends with the data.
  constexpr double kBeyond = 1.05;
  axis.low = std::max(axis.low, least / kBeyond);
  axis.high = std::min(axis.high, most * kBeyond);
  for (std::size_t i = axis.marks.size(); i-- > 0;) {
    if (axis.marks[i] >= axis.low && axis.marks[i] <= axis.high) continue;
    axis.marks.erase(axis.marks.begin() + static_cast<std::ptrdiff_t>(i));
    axis.labels.erase(axis.labels.begin() + static_cast<std::ptrdiff_t>(i));
  }
  return axis;
}

/// Both axes are alike, so that the line of equality is a diagonal.
PlotAxes equal_axes(const PlotExtent& extent, const std::string& unit, const LabelRoom& room) {
  const AxisMarks marks =
      log_marks(std::min(extent.x.low, extent.y.low), std::max(extent.x.high, extent.y.high),
                static_cast<std::size_t>(room.quantities));
  const PlotAxis axis = log_axis_between(marks.low(), marks.high(), marks.values, unit);
  return {axis, axis};
}

/// Keeps every second, third ... mark, until each is as far from the next as `distance_of` wants.
template <class DistanceOf>
PlotAxis thinned_by(PlotAxis axis, double room, DistanceOf distance_of) {
  for (std::size_t step = 1; step < axis.marks.size(); ++step) {
    bool apart = true;
    for (std::size_t i = step; i < axis.marks.size(); i += step) {
      const double distance = room * (axis.place(axis.marks[i]) - axis.place(axis.marks[i - step]));
      apart = apart && distance >= distance_of(axis.labels[i - step], axis.labels[i]);
    }
    if (!apart) continue;
    PlotAxis kept = axis;
    kept.marks.clear();
    kept.labels.clear();
    for (std::size_t i = 0; i < axis.marks.size(); i += step) {
      kept.marks.push_back(axis.marks[i]);
      kept.labels.push_back(axis.labels[i]);
    }
    return kept;
  }
  axis.marks.resize(std::min<std::size_t>(axis.marks.size(), 1));
  axis.labels.resize(axis.marks.size());
  return axis;
}

}  // namespace

PlotAxis thinned(PlotAxis axis, double room) {
  return thinned_by(std::move(axis), room, [](std::string_view one, std::string_view next) {
    constexpr double kBetween = 10;
    return (drawn_width(one) + drawn_width(next)) / 2 + kBetween;
  });
}

PlotAxis thinned_upwards(PlotAxis axis, double room) {
  return thinned_by(std::move(axis), room,
                    [](std::string_view, std::string_view) { return kLineHeight; });
}

double label_width(const PlotAxis& axis) {
  double widest = 0;
  for (const std::string& label : axis.labels) widest = std::max(widest, drawn_width(label));
  return widest;
}

double PlotAxis::place(double value) const {
  return logarithmic ? std::log(value / low) / std::log(high / low) : (value - low) / (high - low);
}

PlotAxis linear_axis(double low, double high, double room) {
  return linear_axis_with(low, high, room, linear_marks);
}

PlotAxis linear_axis_upwards(double low, double high, double room) {
  return linear_axis_with(low, high, room, linear_marks_upwards);
}

PlotAxis whole_axis(double low, double high, double room) {
  PlotAxis axis = linear_axis(low, high, room);
  for (std::size_t i = axis.marks.size(); i-- > 0;) {
    if (axis.marks[i] == std::round(axis.marks[i])) continue;
    axis.marks.erase(axis.marks.begin() + static_cast<std::ptrdiff_t>(i));
    axis.labels.erase(axis.labels.begin() + static_cast<std::ptrdiff_t>(i));
  }
  return axis;
}

PlotAxis fitted_axis(const std::vector<double>& values, double room) {
  constexpr double kLabel = 75;
  return fitted_axis_with(values, room, kLabel, linear_axis);
}

PlotAxis fitted_axis_upwards(const std::vector<double>& values, double room) {
  constexpr double kLabel = 45;
  return fitted_axis_with(values, room, kLabel, linear_axis_upwards);
}

PlotAxis log_axis(double low, double high, std::size_t most) {
  const AxisMarks marks = log_marks(low, high, most);
  return log_axis_between(marks.low(), marks.high(), marks.values);
}

PlotAxes plot_axes(const PlotData& data, const harness::Plot& plot, const PictureSize& size) {
  const PlotExtent extent = extent_of(data);
  const LabelRoom room(size);
  if (plot.compares) return equal_axes(extent, data.x_unit, room);
  // For amounts of bytes, as for sizes, the values of the data are the round ones.
  const bool of_data = data.x_unit.empty() || data.x_unit == "B";
  const AxisMarks x =
      of_data ? AxisMarks{size_marks(extent, room.sizes)}
              : log_marks(extent.x.low, extent.x.high, static_cast<std::size_t>(room.quantities));
  const double margin = of_data ? kMargin : 1;
  PlotAxes axes{log_axis_between(std::min(x.low(), extent.x.low) / margin,
                                 std::max(x.high(), extent.x.high) * margin, x.values, data.x_unit),
                log_axis(extent.y.low, extent.y.high, room.upwards)};
  // Shares are compared by their differences.
  constexpr double kAround = 150;
  constexpr double kHead = 1.05;
  if (data.y_scale.unit == "%") {
    axes.y = linear_axis_upwards(0, kHead * extent.y.high, size.height - kAround);
  }
  return axes;
}

}  // namespace howard::reports
