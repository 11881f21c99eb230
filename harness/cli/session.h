// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "experiments/laboratory/laboratory.h"
#include "harness/cli/outputs/memory_watch.h"
#include "harness/cli/outputs/outputs.h"
#include "harness/cli/run_options.h"
#include "harness/cli/sharing/ranks.h"
#include "profiler/program_recorder.h"

namespace howard::cli {

using experiments::PlannedExperiment;

/// Holds one more, recorded iteration of a point.
struct TracedPoint {
  TracedPoint(std::string_view of, const harness::PointResult& point)
      : experiment(of), name(point.id()), backend(point.backend) {}

  std::string experiment;
  std::string name;
  harness::Backend backend;
  profiler::ProgramRecorder recorder;
  profiler::MemoryUse memory = {};  ///< The same iteration's, for a page; else empty.
};

/// Runs planned experiments one after the other, with progress, checkpoints, interruption and
/// traces.
class Session {
 public:
  /// The session runs on the first rank, which shares points with the others. All arguments must
  /// outlive the session. The devices of the experiments report their allocations to `memory`.
  Session(const RunOptions& options, const experiments::Laboratory& laboratory,
          const harness::RunContext& context, Outputs& outputs, MemoryWatch& memory, Ranks& ranks);

  /// Runs the next experiment that all ranks have planned, in their order, and prints its tables.
  /// Those of the emulated points are printed before the host's points run. Points that a stop left
  /// out are missing from the result.
  Finished run(const PlannedExperiment& planned);

  /// Returns what was recorded of every point so far, for --trace, --device-logs and --bottlenecks.
  const std::deque<TracedPoint>& traced() const { return traced_; }

  /// Returns what was recorded for the page: the first emulated point of each experiment.
  const std::deque<TracedPoint>& shown() const { return shown_; }

  /// Returns the threads for emulated points: --threads, or this rank's share of the cores.
  static int thread_count(const RunOptions& options, const Ranks& ranks);
  /// Returns false if --memory, or the timeline of a page, failed for a point.
  bool memory_is_complete() const { return memory_is_complete_; }

 private:
  void record_memory(const harness::Experiment& experiment, const harness::PointResult& point);
  /// Records what the options want of the points that have run, and says which of them failed.
  void follow_up(const harness::Experiment& experiment, const harness::ExperimentResult& result);
  /// Prints the tables of the emulated points, which took only a moment, and says how long the
  /// `count` host points that follow will take.
  void show_emulated(const std::vector<const harness::PointResult*>& emulated,
                     const harness::Experiment& experiment, std::size_t count) const;
  /// Runs the first of the points that is emulated once more, for the page's timeline.
  void record_for_page(const harness::Experiment& experiment,
                       const std::vector<harness::PointResult>& points);
  /// Watches the run of one experiment.
  class Watch;

  const RunOptions& options_;
  const experiments::Laboratory& laboratory_;
  const harness::RunContext& context_;
  Outputs& outputs_;
  MemoryWatch& memory_;
  Ranks& ranks_;
  int runs_ = 0;
  bool memory_is_complete_ = true;
  std::deque<TracedPoint> traced_;
  std::deque<TracedPoint> shown_;
  /// Receives the events that measure the cost of recording.
  std::optional<profiler::EventRecorder> scratch_;
};

}  // namespace howard::cli
