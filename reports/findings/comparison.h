// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "reports/formats/time_record.h"
#include "reports/tables/table.h"

namespace howard::reports {

/// A virtual time that is another one now.
struct MovedTime {
  std::string point;
  std::string metric;
  SimTime before, after;

  /// after / before; absent when there was no time to divide by.
  std::optional<double> ratio() const;
  /// Slower by more than `threshold` of what it was: 0.02 is 2 %. Exact times have no noise, so
  /// that 0 means any picosecond.
  bool is_slower(double threshold) const;
};

/// A virtual time that only one of two runs has.
struct UnpairedTime {
  std::string point;
  std::string metric;
  SimTime time;
  std::string reason;  ///< Why the other run has none, where it says so.
};

/// A wall-clock metric of both runs.
struct SampledPair {
  std::string point;
  harness::Metric before, after;
};

/// What differs between two runs, the second being the newer one.
struct Comparison {
  std::size_t unchanged = 0;          ///< Virtual times that are the same to the picosecond.
  std::vector<MovedTime> moved;       ///< The largest change of the ratio first.
  std::vector<UnpairedTime> missing;  ///< Only in the first.
  std::vector<UnpairedTime> added;    ///< Only in the second.
  std::vector<SampledPair> sampled;   ///< Shown; decides nothing.
  std::vector<std::string> warnings;  ///< Other profiles or another seed.
};

Comparison compare(const TimeRecord& before, const TimeRecord& after);

/// A table for each of moved, missing, added and sampled that has something to show.
std::vector<Table> comparison_tables(const Comparison& comparison);

}  // namespace howard::reports
