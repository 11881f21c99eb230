// SPDX-License-Identifier: Apache-2.0
#include "engines/wormhole/dispatch.h"

#include <gtest/gtest.h>

#include <vector>

namespace howard::wormhole {
namespace {

constexpr SimTime us(std::int64_t count) { return SimTime::microseconds(count); }

class Dispatch : public ::testing::Test {
 protected:
  DispatchQueue queue(DispatchLimits limits) {
    return {limits, [this](const Launch& launch, const LaunchTimes& times) {
              EXPECT_EQ(launch.program, times_.size() + 1) << "programs end in order";
              times_.push_back(times);
            }};
  }

  /// `count` programs handed over at once.
  static void issue(DispatchQueue& queue, int count, SimTime dispatch, SimTime kernel) {
    for (int i = 1; i <= count; ++i) {
      queue.issue({static_cast<std::uint64_t>(i), dispatch, kernel}, SimTime());
    }
  }

  std::vector<LaunchTimes> times_;
};

TEST_F(Dispatch, OneProgramPassesThroughEveryStage) {
  DispatchQueue q = queue({us(1), 100, 7});
  EXPECT_EQ(q.issue({1, us(4), us(10)}, us(20)), us(20)) << "the host goes on at once";
  EXPECT_EQ(q.drain(), us(20 + 4 + 1 + 10));
  EXPECT_EQ(times_[0].dispatch_start, us(20));
  EXPECT_EQ(times_[0].dispatch_end, us(24));
  EXPECT_EQ(times_[0].kernel_start, us(25));
  EXPECT_EQ(times_[0].kernel_end, us(35));
}

TEST_F(Dispatch, LongKernelsHideTheDispatchOfTheNext) {
  DispatchQueue q = queue({us(1), 100, 7});
  issue(q, 5, us(4), us(10));
  EXPECT_EQ(q.drain(), us(4 + 5 * (1 + 10)));
}

TEST_F(Dispatch, ShortKernelsWaitForTheDispatcher) {
  DispatchQueue q = queue({us(1), 100, 7});
  issue(q, 5, us(4), us(2));
  EXPECT_EQ(q.drain(), us(5 * 4 + 1 + 2));
}

TEST_F(Dispatch, TheLaunchRingLimitsHowFarAheadProgramsAreConfigured) {
  DispatchQueue q = queue({us(1), 100, 2});
  issue(q, 4, us(1), us(100));
  q.drain();
  // Programs 1 and 2 fill the ring; 3 is configured when 1 has ended (1 + 1 + 100).
  EXPECT_EQ(times_[1].dispatch_end, us(2));
  EXPECT_EQ(times_[2].dispatch_start, us(102));
}

TEST_F(Dispatch, AFullIssueQueueMakesTheHostWait) {
  DispatchQueue q = queue({us(1), 2, 7});
  EXPECT_EQ(q.issue({1, us(4), us(10)}, SimTime()), SimTime());
  EXPECT_EQ(q.issue({2, us(4), us(10)}, SimTime()), SimTime());
  EXPECT_EQ(q.issue({3, us(4), us(10)}, SimTime()), us(15)) << "the end of the first program";
  EXPECT_EQ(q.drain(), us(15 + 11 + 11));
}

TEST_F(Dispatch, AnIdleQueueStartsWhenTheHostCallsAgain) {
  DispatchQueue q = queue({us(1), 100, 7});
  q.issue({1, us(4), us(10)}, SimTime());
  EXPECT_EQ(q.drain(), us(15));
  q.issue({2, us(4), us(10)}, us(1000));
  EXPECT_EQ(q.drain(), us(1015));
}

}  // namespace
}  // namespace howard::wormhole
