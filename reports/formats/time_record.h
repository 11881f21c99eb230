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

/// Holds one repeated measurement on the wall clock.
struct SampledMetric {
  std::string point;
  harness::Metric metric;
};

/// Describes a point that has no metrics, and why.
struct SkippedPoint {
  std::string point;
  std::string reason;
};

/// Holds the measurements of a run by which two runs can be compared.
struct TimeRecord {
  /// Lists what virtual time depends on besides the code: "chip ..., software ..., seed ...", each
  /// once.
  std::vector<std::string> conditions;
  std::vector<ExactTime> exact;  ///< Without parts of others, such as "kernel_time.matmul".
  std::vector<SampledMetric> sampled;
  std::vector<SkippedPoint> skipped;
};

/// Throws Error if a point is there twice, as when an experiment was written twice into one array.
TimeRecord time_record(std::span<const harness::ExperimentResult> results);

/// Returns the exact times as text that shows well in a diff: "howard.times/1", the conditions,
/// then lines of the form "POINT METRIC PICOSECONDS".
std::string times_text(const TimeRecord& record);

/// Reads such a text, or results as JSON. `source` names it in messages. Throws Error, with line or
/// place and value, for anything else.
TimeRecord parse_time_record(std::string_view text, std::string_view source);

}  // namespace howard::reports
