// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "profiler/formats/ops_csv/ops_columns.h"

namespace howard::profiler {

/// Collects the different calls of an `ops_perf_results` file: rows that name the same op, with the
/// same attributes, on the same tensors and as many cores, are one, on whichever device they run. A
/// network has some dozen, however often it runs.
class OpCalls {
 public:
  OpCalls() = default;
  OpCalls(OpCalls&&) = default;
  OpCalls& operator=(OpCalls&&) = default;

  /// Returns the number of the row's call, from 1; a new one when none before was the same. It is 0
  /// when the table is full: programs with changing shapes have no end of calls.
  std::uint32_t id(const OpRow& row);

  std::size_t size() const { return calls_.size(); }
  /// Returns the first row that made the call, without its times. `id` is from 1 to size(); its
  /// texts live as long as this.
  const OpRow& row(std::uint32_t id) const { return calls_[id - 1]; }

  /// Returns the mean of a counter of kCounters over the rows of a call, from 0 to 1; absent where
  /// none has it.
  std::optional<double> counter(std::uint32_t id, std::size_t counter) const;

  static constexpr std::size_t kMost = 100'000;

 private:
  /// Sums of a counter over rows, in hundredths of a percent.
  struct CounterSum {
    std::int64_t sum = 0, rows = 0;
  };

  void set_key(const OpRow& row);
  void count(std::uint32_t id, const OpRow& row);

  std::string key_;
  std::deque<std::string> texts_;  ///< Never moves a string: the rows and the keys point there.
  std::deque<OpRow> calls_;
  std::unordered_map<std::string_view, std::uint32_t> ids_;
  /// By the call's number; as long as the last call that has any counter.
  std::vector<std::array<CounterSum, kCounters.size()>> counters_;
};

}  // namespace howard::profiler
