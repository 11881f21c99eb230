// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>

#include "harness/tracking/command.h"
#include "harness/tracking/comparison/comparison.h"
#include "harness/tracking/run.h"

namespace howard::tracking {

/// Runs a suite once in a fresh process and returns what it measured.
using Source = std::function<Run()>;

struct CommandOptions {
  double limit = 600;  ///< The seconds that one process may take.
  bool whole = false;  ///< Its time as a whole is what is measured; its output is ignored.
  Stop stop;
  std::filesystem::path folder;  ///< Its working directory; empty: ours.
};

/// Returns a source that runs a line of the shell and reads what it prints in any format that
/// parse_runs() knows. "{out}" in the line is replaced by the name of a file, which is read
/// instead. The source throws Error if the process crashes, or if what it printed is of no such
/// format.
Source command_source(std::string line, CommandOptions options);

struct PairOptions {
  std::size_t pairs = 15;  ///< With fewer, one bad outlier hides a change of any size.
  std::uint64_t seed = 1;  ///< Decides which process of a pair comes first.
  bool anyway = false;     ///< Compares what require_comparable() refuses.
  /// Is told what is going on, as in "pair 3 of 10". It may be empty.
  std::function<void(const std::string&)> progress;
};

/// Compares two sources by interleaved pairs of fresh processes; a process is one observation.
///
/// Sampled rows pass two stages. The first screens all of them: a suspect has a signed-rank p of at
/// most 5 % and a shift beyond the floors. If there are suspects, as many pairs again are measured,
/// or twice as many as Holm's correction needs if that is more, and only what those say counts:
/// a suspect is a finding if its p, corrected for the number of suspects, is at most
/// `limits.alpha`, in the same direction. The second stage knows nothing of the first, so that
/// `limits.alpha` is the probability of a false alarm in the whole suite.
///
/// If no row is sampled, one pair is enough.
Comparison compare_pairs(const std::string& before_name, const Source& before,
                         const std::string& after_name, const Source& after, const Limits& limits,
                         const PairOptions& options);

}  // namespace howard::tracking
