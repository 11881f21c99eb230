// SPDX-License-Identifier: Apache-2.0
#include "profiler/formats/device_log/clock_alignment.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

namespace howard::profiler {
namespace {

constexpr double kMostDrift = 0.1;
/// From fewer programs the rate of a clock cannot be told: each starts at its own time after its
/// call.
constexpr std::size_t kFewestForARate = 16;

/// Holds a pair in picoseconds since the first one's host and device times.
struct Point {
  double host, device;
};

bool is_believed(double rate) { return std::abs(rate - 1) <= kMostDrift; }

double quantile(std::vector<double> values, double part) {
  const auto nth =
      values.begin() + static_cast<std::ptrdiff_t>(part * static_cast<double>(values.size() - 1));
  std::ranges::nth_element(values, nth);
  return *nth;
}

/// Returns the slope of a line through the points that half of them could not change: the median
/// over points that lie half of the list apart, each counted by how far apart they are in time.
double robust_rate(const std::vector<Point>& points) {
  constexpr std::size_t kMostPoints = 1024;
  const std::size_t step = std::max<std::size_t>(1, points.size() / kMostPoints);
  std::vector<std::pair<double, double>> slopes;  // with their weights
  double weight = 0;
  const std::size_t half = points.size() / 2;
  for (std::size_t i = 0; i + half < points.size(); i += step) {
    const double host = points[i + half].host - points[i].host;
    if (host <= 0) continue;
    slopes.emplace_back((points[i + half].device - points[i].device) / host, host);
    weight += host;
  }
  std::ranges::sort(slopes);
  double below = 0;
  for (const auto& [slope, host] : slopes) {
    below += host;
    if (2 * below >= weight) return slope;
  }
  return 0;
}

/// Returns the points without those far below the line of the others, which are damaged.
std::vector<Point> without_damage(std::vector<Point> points, double rate) {
  std::vector<double> late;
  late.reserve(points.size());
  for (const Point& point : points) late.push_back(point.device - rate * point.host);
  const double quarter = quantile(late, 0.25);
  const double middle = quantile(late, 0.5);
  constexpr double kMillisecond = 1e9;
  const double least = quarter - 10 * (middle - quarter) - kMillisecond;
  std::erase_if(points,
                [&](const Point& point) { return point.device - rate * point.host < least; });
  return points;
}

/// Returns the corners of the lower edge of the points' convex hull, by host time.
std::vector<Point> lower_hull(const std::vector<Point>& points) {
  std::vector<Point> hull;
  for (const Point& point : points) {
    while (hull.size() >= 2) {
      const Point& a = hull[hull.size() - 2];
      const Point& b = hull.back();
      const double turn = (b.host - a.host) * (point.device - a.device) -
                          (b.device - a.device) * (point.host - a.host);
      if (turn > 0) break;
      hull.pop_back();
    }
    hull.push_back(point);
  }
  return hull;
}

/// Returns the median, over parts of the log, of how far its earliest start lies above the line.
double uncertainty(const std::vector<Point>& points, const Point& origin, double rate) {
  constexpr std::size_t kParts = 16;
  std::vector<double> earliest;
  for (std::size_t part = 0; part < kParts; ++part) {
    const std::size_t first = part * points.size() / kParts;
    const std::size_t last = (part + 1) * points.size() / kParts;
    if (first == last) continue;
    double least = points[first].device - rate * points[first].host;
    for (std::size_t i = first; i < last; ++i) {
      least = std::min(least, points[i].device - rate * points[i].host);
    }
    earliest.push_back(std::max(0.0, least - (origin.device - rate * origin.host)));
  }
  return quantile(std::move(earliest), 0.5);
}

/// Aligns a device that fell behind the host more and more, so that the rate of its clock does not
/// show, as if both counted alike: through the program that started soonest after its call.
ClockAlignment as_if_alike(const ClockPair& first, const std::vector<Point>& all) {
  constexpr double kUsualDrift = 0.02;
  const std::vector<Point> points = without_damage(all, 1);
  const Point& soonest = *std::ranges::min_element(
      points, {}, [](const Point& point) { return point.device - point.host; });
  const double span = points.back().host - points.front().host;
  return {.host_origin = first.host + SimTime::picoseconds(std::llround(soonest.host)),
          .device_origin = first.device + SimTime::picoseconds(std::llround(soonest.device)),
          .rate = 1,
          .uncertainty = SimTime::picoseconds(std::llround(kUsualDrift * span)),
          .pairs = points.size()};
}

}  // namespace

SimTime ClockAlignment::device_time(SimTime host) const {
  const auto since = static_cast<double>((host - host_origin).ps());
  return device_origin + SimTime::picoseconds(std::llround(rate * since));
}

std::optional<ClockAlignment> align_clocks(std::span<const ClockPair> pairs) {
  if (pairs.size() < 3) return std::nullopt;
  const ClockPair first = *std::ranges::min_element(pairs, {}, &ClockPair::host);
  std::vector<Point> points;
  points.reserve(pairs.size());
  for (const ClockPair& pair : pairs) {
    points.push_back({static_cast<double>((pair.host - first.host).ps()),
                      static_cast<double>((pair.device - first.device).ps())});
  }
  std::ranges::sort(points, [](const Point& a, const Point& b) {
    return std::pair(a.host, a.device) < std::pair(b.host, b.device);
  });
  if (points.back().host <= 0) return std::nullopt;
  const double rate = robust_rate(points);
  const bool few = points.size() < kFewestForARate;
  if (rate > 1 + kMostDrift || (few && !is_believed(rate))) return as_if_alike(first, points);
  if (!is_believed(rate)) return std::nullopt;
  const std::vector<Point> all = points;
  points = without_damage(std::move(points), rate);
  const std::vector<Point> hull = lower_hull(points);
  const double middle = (points.front().host + points.back().host) / 2;
  const auto after = std::ranges::lower_bound(hull, middle, {}, &Point::host);
  if (after == hull.begin() || after == hull.end()) return std::nullopt;
  const Point& before = *std::prev(after);
  const double touched = (after->device - before.device) / (after->host - before.host);
  if (touched > 1 + kMostDrift || (few && !is_believed(touched))) return as_if_alike(first, all);
  if (!is_believed(touched)) return std::nullopt;
  return ClockAlignment{
      .host_origin = first.host + SimTime::picoseconds(std::llround(before.host)),
      .device_origin = first.device + SimTime::picoseconds(std::llround(before.device)),
      .rate = touched,
      .uncertainty = SimTime::picoseconds(std::llround(uncertainty(points, before, touched))),
      .pairs = points.size()};
}

}  // namespace howard::profiler
