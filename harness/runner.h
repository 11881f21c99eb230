// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "harness/axis.h"
#include "harness/experiment.h"
#include "harness/measurement.h"
#include "harness/point_queue.h"
#include "harness/result.h"
#include "harness/run_observer.h"

namespace howard::harness {

struct PlanOptions {
  std::vector<Backend> backends{Backend::emulated, Backend::host};
  std::vector<AxisOverride> overrides;
  /// An ECMAScript regular expression on point ids; "-RE" excludes, "" is all.
  std::string filter;
  bool quick = false;  ///< Uses the quick values of the axes.
};

/// Returns the points that an experiment would run, in order, without a result yet.
///
/// Throws Error before anything runs for an override for an axis that the experiment does not have
/// on the chosen backends (with a suggestion), a value that an axis cannot have, a bad regular
/// expression, or a backend or filter that leaves no point.
std::vector<PointResult> plan_points(const Experiment& experiment, const PlanOptions& options);

/// Says who runs the points on the virtual clock.
struct Workers {
  int threads = 1;  ///< Threads of this process.
  /// Is called once, beside the threads, for an experiment that can_share(). It may take points of
  /// the queue and returns when it has ended all that it took. It is empty if nobody else runs
  /// points.
  std::function<void(PointQueue&)> others;
};

/// Returns whether the points of an experiment that no wall clock times can run in any order and
/// process.
bool can_share(const Experiment& experiment);

/// Runs the planned points and returns them with their results, in the order of the plan. `workers`
/// share the points on the virtual clock, with the same results for any number of them. Points on
/// the wall clock follow, alone and interleaved. A point that fails is marked as skipped, with the
/// reason, and never stops the others. Points that are missing after a stop are left out.
std::vector<PointResult> run_points(const Experiment& experiment, std::vector<PointResult> points,
                                    const WallOptions& wall, RunObserver& observer,
                                    const Workers& workers = {});

/// Does the same on one thread and tells nobody.
std::vector<PointResult> run_points(const Experiment& experiment, std::vector<PointResult> points,
                                    const WallOptions& wall = {});

}  // namespace howard::harness
