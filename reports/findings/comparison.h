// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "reports/formats/time_record.h"
#include "reports/tables/table.h"

namespace howard::reports {

/// Describes a virtual time that has changed.
struct MovedTime {
  std::string point;
  std::string metric;
  SimTime before, after;

  /// Returns after / before; absent if there was no time to divide by.
  std::optional<double> ratio() const;
  /// Returns whether it is slower by more than `threshold` of what it was: 0.02 is 2 %. Exact times
  /// have no noise, so 0 means any picosecond.
  bool is_slower(double threshold) const;
};

/// Describes a virtual time that only one of two runs has.
struct UnpairedTime {
  std::string point;
  std::string metric;
  SimTime time;
  std::string reason;  ///< The reason why the other run has none, if it says so.
};

/// Holds a wall-clock metric of both runs.
struct SampledPair {
  std::string point;
  harness::Metric before, after;
};

/// Says what differs between two runs, of which the second is the newer one.
struct Comparison {
  std::size_t unchanged = 0;  ///< The number of virtual times that are the same to the picosecond.
  std::vector<MovedTime> moved;       ///< The largest change of the ratio comes first.
  std::vector<UnpairedTime> missing;  ///< Virtual times that only the first run has.
  std::vector<UnpairedTime> added;    ///< Virtual times that only the second run has.
  std::vector<SampledPair> sampled;   ///< They are shown and decide nothing.
  std::vector<std::string> warnings;  ///< Say that profiles or seeds differ.
};

Comparison compare(const TimeRecord& before, const TimeRecord& after);

/// Returns a table for each of moved, missing, added and sampled that has something to show.
std::vector<Table> comparison_tables(const Comparison& comparison);

}  // namespace howard::reports
