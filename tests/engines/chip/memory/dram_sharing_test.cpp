// SPDX-License-Identifier: Apache-2.0
#include "engines/chip/memory/dram_sharing.h"

#include <gtest/gtest.h>

#include <array>
#include <random>

namespace howard::chip {
namespace {

TEST(DramSharing, EnoughForAllSlowsNobody) {
  EXPECT_EQ(shared_speeds(std::array<DramShare, 3>{300'000, 300'000, 400'000}),
            (std::vector<Speed>{kFullSpeed, kFullSpeed, kFullSpeed}));
  EXPECT_TRUE(shared_speeds({}).empty());
}

TEST(DramSharing, WhoWantsLittleGetsItAndTheOthersDivideTheRest) {
  // 100 000 is served; 900 000 are left for two that want 1 000 000 and 600 000.
  EXPECT_EQ(shared_speeds(std::array<DramShare, 3>{1'000'000, 100'000, 600'000}),
            (std::vector<Speed>{450'000, kFullSpeed, 750'000}));
  EXPECT_EQ(shared_speeds(std::array<DramShare, 2>{1'000'000, 0}),
            (std::vector<Speed>{kFullSpeed, kFullSpeed}));
}

TEST(DramSharing, NeverGivesMoreThanThereIs) {
  std::mt19937 random(1);
  std::uniform_int_distribution<DramShare> any(0, kAllOfDram);
  for (int trial = 0; trial < 1000; ++trial) {
    std::array<DramShare, 8> wanted{};
    for (DramShare& share : wanted) share = any(random);
    const std::vector<Speed> speeds = shared_speeds(wanted);
    DramShare used = 0;
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      EXPECT_GT(speeds[i], 0);
      EXPECT_LE(speeds[i], kFullSpeed);
      used += wanted[i] * speeds[i] / kFullSpeed;
    }
    EXPECT_LE(used, kAllOfDram);
    EXPECT_GE(used, kAllOfDram - 10) << "eight that want it all leave nothing unused";
  }
}

TEST(DramSharing, WorkAndTimeAreInverse) {
  const SimTime hour = SimTime::microseconds(3'600'000'000);
  EXPECT_EQ(time_for(hour, kFullSpeed), hour);
  EXPECT_EQ(time_for(hour, kFullSpeed / 2), 2 * hour);
  EXPECT_EQ(work_done(2 * hour, kFullSpeed / 2), hour);
  for (const Speed speed : {1L, 333'333L, 999'999L}) {
    const SimTime work = SimTime::nanoseconds(12'345);
    EXPECT_GE(work_done(time_for(work, speed), speed), work);
    EXPECT_LT(work_done(time_for(work, speed) - SimTime::picoseconds(2), speed), work);
  }
}

TEST(DramSharing, AShareIsTheBusyPartOfTheTime) {
  EXPECT_EQ(share_of(SimTime::nanoseconds(1), SimTime::nanoseconds(4)), 250'000);
  EXPECT_EQ(share_of(SimTime::nanoseconds(5), SimTime::nanoseconds(4)), kAllOfDram);
}

}  // namespace
}  // namespace howard::chip
