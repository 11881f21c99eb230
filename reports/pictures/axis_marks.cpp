// SPDX-License-Identifier: Apache-2.0
#include "reports/pictures/axis_marks.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "reports/pictures/frame.h"
#include "reports/tables/format.h"

namespace howard::reports {
namespace {

/// An end that differs from a mark only by rounding does not need one more mark.
constexpr double kRounding = 1e-9;

using Steps = std::vector<double>;

/// Returns all values of `steps` times a power of ten, from the last one not above `low` to the
/// first one not below `high`.
std::vector<double> decades(double low, double high, const Steps& steps) {
  std::vector<double> marks;
  const int first = static_cast<int>(std::floor(std::log10(low))) - 1;
  for (int decade = first;; ++decade) {
    for (const double step : steps) {
      // Powers of ten with a positive exponent are exact.
      const double mark = decade < 0 ? step / std::pow(10, -decade) : step * std::pow(10, decade);
      if (mark <= low * (1 + kRounding)) marks.clear();
      marks.push_back(mark);
      if (mark >= high * (1 - kRounding)) return marks;
    }
  }
}

/// Returns multiples of one round step.
std::vector<double> multiples(double low, double high, std::size_t most) {
  const int least = static_cast<int>(std::floor(std::log10(high - low))) - 1;
  for (int decade = least;; ++decade) {
    for (const double digit : {1.0, 2.0, 5.0}) {
      const double step = digit * std::pow(10, decade);
      const double first = std::floor(low / step + kRounding);
      const double last = std::ceil(high / step - kRounding);
      if (last - first + 1 > static_cast<double>(most)) continue;
      std::vector<double> marks;
      for (double i = first; i <= last; ++i) {
        // 3 * 0.1 is not 0.3, but 3 / 10 is.
        marks.push_back(decade < 0 ? i * digit / std::pow(10, -decade) : i * step);
      }
      return marks;
    }
  }
}

/// Returns the finest multiples within `low` to `high` that are as far apart as `distance_of`
/// wants.
template <class DistanceOf>
std::vector<double> marks_with_room(double low, double high, double room, DistanceOf distance_of) {
  constexpr std::size_t kMost = 20;
  for (std::size_t most = kMost; most >= 2; --most) {
    std::vector<double> marks = multiples(low, high, most);
    const double slack = kRounding * (high - low);
    std::erase_if(marks, [&](double mark) { return mark < low - slack || mark > high + slack; });
    const double distance = marks.size() < 2 ? room : (marks[1] - marks[0]) / (high - low) * room;
    if (distance >= distance_of(marks)) return marks;
  }
  return {};
}

}  // namespace

std::vector<double> linear_marks(double low, double high, double room) {
  constexpr double kBetween = 16;
  return marks_with_room(low, high, room, [](const std::vector<double>& marks) {
    double widest = 0;
    for (const double mark : marks) widest = std::max(widest, drawn_width(format_exact(mark)));
    return widest + kBetween;
  });
}

std::vector<double> linear_marks_upwards(double low, double high, double room) {
  constexpr double kBetween = 2;  // lines
  return marks_with_room(low, high, room,
                         [](const std::vector<double>&) { return kLineHeight * kBetween; });
}

AxisMarks log_marks(double low, double high, std::size_t most) {
  constexpr double kAlone = 1.25;  // around a single value
  if (high < low * (1 + kRounding)) {
    low /= kAlone;
    high *= kAlone;
  }
  if (high < 2 * low) return {multiples(low, high, std::max<std::size_t>(most, 5))};
  const std::vector<Steps> finest_first{
      {1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 7, 8, 9}, {1, 1.5, 2, 3, 4, 5, 7}, {1, 2, 5}, {1, 3}};
  for (const Steps& steps : finest_first) {
    std::vector<double> marks = decades(low, high, steps);
    if (marks.size() <= most) return {std::move(marks)};
  }
  return {decades(low, high, {1})};
}

}  // namespace howard::reports
