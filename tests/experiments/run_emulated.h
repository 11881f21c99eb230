// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "base/check.h"
#include "engines/chip/profiles/profile.h"
#include "experiments/experiment.h"
#include "experiments/laboratory/devbox.h"
#include "experiments/laboratory/experiment_list.h"
#include "harness/runner.h"
#include "reports/published/reference.h"

namespace howard::experiments {

inline std::shared_ptr<const DevBox> built_in_box() {
  return std::make_shared<const DevBox>(chip::load_constants(), host::HostOptions{}, 1);
}

/// Returns the experiment of that name on a box.
inline std::unique_ptr<harness::Experiment> make_experiment(std::string_view name, const Box& box) {
  return runnable(maker_of(name)(box), box);
}

/// Returns the points of an experiment on the emulator, beside their published rows.
inline std::vector<harness::PointResult> run_emulated(
    const harness::Experiment& experiment, std::vector<harness::AxisOverride> overrides = {}) {
  const harness::PlanOptions options{.backends = {harness::Backend::emulated},
                                     .overrides = std::move(overrides)};
  harness::ExperimentResult result{
      .experiment = std::string(experiment.name()),
      .points = run_points(experiment, plan_points(experiment, options))};
  reports::attach_references(result);
  return result.points;
}

/// Returns the points of an experiment on the host CPU, as quickly as possible.
inline std::vector<harness::PointResult> run_host(
    const harness::Experiment& experiment, std::vector<harness::AxisOverride> overrides = {}) {
  const harness::PlanOptions options{.backends = {harness::Backend::host},
                                     .overrides = std::move(overrides)};
  return run_points(experiment, plan_points(experiment, options),
                    {.repetitions = 2, .min_time = 0.001});
}

/// Returns the published rows of `experiment` to which none of its points belongs, line by line.
inline std::string published_without_point(const std::string& experiment,
                                           const std::vector<harness::PointResult>& points) {
  std::string missing;
  for (const reports::ReferenceTable& table : reports::reference_tables(experiment)) {
    for (const reports::ReferenceRow& row : table.rows) {
      const bool found = std::ranges::any_of(points, [&](const harness::PointResult& point) {
        return std::ranges::all_of(row.parameters, [&](const auto& parameter) {
          return harness::find_parameter(point.parameters, parameter.first) == parameter.second;
        });
      });
      if (found) continue;
      missing += table.title + ":";
      for (const auto& [axis, value] : row.parameters) missing += " " + axis + "=" + value;
      missing += "\n";
    }
  }
  return missing;
}

/// Returns the first point whose id holds `part`; there must be one.
inline const harness::PointResult& find(const std::vector<harness::PointResult>& points,
                                        const std::string& part) {
  const auto found = std::ranges::find_if(points, [&](const harness::PointResult& point) {
    return point.id().find(part) != std::string::npos;
  });
  HOWARD_CHECK(found != points.end(), "a point has this part in its id");
  return *found;
}

/// Returns the time of the one point whose id holds `part`; zero if none or several do.
inline double seconds(const std::vector<harness::PointResult>& points, const std::string& part) {
  double found = 0;
  int count = 0;
  for (const harness::PointResult& point : points) {
    if (point.id().find(part) == std::string::npos || point.skipped) continue;
    found = point.find_metric("time")->value;
    ++count;
  }
  return count == 1 ? found : 0;
}

}  // namespace howard::experiments
