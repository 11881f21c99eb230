// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

namespace howard::language {

/// Holds the merges of a byte-pair encoding: which two neighbouring tokens become one, in the order
/// in which they were learned.
class BpeMerges {
 public:
  /// Adds the merge that comes after all others. Returns false if this pair has one already.
  bool add(std::uint32_t left, std::uint32_t right, std::uint32_t merged);

  /// Merges neighbours until no pair has a merge. The pair that was learned first goes before all
  /// others, and the leftmost of equal ones first. A text of n tokens takes n log n steps.
  std::vector<std::uint32_t> merged(std::vector<std::uint32_t> tokens) const;

 private:
  struct Merge {
    std::uint32_t rank = 0, merged = 0;
  };

  std::optional<Merge> find(std::uint32_t left, std::uint32_t right) const;

  std::unordered_map<std::uint64_t, Merge> merges_;
};

}  // namespace howard::language
