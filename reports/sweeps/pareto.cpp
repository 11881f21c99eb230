// SPDX-License-Identifier: Apache-2.0
#include "reports/sweeps/pareto.h"

#include <algorithm>
#include <utility>

namespace howard::reports {
namespace {

using harness::Metric;
using harness::PointResult;

/// Returns the metric as a cost, of which less is better.
double cost_of(const PointResult& point, const std::string& name) {
  const Metric& metric = *point.find_metric(name);
  return metric.better == harness::Better::lower ? metric.value : -metric.value;
}

SweepPoints front_of(SweepPoints points, const std::string& metric) {
  std::erase_if(points, [&](const auto* point) { return point->find_metric(metric) == nullptr; });
  std::ranges::stable_sort(points, {}, [&](const PointResult* point) {
    return std::pair(cost_of(*point, "time"), cost_of(*point, metric));
  });
  SweepPoints front;
  for (const PointResult* const point : points) {
    if (front.empty() || cost_of(*point, metric) < cost_of(*front.back(), metric)) {
      front.push_back(point);
    }
  }
  return front;
}

}  // namespace

std::optional<ParetoFronts> pareto_fronts(const SweepGroups& groups,
                                          const harness::Presentation& presentation) {
  for (const harness::Column& column : presentation.columns) {
    if (column.source != harness::CellSource::metric || column.name == "time") continue;
    if (column.name == "expected_error") continue;  // nobody trades time for how well it is known
    ParetoFronts found{.metric = column.name, .title = column.title, .fronts = {}};
    for (const SweepGroup& group : groups.groups) {
      found.fronts.push_back(front_of(group.points, column.name));
    }
    const bool trades = std::ranges::any_of(
        found.fronts, [](const SweepPoints& front) { return front.size() > 1; });
    if (trades) return found;
  }
  return std::nullopt;
}

}  // namespace howard::reports
