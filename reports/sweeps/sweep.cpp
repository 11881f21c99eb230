// SPDX-License-Identifier: Apache-2.0
#include "reports/sweeps/sweep.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <utility>

#include "reports/pictures/chart_points.h"

namespace howard::reports {
namespace {

using harness::PointResult;

std::string_view value_of(const PointResult& point, std::string_view axis) {
  return harness::find_parameter(point.parameters, axis).value_or("");
}

bool is_one_of(const std::string& axis, const std::vector<std::string>& axes) {
  return std::ranges::find(axes, axis) != axes.end();
}

/// Returns the values of a point on all axes but `left_out`, as one word.
std::string key_without(const PointResult& point, const std::vector<std::string>& left_out) {
  std::string key;
  for (const auto& [axis, value] : point.parameters) {
    if (!is_one_of(axis, left_out)) key.append(axis).append(":").append(value).append("/");
  }
  return key;
}

double value_in(const PointResult& point, std::string_view metric) {
  const harness::Metric& found = *point.find_metric(metric);
  // The best is the least.
  return found.better == harness::Better::lower ? found.value : -found.value;
}

/// Divides the points into parts to which `key_of` gives the same key, in the order of their first
/// points.
template <class KeyOf>
std::vector<SweepPoints> divide(const SweepPoints& points, KeyOf key_of) {
  std::map<std::string, std::size_t> places;
  std::vector<SweepPoints> parts;
  for (const PointResult* const point : points) {
    const auto [place, is_new] = places.emplace(key_of(*point), parts.size());
    if (is_new) parts.emplace_back();
    parts[place->second].push_back(point);
  }
  return parts;
}

/// Returns the axes that are not swept and by which points of several parts differ.
std::vector<std::string> differing_axes(const std::vector<SweepPoints>& parts,
                                        const std::vector<std::string>& swept) {
  std::vector<std::string> axes;
  for (const SweepPoints& part : parts) {
    for (const auto& [axis, value] : part.front()->parameters) {
      if (is_one_of(axis, swept) || is_one_of(axis, axes)) continue;
      const bool differs = std::ranges::any_of(
          parts, [&](const SweepPoints& other) { return value_of(*other.front(), axis) != value; });
      if (differs) axes.push_back(axis);
    }
  }
  return axes;
}

}  // namespace

std::optional<SweptValue> swept_value(std::string_view text) {
  SweptValue value;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value.number);
  if (failure != std::errc()) return std::nullopt;
  value.unit = text.substr(static_cast<std::size_t>(end - text.data()));
  return value;
}

SweepGroups group_sweep(const harness::ExperimentResult& result,
                        const std::vector<std::string>& swept, std::string_view metric) {
  SweepPoints points;
  for (const PointResult& point : result.points) {
    const harness::Metric* const found = point.find_metric(metric);
    const bool shown = point.backend == harness::Backend::emulated && found && found->value > 0;
    if (shown) points.push_back(&point);
  }
  const auto key = [&](const PointResult& point) { return key_without(point, swept); };
  std::vector<SweepPoints> parts = divide(points, key);
  SweepGroups groups{.axes = differing_axes(parts, swept), .groups = {}};
  for (SweepPoints& part : parts) {
    SweepGroup& group = groups.groups.emplace_back();
    for (const std::string& axis : groups.axes) {
      group.values.emplace_back(value_of(*part.front(), axis));
      group.name += (group.name.empty() ? "" : ", ") + words_of(axis, group.values.back());
    }
    group.points = std::move(part);
  }
  return groups;
}

std::vector<SweepSeries> series_along(const SweepGroup& group,
                                      const std::vector<std::string>& swept,
                                      const std::string& constant) {
  std::vector<std::string> others = swept;
  std::erase(others, constant);
  const std::vector<SweepPoints> parts = divide(group.points, [&](const PointResult& point) {
    std::string key;
    for (const std::string& other : others) key.append(value_of(point, other)).append("/");
    return key;
  });
  std::vector<SweepSeries> series;
  for (const SweepPoints& points : parts) {
    SweepSeries& one = series.emplace_back();
    for (const PointResult* const point : points) {
      if (const auto value = swept_value(value_of(*point, constant))) {
        one.push_back({value->number, point});
      }
    }
    std::ranges::stable_sort(one, {}, &SeriesPoint::value);
  }
  return series;
}

std::vector<const SweepGroup*> some_of(const SweepGroups& groups, std::size_t most) {
  const std::size_t count = std::min(most, groups.groups.size());
  std::vector<const SweepGroup*> some;
  for (std::size_t i = 0; i < count; ++i) {
    some.push_back(&groups.groups[i * groups.groups.size() / count]);
  }
  return some;
}

std::string count_text(const SweepGroups& groups, std::size_t shown, std::string_view what) {
  const std::size_t all = groups.groups.size();
  return shown == all ? "" : fmt::format(" ({} of {} {})", shown, all, what);
}

const PointResult& best_of(const SweepPoints& points, std::string_view metric) {
  return **std::ranges::min_element(
      points, {}, [&](const PointResult* point) { return value_in(*point, metric); });
}

const PointResult& worst_of(const SweepPoints& points, std::string_view metric) {
  // max_element gives the first of equals too.
  return **std::ranges::max_element(
      points, {}, [&](const PointResult* point) { return value_in(*point, metric); });
}

}  // namespace howard::reports
