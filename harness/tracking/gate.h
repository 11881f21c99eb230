// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "harness/tracking/comparison/comparison.h"
#include "harness/tracking/comparison/pairs.h"

namespace howard::tracking {

struct GateOptions {
  std::size_t comparisons = 20;  ///< Of the suite with itself.
  std::size_t pairs = 15;        ///< The pairs of processes in a comparison.
  std::uint64_t seed = 1;
  std::function<void(const std::string&)> progress;  ///< Is told what is going on; may be empty.
};

/// Says how far the gate can be trusted with a suite on this machine.
struct GateFindings {
  std::size_t comparisons = 0;  ///< Of the suite with itself.
  std::size_t alarms = 0;       ///< Those with a row that is slower or faster.
  std::size_t rows = 0;         ///< Sampled rows in them.
  std::size_t row_alarms = 0;
  std::size_t ambiguous = 0;    ///< Rows.
  std::vector<double> detects;  ///< The smallest change that each row would have shown.
};

/// Compares a suite with itself, many times over, and adds what each comparison shows to
/// `findings`. Throws Error for a suite without sampled rows, and as compare_pairs() does.
void test_gate(const Source& suite, const Limits& limits, const GateOptions& options,
               GateFindings& findings);

/// Returns what was found in sentences, one a line.
std::vector<std::string> gate_lines(const GateFindings& findings, const Limits& limits);

/// Returns the findings as JSON of the schema howard.gate/2, with shares and their 95 % intervals.
std::string gate_json(const GateFindings& findings, const Limits& limits,
                      const GateOptions& options);

}  // namespace howard::tracking
