// SPDX-License-Identifier: Apache-2.0
#include "harness/statistics.h"

#include <algorithm>
#include <cmath>
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
  const std::vector<double> ordered = sorted(samples);
  const std::size_t middle = ordered.size() / 2;
  if (ordered.size() % 2 == 1) return ordered[middle];
  return (ordered[middle - 1] + ordered[middle]) / 2;
}

std::optional<std::array<double, 2>> median_interval95(std::span<const double> samples) {
  // The median lies outside [x(d), x(n+1-d)] with probability 2 P(Binomial(n, 1/2) < d). This takes
  // the largest d that keeps it at or below 5 %. It works in logarithms, because beyond some
  // thousand samples the first probabilities are smaller than any double.
  const auto n = static_cast<double>(samples.size());
  std::size_t d = 0;
  double probability = n * std::log(0.5);  // log P(X = d)
  double below = std::exp(probability);    // P(X <= d) = P(X < d + 1)
  while (2 * below <= 0.05) {
    ++d;
    probability += std::log((n - static_cast<double>(d) + 1) / static_cast<double>(d));
    below += std::exp(probability);
  }
  if (d == 0) return std::nullopt;
  const std::vector<double> ordered = sorted(samples);
  return std::array{ordered[d - 1], ordered[ordered.size() - d]};
}

}  // namespace howard::harness
