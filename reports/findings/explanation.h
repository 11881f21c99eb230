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

/// An iteration of a point: its mean time, and on what the chip spent the iterations.
struct ExplainedRun {
  SimTime time;
  int iterations = 1;
  profiler::TimeAccount account;  ///< Of all of them.
  std::vector<std::string> warnings;
  /// How far the time may well be from the hardware's, a share of it, and what that rests on.
  std::optional<double> band{};
  std::string known{};
};

/// A way to change the point, run.
struct TriedChange {
  std::string what;             ///< "trace"
  harness::Parameters changes;  ///< The axes and their new values.
  std::string how;              ///< Those as options of the command: "-a engine=traced".
  std::size_t candidates = 1;   ///< This was the fastest of so many.
  ExplainedRun run;
};

/// A way to change the point that was not run.
struct UntriedChange {
  std::string what;
  std::string reason;
};

/// Why a point takes its time and what would change it: each figure from a run of the emulator.
struct Explanation {
  std::string experiment;
  std::string command;  ///< That asks for this point: each `how` replaces options of it.
  harness::Parameters parameters;
  ExplainedRun run;
  std::vector<TriedChange> tried;  ///< The fastest first.
  std::vector<UntriedChange> untried;

  double gain(const TriedChange& change) const {
    return run.time.seconds() / change.run.time.seconds();
  }
};

/// The costs of one iteration, the largest first. They add up to `run.time`, exactly.
std::vector<profiler::Cost> costs_of_iteration(const ExplainedRun& run);

/// "dispatch-bound: for 78 % of 3.10 ms no program runs, mostly for host issuing".
std::string verdict_sentence(const ExplainedRun& run);

/// What the run spends its time on, under its verdict, and what would change that.
std::vector<Table> explanation_tables(const Explanation& explanation);

/// How such a result is shown where only the result is left.
harness::Presentation explanation_presentation();

/// The point with its costs, and each change as a point beside it; details say what it is.
harness::ExperimentResult explanation_result(const Explanation& explanation,
                                             const harness::RunContext& context);

/// Draws explain.png: the time of the point and of each change, by what it is spent on.
PlotFiles write_explanation_plot(const Explanation& explanation, const Canvas& canvas);

}  // namespace howard::reports
