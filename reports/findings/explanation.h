// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "harness/presentation.h"
#include "harness/result.h"
#include "profiler/time_account.h"
#include "reports/pictures/picture.h"
#include "reports/tables/table.h"

namespace howard::reports {

/// Holds an iteration of a point: its mean time, and on what the chip spent the iterations.
struct ExplainedRun {
  SimTime time;
  int iterations = 1;
  profiler::TimeAccount account;  ///< Accounts for all iterations together, unless there are parts.
  /// The costs of a time that is worked out, not run program by program: they add up to `time`, the
  /// largest first. There are none for a time that was run.
  std::vector<profiler::Cost> parts{};
  std::string shortage{};  ///< Why the point could not run on hardware: memory; empty if it could.
  std::vector<std::string> warnings;
  /// The mean error of measured times of these kinds that a fit had not seen, as a share of them;
  /// and what the time rests on.
  std::optional<double> expected_error{};
  std::string known{};
};

/// Describes a change to the point that was run.
struct TriedChange {
  std::string what;             ///< "trace"
  harness::Parameters changes;  ///< The axes and their new values.
  std::string how;              ///< The same as options of the command: "-a engine=traced".
  std::size_t candidates = 1;   ///< The number of candidates, of which this was the fastest.
  double work = 1;              ///< How many times the point's work it does in its time.
  ExplainedRun run;
};

/// Describes a change to the point that was not run.
struct UntriedChange {
  std::string what;
  std::string reason;
};

/// Says why a point takes its time and what would change it. Each figure comes from a run of the
/// emulator.
struct Explanation {
  std::string experiment;
  /// The command that asks for this point; each `how` replaces some of its options.
  std::string command;
  harness::Parameters parameters;
  ExplainedRun run;
  std::vector<TriedChange> tried;  ///< The largest gain comes first.
  std::vector<UntriedChange> untried;
  std::vector<std::string> notes;  ///< Further notes, such as the part of a log that it is about.
  /// What an iteration takes beside what is run, whatever is changed: the ops of a log that the
  /// emulator cannot run, as long as they took.
  SimTime beside{};
  std::string headline{};  ///< Stands in place of the verdict, where too little was run for one.

  SimTime whole(const ExplainedRun& one) const { return one.time + beside; }
  double gain(const TriedChange& change) const {
    return change.work * whole(run).seconds() / whole(change.run).seconds();
  }
};

/// Returns the costs of one iteration, the largest first. They add up to `run.time`, exactly.
std::vector<profiler::Cost> costs_of_iteration(const ExplainedRun& run);

/// Returns "dispatch-bound: for 78 % of 3.10 ms no program runs, mostly for host issuing".
std::string verdict_sentence(const ExplainedRun& run);

/// Returns tables of what the run spends its time on, under its verdict, and of what would change
/// that.
std::vector<Table> explanation_tables(const Explanation& explanation);

/// Returns how such a result is shown if only the result is left.
harness::Presentation explanation_presentation();

/// Returns the point with its costs, and each change as a point beside it. Details say what it is.
harness::ExperimentResult explanation_result(const Explanation& explanation,
                                             const harness::RunContext& context);

/// Draws explain.png: the time of the point and of each change, by what it is spent on.
PlotFiles write_explanation_plot(const Explanation& explanation, const Canvas& canvas);

}  // namespace howard::reports
