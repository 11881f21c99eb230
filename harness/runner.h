// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/trace_event.h"
#include "harness/axis.h"
#include "harness/experiment.h"
#include "harness/measurement.h"
#include "harness/point_queue.h"
#include "harness/result.h"

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
/// Error before anything runs for an override for an axis that the experiment does not have on the
/// chosen backends (with a suggestion), a value that an axis cannot have, a bad regular expression,
/// or a backend or filter that leaves no point.
std::vector<PointResult> plan_points(const Experiment& experiment, const PlanOptions& options);

/// Holds the functions by which a run tells its caller things and asks it.
struct RunHooks {
  /// Returns true once the user wants to stop. It is asked between points and between repetitions.
  std::function<bool()> stop = [] { return false; };
  /// Is called when a point has ended, with its place in the plan, in the order in which points
  /// end. The point stays where it is until all have ended.
  std::function<void(std::size_t index, const PointResult&)> point_done = [](std::size_t,
                                                                             const PointResult&) {};
  /// Is called once, if there are both kinds of points, when all points on the virtual clock have
  /// ended and `count` points on the wall clock follow.
  std::function<void(std::size_t count)> wall_follows = [](std::size_t) {};
  /// These functions watch while points on the wall clock are timed.
  std::function<TraceSink*()> warm_up_sink = [] { return static_cast<TraceSink*>(nullptr); };
  std::function<void(const PointResult&)> iterated = [](const PointResult&) {};
  /// Returns a sink for one more, untimed iteration of a point; null if there is to be no such
  /// iteration.
  std::function<TraceSink*(const PointResult&)> trace_sink = [](const PointResult&) {
    return static_cast<TraceSink*>(nullptr);
  };
  /// Is called once, beside the threads, for an experiment that can_share(). It may take points of
  /// the queue and returns when it has ended all that it took. It is empty if nobody else runs
  /// points.
  std::function<void(PointQueue&)> others;
  /// Returns a sink for iterations that measure what recording costs a recorded point on the wall
  /// clock; null if that is not measured. recording_cost() then receives the cost as a share of an
  /// iteration.
  std::function<TraceSink*()> scratch_sink = [] { return static_cast<TraceSink*>(nullptr); };
  std::function<void(const PointResult&, double share)> recording_cost = [](const PointResult&,
                                                                            double) {};
};

/// Returns whether the points of an experiment that no wall clock times can run in any order and
/// process.
bool can_share(const Experiment& experiment);

/// Runs the planned points and returns them with their results, in the order of the plan. `threads`
/// threads share the points on the virtual clock, with the same results for any number of threads.
/// Points on the wall clock follow, alone and interleaved. A point that fails is marked as skipped,
/// with the reason, and never stops the others. Points that are missing after a stop are left out.
/// Hooks are called from any of the threads, one call at a time.
std::vector<PointResult> run_points(const Experiment& experiment, std::vector<PointResult> points,
                                    const WallOptions& wall, const RunHooks& hooks,
                                    int threads = 1);

}  // namespace howard::harness
