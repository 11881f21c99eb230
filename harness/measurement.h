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

/// Returns the mean time of one iteration on a virtual clock. After the warm-up and a finish it
/// runs the timed iterations and a last finish, and divides by their number (the report's own
/// definition for its loops).
SimTime measure_virtual(Case& point, const VirtualTiming& timing);

/// Says what a user may ask for.
struct Limits {
  double least = 0, most = 0;
};
inline constexpr Limits kRepetitions{1, 1000};
inline constexpr Limits kSecondsOfARepetition{1e-6, 3600};
inline constexpr Limits kThreads{1, 4096};

struct WallOptions {
  int repetitions = 9;    ///< Nine give a 96 % interval of the median.
  double min_time = 0.1;  ///< The least seconds of timed iterations in one repetition.
};

/// This is the failure of a case that was given up because of `stop`.
inline constexpr std::string_view kInterrupted = "interrupted";

/// Holds seconds per iteration, one value per repetition, or says why there are none.
struct WallSamples {
  std::vector<double> seconds;
  std::optional<std::string> failure;
};

/// Watches while cases are timed; its calls lie outside of the timed parts.
struct WallWatch {
  /// Returns a sink for the last warm-up iteration of each repetition; null if it is not recorded.
  std::function<EventSink*()> warm_up_sink = [] { return static_cast<EventSink*>(nullptr); };
  /// Is called when an iteration of case `index` has ended.
  std::function<void(std::size_t index)> iterated = [](std::size_t) {};
};

/// Times cases on the wall clock with Google Benchmark. Repetitions of all cases are interleaved in
/// random order, so that a slow moment of the machine affects all of them alike.
///
/// `done(i, samples)` is called once for each case, after its last repetition. An exception in a
/// case is its failure and does not stop the others. When `stop()` turns true the remaining
/// repetitions are given up, and a case that lacks some fails with kInterrupted.
void measure_wall(std::span<Case* const> cases, const WallOptions& options,
                  const std::function<bool()>& stop,
                  const std::function<void(std::size_t, WallSamples)>& done,
                  const WallWatch& watch = {});

/// Returns how much time recording adds to an iteration, as a share of it. It alternates iterations
/// with and without `scratch` as the sink, and takes the median of the ratios of pairs. The
/// recorded events are of no use.
double recording_cost(Case& point, EventSink& scratch);

}  // namespace howard::harness
