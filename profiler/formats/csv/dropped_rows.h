// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace howard::profiler {

/// Counts what a reader left out, and why. The good rows of a damaged file are worth having, but
/// never without a word about the others.
class DroppedRows {
 public:
  struct Reason {
    std::string text;              ///< "DEVICE ID is not an integer".
    std::string example;           ///< The value of the first one; empty if there is none.
    std::uint64_t first_line = 0;  ///< 0 if it is no particular line.
    std::uint64_t count = 0;
  };
  /// Further reasons are counted as one, so that no input makes the list grow without end.
  static constexpr std::size_t kMostReasons = 64;

  void add(std::string_view reason, std::uint64_t line, std::string_view example = {},
           std::uint64_t count = 1);
  /// Adds a row of an op, which then misses a run.
  void add_of(std::string_view op, std::string_view reason, std::uint64_t line,
              std::string_view example = {});

  std::uint64_t count() const { return count_; }
  /// Returns the number of the rows that are known to be of an op.
  std::uint64_t count_of(std::string_view op) const;
  /// Returns the reasons in the order of their first occurrence.
  const std::vector<Reason>& reasons() const { return reasons_; }

 private:
  std::uint64_t count_ = 0;
  std::vector<Reason> reasons_;
  std::map<std::string, std::uint64_t, std::less<>> ops_;
};

/// Returns "3 rows: DEVICE ID is not an integer, first on line 17: 'abc'".
std::string describe(const DroppedRows::Reason& reason);

}  // namespace howard::profiler
