// SPDX-License-Identifier: Apache-2.0
#include "reports/sweeps/sweep_pictures.h"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>
#include <vector>

#include "reports/sweeps/sweep.h"
#include "reports/sweeps/sweep_lines.h"
#include "reports/sweeps/sweep_map.h"

namespace howard::reports {
namespace {

using Names = std::vector<std::string>;

/// Returns the metrics of the presentation's pictures, each once.
std::vector<SweepMetric> metrics_of(const std::string& experiment,
                                    const harness::Presentation& presentation) {
  std::vector<SweepMetric> metrics;
  const auto add = [&](const std::string& name, const std::string& label) {
    if (std::ranges::find(metrics, name, &SweepMetric::name) == metrics.end()) {
      metrics.push_back({name, label, experiment + ", emulated: " + label});
    }
  };
  for (const auto& plot : presentation.plots) add(plot.y, plot.y_label);
  for (const auto& chart : presentation.bar_charts) add(chart.metric, chart.label);
  for (const auto& map : presentation.heat_maps) add(map.metric, map.label);
  if (metrics.empty()) add("time", "time");
  return metrics;
}

/// Returns the swept constants on which the points have several values.
Names varied(const SweepGroups& groups, const Names& swept) {
  Names names;
  for (const std::string& constant : swept) {
    const auto value = [&](const harness::PointResult* point) {
      return harness::find_parameter(point->parameters, constant);
    };
    const bool varies = std::ranges::any_of(groups.groups, [&](const SweepGroup& group) {
      return std::ranges::any_of(group.points, [&](const harness::PointResult* point) {
        return value(point) != value(group.points.front());
      });
    });
    if (varies) names.push_back(constant);
  }
  return names;
}

/// Holds what one picture shows.
struct MetricSweep {
  SweepMetric metric;
  Names axes;  ///< The constants that are axes: none, one or two.
  SweepGroups groups;
};

std::vector<MetricSweep> sweeps_of(const harness::ExperimentResult& result,
                                   const harness::Presentation& presentation) {
  std::vector<MetricSweep> sweeps;
  for (const SweepMetric& metric : metrics_of(result.experiment, presentation)) {
    Names axes = varied(group_sweep(result, presentation.swept, metric.name), presentation.swept);
    // Further constants are treated as other axes: each of their values has a line or a panel.
    axes.resize(std::min<std::size_t>(axes.size(), 2));
    SweepGroups groups = group_sweep(result, axes, metric.name);
    sweeps.push_back({metric, std::move(axes), std::move(groups)});
  }
  return sweeps;
}

}  // namespace

PlotFiles write_sweep_pictures(const harness::ExperimentResult& result,
                               const harness::Presentation& presentation,
                               const std::function<std::string()>& next_name,
                               const Canvas& canvas) {
  PlotFiles files;
  for (const auto& [metric, axes, groups] : sweeps_of(result, presentation)) {
    const std::string name = next_name();
    if (axes.empty()) continue;
    if (axes.size() == 2) {
      files.add(write_sweep_map(groups, axes, metric, name, canvas));
      continue;
    }
    XyChart chart = sweep_lines(groups, axes.front(), metric);
    chart.name = name;
    files.add(write_xy_chart(chart, canvas));
  }
  return files;
}

SweepCharts sweep_charts(const harness::ExperimentResult& result,
                         const harness::Presentation& presentation) {
  SweepCharts charts;
  for (const auto& [metric, axes, groups] : sweeps_of(result, presentation)) {
    if (axes.size() == 1) charts.lines.push_back(sweep_lines(groups, axes.front(), metric));
    if (axes.size() < 2) continue;
    std::ranges::move(sweep_maps(groups, axes, metric), std::back_inserter(charts.maps));
  }
  return charts;
}

}  // namespace howard::reports
