// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "harness/result.h"
#include "profiler/formats/log.h"
#include "reports/tables/table.h"

namespace howard::reports {

/// Says what two logs spent on the same thing: a call (an op on the same operands with the same
/// attributes) where their calls were read, else an op. A call that only one of the logs has, and
/// one of the same op and sizes that only the other has, are one that changed.
struct LogChange {
  std::string op;
  std::string operands;  ///< And what else tells two calls of the op apart; empty for an op.
  std::string changed;   ///< "in1 DRAM interleaved -> L1 width sharded; HiFi4 -> HiFi2".
  std::uint64_t runs_before = 0, runs_after = 0;
  SimTime before, after;          ///< The kernels' time.
  SimTime one_before, one_after;  ///< The median run's; zero without runs.
  /// What the medians may differ by without a cause, by the spread of the runs of both logs.
  SimTime noise;
  /// The rows of the op that could not be used: runs that are missing need not be gone.
  std::uint64_t missing_before = 0, missing_after = 0;
  bool doubtful = false;  ///< Its runs differ by more than one shape allows.

  SimTime change() const { return after - before; }
};

/// Says what became of a thing, run by run: "slower", "faster" or "same", and "fewer runs" or "more
/// runs" beside it; or "new", "gone", "rows missing" where rows of the op were left out, "shapes
/// unsure". What changed and takes as long is "as long".
std::string verdict_of(const LogChange& change);

/// Compares two logs, of which the second is the newer one. Everything adds up: the changes of
/// `changes` are the difference of the kernel times, exactly.
struct LogDifference {
  std::vector<LogChange> changes;  ///< The largest change first, up or down.
  std::uint64_t programs_before = 0, programs_after = 0;
  SimTime kernels_before, kernels_after;
  SimTime idle_before, idle_after;  ///< The sum over all devices and all runs of a log.
  SimTime span_before, span_after;
  /// What was left out of the logs, and what else their readers must know.
  std::vector<std::string> warnings_before, warnings_after;
};

LogDifference difference(const profiler::Log& before, const profiler::Log& after);

/// Returns the totals, and the `top` largest changes, as verdict_of() has them; the rest is one
/// row. `title` begins the captions.
std::vector<Table> difference_tables(const LogDifference& difference, std::string_view title,
                                     std::size_t top);

/// Returns the result log_difference, with a point for each change and the metrics before, after,
/// change, runs_before, runs_after, and of the median run before_each, after_each and noise.
harness::ExperimentResult difference_result(const LogDifference& difference,
                                            const std::string& before, const std::string& after,
                                            const harness::RunContext& context);

}  // namespace howard::reports
