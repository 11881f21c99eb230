// SPDX-License-Identifier: Apache-2.0
#include "profiler/formats/device_log/clock_alignment.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <random>
#include <vector>

namespace howard::profiler {
namespace {

SimTime us(std::int64_t count) { return SimTime::microseconds(count); }

/// Calls every 40 us over a second on a device whose clock counts `parts` millionths less, and
/// which starts up to 3 ms late, but in every tenth call at once.
std::vector<ClockPair> pairs_with_drift(std::int64_t parts, std::mt19937& random) {
  std::vector<ClockPair> pairs;
  for (std::int64_t i = 0; i < 25'000; ++i) {
    const SimTime host = us(40 * i);
    const SimTime lost = SimTime::picoseconds(host.ps() / 1'000'000 * parts);
    const auto late = static_cast<std::int64_t>(i % 10 == 0 ? 0 : random() % 3'000);
    pairs.push_back({us(7'000'000) + host, us(90'000'000) + host - lost + us(late)});
  }
  return pairs;
}

TEST(ClockAlignment, FindsAnOffsetAndADriftThroughQueueing) {
  std::mt19937 random(3);
  const auto found = align_clocks(pairs_with_drift(15'000, random));
  ASSERT_TRUE(found);
  EXPECT_NEAR(found->rate, 0.985, 1e-6);
  // In the middle of the log the line is exact but for the rounding.
  const SimTime expected = us(90'000'000) + us(492'500);
  EXPECT_LE(std::abs((found->device_time(us(7'500'000)) - expected).ps()), us(1).ps());
  EXPECT_LE(found->uncertainty, us(1));
}

TEST(ClockAlignment, PairsFarBelowTheOthersAreDamage) {
  std::mt19937 random(4);
  std::vector<ClockPair> pairs = pairs_with_drift(0, random);
  for (const std::size_t i : {100U, 9'000U, 20'000U}) pairs[i].device = us(1);
  const auto found = align_clocks(pairs);
  ASSERT_TRUE(found);
  EXPECT_NEAR(found->rate, 1, 1e-6);
  EXPECT_LE(std::abs((found->device_time(us(7'500'000)) - us(90'500'000)).ps()), us(1).ps());
}

TEST(ClockAlignment, SaysHowFarPartsOfTheLogAreOff) {
  // The device's clock jumps by 200 us in the middle.
  std::vector<ClockPair> pairs;
  for (std::int64_t i = 0; i < 1'000; ++i) {
    pairs.push_back({us(100 * i), us(100 * i + (i < 500 ? 200 : 0))});
  }
  const auto found = align_clocks(pairs);
  ASSERT_TRUE(found);
  EXPECT_GE(found->uncertainty, us(20));
}

TEST(ClockAlignment, ADeviceThatFallsBehindIsTakenToCountAlike) {
  std::vector<ClockPair> pairs;
  for (std::int64_t i = 0; i < 100; ++i) pairs.push_back({us(10 * i), us(5'000 + 30 * i)});
  const auto found = align_clocks(pairs);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->rate, 1);
  EXPECT_EQ(found->device_time(us(500)), us(5'500));
  EXPECT_GE(found->uncertainty, us(10));
}

TEST(ClockAlignment, ClocksOfDifferentRunsAreRefused) {
  EXPECT_FALSE(align_clocks({}));
  EXPECT_FALSE(align_clocks(std::vector<ClockPair>{{us(1), us(1)}, {us(2), us(2)}}));
  EXPECT_FALSE(align_clocks(std::vector<ClockPair>(5, {us(1), us(1)})));
  std::vector<ClockPair> before_its_calls;
  for (std::int64_t i = 0; i < 100; ++i) before_its_calls.push_back({us(2 * i), us(i)});
  EXPECT_FALSE(align_clocks(before_its_calls));
}

}  // namespace
}  // namespace howard::profiler
