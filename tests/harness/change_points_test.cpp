// SPDX-License-Identifier: Apache-2.0
#include "harness/change_points.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <vector>

namespace howard::harness {
namespace {

/// Returns noise of some 2 % around 1, with one value in twenty far off.
std::vector<double> noise(std::size_t count, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<double> values;
  for (std::size_t i = 0; i < count; ++i) {
    double sum = 0;
    for (int j = 0; j < 12; ++j) sum += static_cast<double>(random() >> 11) * 0x1p-53;
    values.push_back(1 + 0.02 * (sum - 6) + (random() % 20 == 0 ? 0.3 : 0));
  }
  return values;
}

TEST(ChangePoints, AStepIsFoundWhereItIs) {
  std::vector<double> values = noise(80, 1);
  for (std::size_t i = 50; i < 80; ++i) values[i] *= 1.1;
  const std::vector<std::size_t> found = change_points(values);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_NEAR(static_cast<double>(found[0]), 50, 3);
}

TEST(ChangePoints, TwoStepsAreFoundInTheirOrder) {
  std::vector<double> values = noise(90, 2);
  for (std::size_t i = 30; i < 60; ++i) values[i] *= 1.2;
  const std::vector<std::size_t> found = change_points(values);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_NEAR(static_cast<double>(found[0]), 30, 3);
  EXPECT_NEAR(static_cast<double>(found[1]), 60, 3);
}

TEST(ChangePoints, SlowDriftShows) {
  std::vector<double> values = noise(100, 3);
  for (std::size_t i = 0; i < 100; ++i) values[i] *= 1 + 0.002 * static_cast<double>(i);
  EXPECT_FALSE(change_points(values).empty());
}

TEST(ChangePoints, NoiseAloneSeldomHasAny) {
  int alarms = 0;
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    alarms += change_points(noise(60, 1000 + seed)).empty() ? 0 : 1;
  }
  EXPECT_LE(alarms, 4) << "1 % is promised";
}

TEST(ChangePoints, TooSmallAndTooShortChangesAreNone) {
  std::vector<double> values(40, 1.0);
  for (std::size_t i = 20; i < 40; ++i) values[i] = 1.005;
  EXPECT_TRUE(change_points(values).empty()) << "half a percent";
  EXPECT_EQ(change_points(values, {.smallest = 0.001}), std::vector<std::size_t>{20});
  EXPECT_TRUE(change_points(std::vector<double>{1, 1, 1, 1, 2, 2, 2, 2, 2}).empty());
  EXPECT_TRUE(change_points({}).empty());
}

TEST(ChangePoints, TheSameSeedGivesTheSamePoints) {
  const std::vector<double> values = noise(100, 7);
  EXPECT_EQ(change_points(values, {.alpha = 0.3}), change_points(values, {.alpha = 0.3}));
}

TEST(ChangePoints, AnExactSeriesChangesWhereverItDiffers) {
  const std::vector<double> values{3, 3, 4, 4, 3};
  EXPECT_EQ(exact_changes(values), (std::vector<std::size_t>{2, 4}));
  EXPECT_TRUE(exact_changes({}).empty());
}

}  // namespace
}  // namespace howard::harness
