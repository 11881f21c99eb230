// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <vector>

namespace howard::harness {

// Tests that say whether a measured time has changed. They work on logarithms of ratios: 0 is no
// change, log(1.05) is 5 % slower.

/// Says how far something has shifted, and how sure that is.
struct Shift {
  double estimate = 0;
  /// Holds the shift with the asked confidence. Infinite if there are too few values for that.
  std::array<double, 2> interval{};
  double p = 1;  ///< The two-sided probability of such a shift, or a larger one, without a change.

  /// Returns half the width of the interval.
  double half_width() const { return (interval[1] - interval[0]) / 2; }
};

/// Tests differences of pairs with Wilcoxon's signed-rank test, and estimates their shift as Hodges
/// and Lehmann do: the median of the means of all pairs of differences. It needs no assumption
/// about the distribution but that a difference and its negative are equally likely without a
/// change, which is so when each pair was measured in random order. p is exact for up to 200
/// differences, with ties; zeros count as no evidence. `alpha` is 1 minus the confidence of the
/// interval.
Shift signed_rank_shift(std::span<const double> differences, double alpha);

/// Returns the fewest pairs with which the signed-rank test can reach `alpha` at all.
std::size_t fewest_pairs(double alpha);

/// Tests whether `after` has shifted against `before` with Student's test for two samples of one
/// variance. One of them may be a single value; together there must be at least three for a finite
/// interval, and four if all of each side are equal. It assumes a normal distribution, unlike the
/// test of pairs, but for outliers: a value that lies farther from the median of its side than five
/// times the spread of all counts as one that lies there, so that one disturbed run does not hide a
/// change. What the longer side has shown as outliers, the shorter one may be as well: p is never
/// less than the probability of that.
Shift student_shift(std::span<const double> before, std::span<const double> after, double alpha);

/// Returns p values that control the probability of any false alarm in a family of tests (Holm's
/// method): a test is significant at `alpha` if its adjusted value is at most `alpha`.
std::vector<double> holm(std::span<const double> p);

/// Returns the quantile of the standard normal distribution: 1.96 for 0.975.
double normal_quantile(double probability);

/// Returns the 95 % interval of a share of which `hits` of `count` trials were seen (Clopper and
/// Pearson). `count` must be positive.
std::array<double, 2> share_interval95(std::size_t hits, std::size_t count);

}  // namespace howard::harness
