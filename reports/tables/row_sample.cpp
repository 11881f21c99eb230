// SPDX-License-Identifier: Apache-2.0
#include "reports/tables/row_sample.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>

#include "base/text.h"

namespace howard::reports {
namespace {

using harness::Metric;
using harness::PointResult;
using Points = std::vector<const PointResult*>;
using Places = std::set<std::size_t>;

constexpr std::size_t kMostBest = 20;
constexpr std::size_t kMostFailed = 5;

/// Holds the fastest points of the combinations of the axes that are not swept.
struct Fastest {
  std::vector<std::size_t> places;  ///< The fastest one first, at most kMostBest.
  std::size_t combinations = 0;
  std::string axes;  ///< The axes by which they differ: "shape, dispatch".
};

Fastest find_fastest(const Points& points, const std::vector<std::string>& swept) {
  std::map<std::string, std::size_t> best;
  std::vector<std::string> axes;
  const auto time = [&](std::size_t place) { return points[place]->find_metric("time")->value; };
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (points[i]->find_metric("time") == nullptr) continue;
    std::string key;
    for (const auto& [axis, value] : points[i]->parameters) {
      if (swept.empty() || std::ranges::find(swept, axis) != swept.end()) continue;
      key.append(axis).append(":").append(value).append("/");
      const auto first = harness::find_parameter(points.front()->parameters, axis);
      if (value != first && std::ranges::find(axes, axis) == axes.end()) axes.push_back(axis);
    }
    const auto [place, is_new] = best.emplace(std::move(key), i);
    if (!is_new && time(i) < time(place->second)) place->second = i;
  }
  Fastest fastest{.places = {}, .combinations = best.size(), .axes = join(axes, ", ")};
  for (const auto& [key, place] : best) fastest.places.push_back(place);
  std::ranges::stable_sort(fastest.places, {}, time);
  if (fastest.places.size() > kMostBest) fastest.places.resize(kMostBest);
  return fastest;
}

/// Returns "first the fastest of each shape, dispatch (20 of 40), then "; empty if nothing was
/// timed.
std::string describe(const Fastest& fastest) {
  if (fastest.places.empty()) return "";
  if (fastest.axes.empty()) return "first the fastest, then ";
  const bool all = fastest.places.size() == fastest.combinations;
  return fmt::format(
      "first the fastest of each {}{}, then ", fastest.axes,
      all ? "" : fmt::format(" ({} of {})", fastest.places.size(), fastest.combinations));
}

/// Adds places of `count` points until there are `most`. Their distances follow the golden ratio,
/// because with equal distances the rows of a grid would all have the same value of an axis.
void add_spread(std::size_t count, std::size_t most, Places& places) {
  constexpr std::uint32_t kGolden = 2654435769;  // 2^32 over the golden ratio
  std::uint32_t position = 0;
  while (places.size() < most) {
    places.insert(static_cast<std::size_t>((std::uint64_t{position} * count) >> 32U));
    position += kGolden;
  }
}

}  // namespace

RowSample sample_rows(const Points& points, const std::vector<std::string>& swept) {
  if (points.size() <= kMostRows) return {.points = points, .note = ""};
  const Fastest fastest = find_fastest(points, swept);
  const std::vector<std::size_t>& best = fastest.places;
  Places rest;
  std::size_t failed = 0;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const bool broke = points[i]->failed && ++failed <= kMostFailed;
    // With another constant, a published figure would be beside many points and describe none of
    // them.
    if ((points[i]->reference && swept.empty()) || broke) rest.insert(i);
  }
  const bool whole = rest.size() == points.size();
  if (whole) return {.points = points, .note = ""};
  Places all(best.begin(), best.end());
  all.insert(rest.begin(), rest.end());
  add_spread(points.size(), std::max(kMostRows, all.size()), all);
  for (const std::size_t place : best) all.erase(place);
  RowSample sample;
  for (const std::size_t place : best) sample.points.push_back(points[place]);
  for (const std::size_t place : all) sample.points.push_back(points[place]);
  sample.note = fmt::format(
      "{} of {} rows: {}a sample of the others; --all-rows shows all, and JSON and CSV have them",
      sample.points.size(), points.size(), describe(fastest));
  return sample;
}

}  // namespace howard::reports
