// SPDX-License-Identifier: Apache-2.0
#include "harness/statistics.h"

#include <gtest/gtest.h>

#include <array>
#include <numeric>
#include <random>
#include <vector>

namespace howard::harness {
namespace {

TEST(Median, EdgeCases) {
  EXPECT_EQ(median({}), std::nullopt);
  EXPECT_EQ(median(std::array{7.0}), 7.0);
  EXPECT_EQ(median(std::array{3.0, 1.0, 2.0}), 2.0);
  EXPECT_EQ(median(std::array{4.0, 1.0, 2.0, 3.0}), 2.5);
  EXPECT_EQ(median(std::array{5.0, 5.0, 5.0}), 5.0);
}

TEST(MedianInterval, TakesTheOrderStatisticsOfTheBinomialTable) {
  const auto interval = [](int n) {
    std::vector<double> samples(static_cast<std::size_t>(n));
    std::iota(samples.begin(), samples.end(), 1.0);
    return median_interval95(samples);
  };
  EXPECT_EQ(interval(0), std::nullopt);
  EXPECT_EQ(interval(5), std::nullopt) << "1 - 2/32 is 93.75 %";
  // These are Conover's values for 95 % intervals of the median.
  EXPECT_EQ(interval(6), (std::array{1.0, 6.0}));
  EXPECT_EQ(interval(8), (std::array{1.0, 8.0}));
  EXPECT_EQ(interval(9), (std::array{2.0, 8.0}));
  EXPECT_EQ(interval(12), (std::array{3.0, 10.0}));
  EXPECT_EQ(interval(20), (std::array{6.0, 15.0}));
  EXPECT_EQ(interval(30), (std::array{10.0, 21.0}));
}

TEST(MedianInterval, OfAsManySamplesAsALogHasRowsIsFound) {
  std::vector<double> samples(10'000);
  std::iota(samples.begin(), samples.end(), 1.0);
  // The normal approximation gives 5000 -+ 0.98 sqrt(10000), to the sample.
  EXPECT_EQ(median_interval95(samples), (std::array{4902.0, 5099.0}));
}

TEST(MedianInterval, CoversTheTrueMedianAtLeast95TimesIn100) {
  std::mt19937 random(1);
  std::lognormal_distribution<double> skewed(0, 1);  // its median is 1
  int covered = 0;
  constexpr int kTrials = 2000;
  for (int trial = 0; trial < kTrials; ++trial) {
    std::array<double, 9> samples{};
    for (double& sample : samples) sample = skewed(random);
    const auto interval = median_interval95(samples);
    if ((*interval)[0] <= 1 && 1 <= (*interval)[1]) ++covered;
  }
  EXPECT_GE(covered, kTrials * 95 / 100);
}

}  // namespace
}  // namespace howard::harness
