// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace howard::harness {

struct ChangePointOptions {
  /// The probability of the split without a change that is still taken for a change.
  double alpha = 0.01;
  /// The random orders with which a split is compared. 1 / (permutations + 1) must be below alpha.
  std::size_t permutations = 199;
  std::size_t shortest = 5;  ///< The fewest values between two changes.
  double smallest = 0.01;    ///< Changes of the median by less than this share are not kept.
  std::uint64_t seed = 1;    ///< The random orders follow from it.
};

/// Returns the indices at which a noisy series changes its level, in order: a value at such an
/// index is the first of the new level. It is E-Divisive (Matteson and James 2014): the series is
/// cut where the energy distance between both sides is largest, as long as so large a distance is
/// rare among random orders of the same values. Slow drift shows as one or more changes. The same
/// series and seed give the same points. The time grows with the square of the length.
std::vector<std::size_t> change_points(std::span<const double> series,
                                       const ChangePointOptions& options = {});

/// Returns the indices at which an exact series differs from the value before.
std::vector<std::size_t> exact_changes(std::span<const double> series);

}  // namespace howard::harness
