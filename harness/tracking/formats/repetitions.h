// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/json_node.h"
#include "harness/tracking/run.h"

namespace howard::tracking {

/// Returns a row of a time whose value is the median of `samples`, of which there is at least one.
Row time_row(std::string benchmark, std::vector<double> samples);

/// Returns a row that says why a benchmark has no value.
Row failed_row(std::string benchmark, std::string reason);

/// Returns the member's text, "" if there is none.
std::string optional_text(const JsonNode& node, const char* key);

/// Collects the repetitions of benchmarks, in the order of the file.
class Repetitions {
 public:
  void add(const std::string& benchmark, double seconds);
  void add(const Series& series, double value);
  void fail(const std::string& benchmark, std::string reason);
  bool is_empty() const { return order_.empty(); }

  /// Returns a row for each series; a benchmark that failed once has no others.
  std::vector<Row> rows() const;

 private:
  std::vector<Series> order_;
  std::map<Series, std::vector<double>> values_;
  std::map<std::string, std::string> failures_;
};

}  // namespace howard::tracking
