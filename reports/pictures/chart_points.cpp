// SPDX-License-Identifier: Apache-2.0
#include "reports/pictures/chart_points.h"

#include <fmt/format.h>
#include <algorithm>

namespace howard::reports {
namespace {

using harness::PointResult;

bool has(const PointResult& point, std::string_view axis, std::string_view value) {
  return harness::find_parameter(point.parameters, axis).value_or("") == value;
}

}  // namespace

std::string words_of(const std::string& axis, std::string_view value) {
  if (value == "yes") return axis;
  if (value == "no") return "not " + axis;
  const bool number = value.find_first_not_of("0123456789") == std::string_view::npos;
  return number ? fmt::format("{} {}", axis, value) : std::string(value);
}

ChartPoints chart_points(const harness::ExperimentResult& result, harness::Backend backend,
                         std::string_view metric, const std::vector<std::string>& free) {
  ChartPoints chart;
  for (const PointResult& point : result.points) {
    const harness::Metric* const found = point.find_metric(metric);
    if (point.backend == backend && found != nullptr && found->value > 0) {
      chart.points.push_back(&point);
    }
  }
  if (chart.points.empty()) return chart;
  const PointResult& first = *chart.points.front();
  for (const auto& [axis, value] : first.parameters) {
    if (std::ranges::find(free, axis) != free.end()) continue;
    const auto others = std::ranges::stable_partition(
        chart.points, [&](const PointResult* point) { return has(*point, axis, value); });
    if (others.empty()) continue;
    chart.points.erase(others.begin(), others.end());
    chart.held += (chart.held.empty() ? "" : ", ") + axis + " " + value;
  }
  return chart;
}

}  // namespace howard::reports
