// SPDX-License-Identifier: Apache-2.0
#include "harness/paired_test.h"

#include <algorithm>
#include <boost/math/distributions/binomial.hpp>
#include <boost/math/distributions/normal.hpp>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <optional>

#include "harness/statistics.h"

namespace howard::harness {
namespace {

constexpr std::size_t kMostExact = 200;
constexpr double kEndless = std::numeric_limits<double>::infinity();

/// Returns twice the rank of each size from the smallest, 2, on; equal sizes share their mean rank,
/// which is whole when doubled.
std::vector<std::size_t> doubled_ranks(const std::vector<double>& sizes) {
  std::vector<std::size_t> order(sizes.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [&](std::size_t i) { return sizes[i]; });
  std::vector<std::size_t> ranks(sizes.size());
  for (std::size_t first = 0; first < order.size();) {
    std::size_t last = first;
    while (last + 1 < order.size() && sizes[order[last + 1]] == sizes[order[first]]) ++last;
    for (std::size_t i = first; i <= last; ++i) ranks[order[i]] = first + last + 2;
    first = last + 1;
  }
  return ranks;
}

/// Returns the probability of each sum of the ranks that carry a plus, when each sign is a coin.
std::vector<double> sum_probabilities(const std::vector<std::size_t>& ranks) {
  std::vector<double> probability{1};
  for (const std::size_t rank : ranks) {
    std::vector<double> next(probability.size() + rank);
    for (std::size_t sum = 0; sum < probability.size(); ++sum) {
      next[sum] += probability[sum] / 2;
      next[sum + rank] += probability[sum] / 2;
    }
    probability = std::move(next);
  }
  return probability;
}

/// Returns the probability of a sum of ranks that is as far from the middle as `sum`, or farther.
double two_sided(const std::vector<std::size_t>& ranks, std::size_t sum) {
  const std::size_t total = std::accumulate(ranks.begin(), ranks.end(), std::size_t{0});
  const std::size_t low = std::min(sum, total - sum);
  if (ranks.size() <= kMostExact) {
    const std::vector<double> probability = sum_probabilities(ranks);
    double tail = 0;
    for (std::size_t i = 0; i <= low; ++i) tail += probability[i];
    return std::min(1.0, 2 * tail);
  }
  double variance = 0;
  for (const std::size_t rank : ranks) variance += static_cast<double>(rank * rank) / 4;
  const double distance = static_cast<double>(total) / 2 - static_cast<double>(low) - 1;
  return std::min(1.0,
                  2 * boost::math::cdf(boost::math::normal(), -distance / std::sqrt(variance)));
}

double signed_rank_p(std::span<const double> differences) {
  std::vector<double> sizes;
  std::vector<bool> positive;
  for (const double difference : differences) {
    if (difference == 0) continue;
    sizes.push_back(std::abs(difference));
    positive.push_back(difference > 0);
  }
  if (sizes.empty()) return 1;
  const std::vector<std::size_t> ranks = doubled_ranks(sizes);
  std::size_t sum = 0;
  for (std::size_t i = 0; i < ranks.size(); ++i) sum += positive[i] ? ranks[i] : 0;
  return two_sided(ranks, sum);
}

/// Returns how many of the smallest and of the largest means lie outside of the interval; 0 if
/// there is no interval with that confidence.
std::size_t means_outside(std::size_t count, double alpha) {
  if (count > kMostExact) {
    const auto n = static_cast<double>(count);
    const double spread = std::sqrt(n * (n + 1) * (2 * n + 1) / 24);
    return static_cast<std::size_t>(
        std::max(0.0, n * (n + 1) / 4 - normal_quantile(1 - alpha / 2) * spread));
  }
  std::vector<std::size_t> ranks(count);
  std::iota(ranks.begin(), ranks.end(), std::size_t{1});
  const std::vector<double> probability = sum_probabilities(ranks);
  double below = 0;
  std::size_t outside = 0;
  while (outside < probability.size() && below + probability[outside] <= alpha / 2) {
    below += probability[outside++];
  }
  return outside;
}

/// A side of fewer values does not tell an outlier from the others.
constexpr std::size_t kFewestOfASide = 3;

/// Returns the spread of two samples around their medians as a standard deviation, of which
/// outliers change little; absent for too few values.
std::optional<double> robust_spread(std::span<const double> before, std::span<const double> after) {
  constexpr std::size_t kFewest = 4;
  constexpr double kOfNormal = 1.4826;  // the standard deviation over the median distance
  std::vector<double> distances;
  for (const std::span<const double> side : {before, after}) {
    if (side.size() < kFewestOfASide) continue;
    const double middle = *median(side);
    const std::size_t first = distances.size();
    for (const double value : side) distances.push_back(std::abs(value - middle));
    // One of an odd number of values is the median itself and says nothing of the spread.
    if (side.size() % 2 == 1) {
      distances.erase(std::min_element(distances.begin() + static_cast<std::ptrdiff_t>(first),
                                       distances.end()));
    }
  }
  if (distances.size() < kFewest) return std::nullopt;
  return kOfNormal * *median(distances);
}

/// Returns the values, with outliers moved to where they begin.
std::vector<double> without_outliers(std::span<const double> side, std::optional<double> spread) {
  // Of normal values one in a million lies as far out; with 5 the false alarms of normal samples
  // stay at alpha, from three values a side on.
  constexpr double kFar = 5;
  std::vector<double> values(side.begin(), side.end());
  if (!spread || side.size() < kFewestOfASide) return values;
  const double middle = *median(side);
  for (double& value : values) {
    value = std::clamp(value, middle - kFar * *spread, middle + kFar * *spread);
  }
  return values;
}

/// Returns the probability that all values of the shorter side are such outliers as the longer one
/// has at `shift` from its median or beyond; 0 if it has none.
double outlier_p(std::span<const double> longer, std::size_t shorter, double shift) {
  const double middle = *median(longer);
  const auto far = std::ranges::count_if(longer, [&](double value) {
    return (value - middle) * shift > 0 && std::abs(value - middle) >= std::abs(shift);
  });
  if (far == 0) return 0;
  return std::pow(static_cast<double>(far + 1) / static_cast<double>(longer.size() + 1),
                  static_cast<double>(shorter));
}

/// Tests two samples without outliers.
Shift plain_shift(std::span<const double> before, std::span<const double> after, double alpha) {
  const auto mean = [](std::span<const double> values) {
    return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
  };
  const double old_mean = mean(before);
  const double new_mean = mean(after);
  Shift shift{.estimate = new_mean - old_mean, .interval = {-kEndless, kEndless}};
  if (before.size() + after.size() < 3) return shift;
  double squares = 0;
  for (const double value : before) squares += (value - old_mean) * (value - old_mean);
  for (const double value : after) squares += (value - new_mean) * (value - new_mean);
  const auto freedom = static_cast<double>(before.size() + after.size() - 2);
  // Two equal values tell of the clock's resolution or of chance, and not that there is no noise.
  if (squares == 0 && freedom < 2) return shift;
  const double error =
      std::sqrt(squares / freedom *
                (1 / static_cast<double>(before.size()) + 1 / static_cast<double>(after.size())));
  const boost::math::students_t distribution(freedom);
  const double reach = boost::math::quantile(distribution, 1 - alpha / 2) * error;
  shift.interval = {shift.estimate - reach, shift.estimate + reach};
  if (error > 0) {
    shift.p = 2 * boost::math::cdf(distribution, -std::abs(shift.estimate) / error);
  } else {
    shift.p = shift.estimate == 0 ? 1 : 0;
  }
  return shift;
}

}  // namespace

Shift signed_rank_shift(std::span<const double> differences, double alpha) {
  if (differences.empty()) return {.interval = {-kEndless, kEndless}};
  std::vector<double> means;
  means.reserve(differences.size() * (differences.size() + 1) / 2);
  for (std::size_t i = 0; i < differences.size(); ++i) {
    for (std::size_t j = i; j < differences.size(); ++j) {
      means.push_back((differences[i] + differences[j]) / 2);
    }
  }
  std::ranges::sort(means);
  const std::size_t outside = means_outside(differences.size(), alpha);
  Shift shift{.estimate = *median(means), .p = signed_rank_p(differences)};
  shift.interval = outside == 0 ? std::array{-kEndless, kEndless}
                                : std::array{means[outside - 1], means[means.size() - outside]};
  return shift;
}

std::size_t fewest_pairs(double alpha) {
  // All differences of one sign have the probability 2 / 2^n.
  return static_cast<std::size_t>(std::ceil(std::log2(2 / alpha) - 1e-9));
}

Shift student_shift(std::span<const double> before, std::span<const double> after, double alpha) {
  if (before.empty() || after.empty()) return {.interval = {-kEndless, kEndless}};
  const std::optional<double> spread = robust_spread(before, after);
  Shift shift =
      plain_shift(without_outliers(before, spread), without_outliers(after, spread), alpha);
  const bool old_is_longer = before.size() >= after.size();
  shift.p = std::max(shift.p, old_is_longer ? outlier_p(before, after.size(), shift.estimate)
                                            : outlier_p(after, before.size(), -shift.estimate));
  return shift;
}

std::vector<double> holm(std::span<const double> p) {
  std::vector<std::size_t> order(p.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return p[i]; });
  std::vector<double> adjusted(p.size());
  double largest = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    largest = std::max(largest, std::min(1.0, p[order[i]] * static_cast<double>(p.size() - i)));
    adjusted[order[i]] = largest;
  }
  return adjusted;
}

double normal_quantile(double probability) {
  return boost::math::quantile(boost::math::normal(), probability);
}

std::array<double, 2> share_interval95(std::size_t hits, std::size_t count) {
  using Binomial = boost::math::binomial;
  const auto n = static_cast<double>(count);
  const auto k = static_cast<double>(hits);
  return {hits == 0 ? 0 : Binomial::find_lower_bound_on_p(n, k, 0.025),
          hits == count ? 1 : Binomial::find_upper_bound_on_p(n, k, 0.025)};
}

}  // namespace howard::harness
