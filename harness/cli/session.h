// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "experiments/all.h"
#include "harness/cli/memory_watch.h"
#include "harness/cli/options.h"
#include "harness/cli/outputs.h"
#include "harness/cli/sharing/ranks.h"
#include "harness/environment.h"
#include "harness/runner.h"
#include "profiler/program_recorder.h"

namespace howard::cli {

/// An experiment and the points it is to run.
struct PlannedExperiment {
  const harness::Experiment* experiment = nullptr;
  std::vector<harness::PointResult> points;
};

/// One more iteration of a point, recorded.
struct TracedPoint {
  TracedPoint(std::string_view of, const harness::PointResult& point)
      : experiment(of), name(point.id()), backend(point.backend) {}

  std::string experiment;
  std::string name;
  harness::Backend backend;
  profiler::ProgramRecorder recorder;
};

/// Runs planned experiments one after the other: progress, checkpoints, interruption, traces.
class Session {
 public:
  /// On the first rank, which shares points with the others. All must outlive the session. `memory`
  /// is what the devices of the experiments report to.
  Session(const Options& options, const harness::RunContext& context, Outputs& outputs,
          MemoryWatch& memory, Ranks& ranks);

  /// Runs the next experiment of what all ranks have planned, in their order, and prints its
  /// tables, those of the emulated points before the host's points run. Points that a stop left out
  /// are missing.
  Finished run(PlannedExperiment planned);

  /// What was recorded of every point run so far, for --trace, --device-logs and --bottlenecks.
  const std::deque<TracedPoint>& traced() const { return traced_; }

  /// Of emulated points: --threads, or this rank's share of the cores.
  static int thread_count(const Options& options, const Ranks& ranks);
  /// False when --memory could not be done for a point.
  bool memory_is_complete() const { return memory_is_complete_; }

  /// True once the user has pressed Ctrl-C; a second press ends the program at once.
  static bool interrupted();
  /// Makes Ctrl-C, SIGTERM and SIGHUP set interrupted(); the next one, half a second later or more,
  /// ends the program at once.
  static void catch_signals();

 private:
  void record_memory(const harness::Experiment& experiment, const harness::PointResult& point);
  /// Prints the tables of the emulated points, which took a moment, and how long the `count` host
  /// points that follow will take.
  void show_emulated(const std::vector<const harness::PointResult*>& emulated,
                     const harness::Experiment& experiment, std::size_t count) const;
  /// Has one more iteration of each point that the options ask for recorded; says in `costs` what
  /// that added.
  void record(const std::string& experiment, const std::vector<harness::PointResult>& planned,
              harness::RunHooks& hooks, std::vector<std::string>& costs);

  const Options& options_;
  const harness::RunContext& context_;
  Outputs& outputs_;
  MemoryWatch& memory_;
  Ranks& ranks_;
  int runs_ = 0;
  bool memory_is_complete_ = true;
  std::deque<TracedPoint> traced_;
  std::optional<profiler::Recorder> scratch_;  ///< For what recording costs.
};

}  // namespace howard::cli
