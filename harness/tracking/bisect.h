// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "harness/tracking/run.h"

namespace howard::tracking {

/// Returns what a commit's run found; absent if nobody knows.
using RunOfCommit = std::function<std::optional<Run>(const std::string& commit)>;

/// Says which commit moved an exact time.
struct BisectFinding {
  std::string last_good, first_moved;  ///< Commits.
  std::int64_t before_ps = 0, after_ps = 0;
  /// The commits between the two, oldest first, which nobody measured: one of them, or first_moved,
  /// moved it.
  std::vector<std::string> unmeasured;
  std::size_t measured = 0;  ///< The commits that were measured for this.
  std::string explanation;   ///< What else moved: ops, facts, a constant.
  std::vector<std::string> constants;
};

/// Finds the first of `commits`, oldest first, whose exact time of `series` differs from that of
/// the first one. All of them are looked up with `stored`; in the gap that is left, `measure` is
/// asked for the middle one until nothing is left. The result is absent if the last one has the
/// time of the first. Throws Error if the first or the last one has no such time.
std::optional<BisectFinding> find_first_moved(const std::vector<std::string>& commits,
                                              const Series& series, const RunOfCommit& stored,
                                              const RunOfCommit& measure);

}  // namespace howard::tracking
