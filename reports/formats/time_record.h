// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/sim_time.h"
#include "harness/result.h"

namespace howard::reports {

/// Holds one virtual time of one point.
struct ExactTime {
  std::string point;   ///< "matmul_sweep/emulated/shape:128x128x128/...".
  std::string metric;  ///< "time".
  SimTime time;
};

/// Holds the virtual times of a run.
struct TimeRecord {
  /// Lists what virtual time depends on besides the code: "chip ..., software ..., seed ...", each
  /// once.
  std::vector<std::string> conditions;
  std::vector<ExactTime> exact;  ///< Without parts of others, such as "kernel_time.matmul".
};

/// Throws Error if a point is there twice, as when an experiment was written twice into one array.
TimeRecord time_record(std::span<const harness::ExperimentResult> results);

/// Returns the exact times as text that shows well in a diff: "howard.times/1", the conditions,
/// then lines of the form "POINT METRIC PICOSECONDS".
std::string times_text(const TimeRecord& record);

/// Reads such a text. `source` names it in messages. Throws Error, with line and value, for
/// anything else.
TimeRecord parse_times_text(std::string_view text, std::string_view source);

}  // namespace howard::reports
