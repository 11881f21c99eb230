// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "harness/tracking/comparison/comparison.h"
#include "harness/tracking/comparison/pairs.h"
#include "reports/tables/table.h"

namespace howard::tracking {

struct GateFindings;

struct GateOptions {
  std::size_t comparisons =
      20;                  ///< Those of the suite with itself; each slowdown has half as many.
  std::size_t pairs = 15;  ///< The pairs of processes in a comparison.
  std::size_t most_pairs = 100;  ///< The most that are measured when a row asks for more.
  std::vector<double> slowdowns{0.05, 0.02};
  std::uint64_t seed = 1;
  std::function<void(const std::string&)> progress;  ///< Is told what is going on; it may be empty.
  /// Is given what has been found so far after every comparison, with its name, "A against A 3 of
  /// 20"; it may be empty.
  std::function<void(const GateFindings&, const std::string&)> compared;
};

/// Counts what became of rows that really were slower.
struct Detection {
  double slowdown = 0;
  std::size_t found = 0;        ///< Slower at once.
  std::size_t found_later = 0;  ///< Ambiguous first, slower with the runs that it asked for.
  std::size_t ambiguous = 0;    ///< Ambiguous to the end.
  std::size_t missed = 0;       ///< The same, or faster.

  std::size_t count() const { return found + found_later + ambiguous + missed; }
};

/// Says how far the gate can be trusted with a suite on this machine.
struct GateFindings {
  std::size_t comparisons = 0;  ///< Those of the suite with itself.
  std::size_t alarms = 0;       ///< Those with a row that is slower or faster.
  std::size_t rows = 0;         ///< Rows in them.
  std::size_t row_alarms = 0;
  std::size_t ambiguous = 0;    ///< Rows.
  std::vector<double> detects;  ///< The smallest change that each row would have shown.
  std::vector<Detection> detections;
};

/// Compares a suite with itself, and with itself with rows slowed down, many times over. `slowed`
/// returns the source of the second kind, and `concerns` says which rows are slower in it.
GateFindings test_gate(const Source& suite, const std::function<Source(double)>& slowed,
                       const std::function<bool(const Series&)>& concerns, const Limits& limits,
                       const GateOptions& options);

/// Returns a row for the suite against itself and for each slowdown.
reports::Table gate_table(const GateFindings& findings);

/// Returns what was found in sentences, one a line.
std::vector<std::string> gate_lines(const GateFindings& findings, const Limits& limits);

/// Says where and how far a gate was tested.
struct GateRecord {
  std::string machine;
  std::size_t pairs = 0, most_pairs = 0;
  double seconds = 0;  ///< The time so far.
  double load = 0;     ///< The load of the machine, averaged over the last minute.
  bool finished = false;
};

/// Returns the findings as JSON of the schema howard.gate/1, with the shares that the table shows
/// and their 95 % intervals.
std::string gate_json(const GateFindings& findings, const Limits& limits, const GateRecord& record);

}  // namespace howard::tracking
