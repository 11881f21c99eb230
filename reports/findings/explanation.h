// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harness/presentation.h"
#include "harness/result.h"
#include "profiler/time_account.h"
#include "reports/pictures/picture.h"
#include "reports/tables/table.h"

namespace howard::reports {

/// Describes a change to the point that was run.
struct TriedChange {
  std::string what;             ///< "trace"
  harness::Parameters changes;  ///< The axes and their new values.
  std::string how;              ///< The same as options of the command: "-a engine=traced".
  std::size_t candidates = 1;   ///< The number of candidates, of which this was the fastest.
  double work = 1;              ///< How many times the point's work it does in its time.
  profiler::TimeAccount run;
};

/// Describes a change to the point that was not run.
struct UntriedChange {
  std::string what;
  std::string reason;
};

/// Holds the kernels of an op in a log beside those of the emulator.
struct CheckedOp {
  std::string op;
  std::uint64_t runs = 0;
  SimTime logged, emulated;
  SimTime apart;  ///< The sum of the programs' differences, each without its sign.
};

/// Returns all of them as one, "all".
CheckedOp sum_of(const std::vector<CheckedOp>& checked);

/// Says why a point takes its time and what would change it. Each figure comes from a run of the
/// emulator.
struct Explanation {
  std::string experiment;
  /// The command that asks for this point; each `how` replaces some of its options.
  std::string command;
  harness::Parameters parameters;
  profiler::TimeAccount run;
  std::vector<TriedChange> tried;  ///< The largest gain comes first.
  std::vector<UntriedChange> untried;
  std::vector<std::string> notes;  ///< Further notes, such as the part of a log that it is about.
  /// What an iteration takes beside what is run, whatever is changed: the ops of a log that the
  /// emulator cannot run, as long as they took.
  SimTime beside{};
  std::string headline{};  ///< Stands in place of the verdict, where too little was run for one.
  std::vector<CheckedOp> checked{};  ///< What a log has beside it; the longest op comes first.

  SimTime whole(const profiler::TimeAccount& one) const { return one.time + beside; }
  double gain(const TriedChange& change) const {
    return change.work * whole(run).seconds() / whole(change.run).seconds();
  }
};

/// Returns "dispatch-bound: for 78 % of 3.10 ms no program runs, mostly for host issuing".
std::string verdict_sentence(const profiler::TimeAccount& run);

/// Returns tables of what the run spends its time on, under its verdict, of what would change
/// that, and of what a log has beside it.
std::vector<Table> explanation_tables(const Explanation& explanation);

/// Returns how such a result is shown if only the result is left.
harness::Presentation explanation_presentation();

/// Returns the point with its costs, and each change as a point beside it. Details say what it is.
harness::ExperimentResult explanation_result(const Explanation& explanation,
                                             const harness::RunContext& context);

/// Draws explain.png: the time of the point and of each change, by what it is spent on.
PlotFiles write_explanation_plot(const Explanation& explanation, const Canvas& canvas);

}  // namespace howard::reports
