// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "harness/tracking/run.h"

namespace howard::tracking {

/// Says what else moved with a metric, from what two runs hold: the parts of a time by op, facts in
/// words, and constants of the emulated chip. Both runs must outlive it.
class Explainer {
 public:
  Explainer(const Run& before, const Run& after);

  /// Returns "matmul +12.3 us, softmax +0.4 us; bound_by: unpack -> dispatch", "" if nothing else
  /// moved.
  std::string explain(const Series& series) const;

  /// Returns the constants that differ, each as "NAME: OLD -> NEW".
  const std::vector<std::string>& constants() const { return constants_; }

 private:
  using Key = std::pair<std::string, std::string>;  ///< Benchmark, metric.
  using Rows = std::map<Key, const Row*>;

  static Rows rows_of(const Run& run);
  std::string moved_parts(const std::string& benchmark) const;
  std::string moved_words(const std::string& benchmark) const;

  Rows before_, after_;
  std::vector<std::string> constants_;
};

}  // namespace howard::tracking
