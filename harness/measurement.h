// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/sim_time.h"
#include "harness/experiment.h"

namespace howard::harness {

/// The mean time of one iteration on a virtual clock: warm-up, a finish, then the timed iterations
/// and a last finish, divided by their number (the report's own definition for its loops).
SimTime measure_virtual(Case& point, const VirtualTiming& timing);

struct WallOptions {
  int repetitions = 9;    ///< Nine give a 96 % interval of the median.
  double min_time = 0.1;  ///< Seconds of timed iterations in one repetition, at least.
};

/// The failure of a case that was given up because of `stop`.
inline constexpr std::string_view kInterrupted = "interrupted";

/// Seconds per iteration, one value per repetition; or why there are none.
struct WallSamples {
  std::vector<double> seconds;
  std::optional<std::string> failure;
};

/// What looks on while cases are timed, outside of what is timed.
struct WallWatch {
  /// A sink for the last warm-up iteration of each repetition; null: it is not recorded.
  std::function<TraceSink*()> warm_up_sink = [] { return static_cast<TraceSink*>(nullptr); };
  /// An iteration of case `index` has ended.
  std::function<void(std::size_t index)> iterated = [](std::size_t) {};
};

/// Times cases on the wall clock with Google Benchmark. Repetitions of all cases are interleaved
/// in random order, so that a slow moment of the machine falls on all of them alike.
///
/// `done(i, samples)` is called once for each case, when its last repetition has ended. An
/// exception in a case is its failure and does not stop the others. When `stop()` turns true the
/// remaining repetitions are given up, and the failure of a case that lacks some is kInterrupted.
void measure_wall(std::span<Case* const> cases, const WallOptions& options,
                  const std::function<bool()>& stop,
                  const std::function<void(std::size_t, WallSamples)>& done,
                  const WallWatch& watch = {});

/// What recording adds to an iteration, as a share of it: pairs of iterations with and without
/// `scratch` as the sink, in turn, and the median of their ratios. Its events are of no use.
double recording_cost(Case& point, TraceSink& scratch);

}  // namespace howard::harness
