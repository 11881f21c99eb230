// SPDX-License-Identifier: Apache-2.0
#include "harness/statistics.h"

#include <algorithm>
#include <boost/math/distributions/binomial.hpp>
#include <boost/math/statistics/univariate_statistics.hpp>
#include <vector>

namespace howard::harness {
namespace {

std::vector<double> sorted(std::span<const double> samples) {
  std::vector<double> result(samples.begin(), samples.end());
  std::ranges::sort(result);
  return result;
}

}  // namespace

std::optional<double> median(std::span<const double> samples) {
  if (samples.empty()) return std::nullopt;
  std::vector<double> unordered(samples.begin(), samples.end());
  return boost::math::statistics::median(unordered);
}

std::optional<std::array<double, 2>> median_interval95(std::span<const double> samples) {
  // The median lies below the d-th smallest sample with probability P(Binomial(n, 1/2) < d), and as
  // often above the d-th largest. This takes the largest d that keeps both together at or below 5
  // %.
  constexpr double kTail = 0.025;
  const boost::math::binomial trials(static_cast<double>(samples.size()), 0.5);
  if (cdf(trials, 0) > kTail) return std::nullopt;
  const auto outside = static_cast<std::size_t>(quantile(trials, kTail));  // rounded down
  const std::vector<double> ordered = sorted(samples);
  return std::array{ordered[outside], ordered[ordered.size() - 1 - outside]};
}

}  // namespace howard::harness
