// SPDX-License-Identifier: Apache-2.0
#include "profiler/formats/device_log/cycle_counter.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>

namespace howard::profiler {
namespace {

constexpr std::int64_t kWrap = std::int64_t{1} << 44;

TEST(CycleCounter, CountsOnWhereItWraps) {
  CycleCounter counter;
  EXPECT_EQ(counter.continued(5), 5);
  EXPECT_EQ(counter.continued(kWrap - 10), kWrap - 10);
  EXPECT_EQ(counter.continued(3), kWrap + 3);
  EXPECT_EQ(counter.continued(kWrap - 5), kWrap - 5);  // a row from before the wrap
  EXPECT_EQ(counter.continued(9), kWrap + 9);
}

TEST(CycleCounter, AFallThatIsNoWrapIsLeftAsItIs) {
  CycleCounter counter;
  EXPECT_EQ(counter.continued(1'000'000), 1'000'000);
  EXPECT_EQ(counter.continued(10), 10);
}

TEST(CycleCounter, RefusesWhatIsNoCounter) {
  CycleCounter counter;
  EXPECT_EQ(counter.continued(-1), std::nullopt);
  EXPECT_EQ(counter.continued(CycleCounter::kMost), std::nullopt);
}

TEST(CycleCounter, BetweenAllowsOneWrapAndNoOtherFall) {
  EXPECT_EQ(CycleCounter::between(10, 30), 20);
  EXPECT_EQ(CycleCounter::between(kWrap - 10, 30), 40);
  EXPECT_EQ(CycleCounter::between(30, 10), std::nullopt);
  EXPECT_EQ(CycleCounter::between(std::int64_t{1} << 32, 10), std::nullopt);
}

TEST(TimeOfCycles, IsToTheNearestPicosecond) {
  EXPECT_EQ(time_of_cycles(27, Frequency(1'350'000'000)), SimTime::nanoseconds(20));
  EXPECT_EQ(time_of_cycles(1, Frequency(1'350'000'000)), SimTime::picoseconds(741));
  EXPECT_EQ(time_of_cycles(CycleCounter::kMost, kSlowestClock).ps(), CycleCounter::kMost * 2'000);
}

}  // namespace
}  // namespace howard::profiler
