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
  std::string filter;  ///< ECMAScript regular expression on point ids; "-RE" excludes; "" is all.
  bool quick = false;  ///< The axes' quick values.
};

/// The points an experiment would run, in order, without a result yet.
///
/// Error before anything runs: an override for an axis the experiment does not have on the chosen
/// backends (with a suggestion), a value an axis can not have, a bad regular expression, a backend
/// or filter that leaves no point.
std::vector<PointResult> plan_points(const Experiment& experiment, const PlanOptions& options);

/// What a run tells its caller, and asks it.
struct RunHooks {
  /// True once the user wants to stop; asked between points and between repetitions.
  std::function<bool()> stop = [] { return false; };
  /// A point has ended, with its place in the plan; called in the order in which they end. The
  /// point stays where it is until all have ended.
  std::function<void(std::size_t index, const PointResult&)> point_done = [](std::size_t,
                                                                             const PointResult&) {};
  /// All points on the virtual clock have ended, and `count` points on the wall clock follow;
  /// called once, and only when there are both.
  std::function<void(std::size_t count)> wall_follows = [](std::size_t) {};
  /// What looks on while points on the wall clock are timed.
  std::function<TraceSink*()> warm_up_sink = [] { return static_cast<TraceSink*>(nullptr); };
  std::function<void(const PointResult&)> iterated = [](const PointResult&) {};
  /// A sink for one more, untimed iteration of a point; null: no such iteration.
  std::function<TraceSink*(const PointResult&)> trace_sink = [](const PointResult&) {
    return static_cast<TraceSink*>(nullptr);
  };
  /// Called once, beside the threads, for an experiment that can_share(): may take points of the
  /// queue, and returns when it has ended all that it took. Empty: there is nobody else.
  std::function<void(PointQueue&)> others;
  /// A sink for iterations that measure what recording costs a recorded point on the wall clock,
  /// which recording_cost() is then told as a share of an iteration; null: it is not measured.
  std::function<TraceSink*()> scratch_sink = [] { return static_cast<TraceSink*>(nullptr); };
  std::function<void(const PointResult&, double share)> recording_cost = [](const PointResult&,
                                                                            double) {};
};

/// Whether the points of an experiment that no wall clock times can run in any order and process.
bool can_share(const Experiment& experiment);

/// Runs the planned points and returns them with their results, in the order of the plan. Points on
/// the virtual clock are shared by `threads` threads, with the same results for any number of them;
/// those on the wall clock come after, alone and interleaved. A point that fails is marked as
/// skipped, with the reason, and never stops the others. Points missing after a stop are left out.
/// Hooks are called from any of the threads, one call at a time.
std::vector<PointResult> run_points(const Experiment& experiment, std::vector<PointResult> points,
                                    const WallOptions& wall, const RunHooks& hooks,
                                    int threads = 1);

}  // namespace howard::harness
