// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "experiments/all.h"
#include "harness/runner.h"
#include "reports/reference.h"

namespace howard::experiments {

inline std::shared_ptr<const DevBox> built_in_box() {
  return std::make_shared<const DevBox>(wormhole::load_profiles(), host::HostOptions{}, 1);
}

/// The points of an experiment on the emulator, beside their published rows.
inline std::vector<harness::PointResult> run_emulated(
    const harness::Experiment& experiment, std::vector<harness::AxisOverride> overrides = {}) {
  const harness::PlanOptions options{.backends = {harness::Backend::emulated},
                                     .overrides = std::move(overrides)};
  harness::ExperimentResult result{
      .experiment = std::string(experiment.name()),
      .points = run_points(experiment, plan_points(experiment, options), {}, {})};
  reports::attach_references(result);
  return result.points;
}

/// The time of the one point whose id holds `part`; zero when none or several do.
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
