// SPDX-License-Identifier: Apache-2.0
#include "engines/chip/dispatch/simulation.h"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <utility>

#include "base/error.h"
#include "tests/error_of.h"

namespace howard::chip {
namespace {

constexpr SimTime us(std::int64_t count) { return SimTime::microseconds(count); }

constexpr SimulationLimits kRoomy{
    .issue_queue_entries = 100, .launch_ring_entries = 7, .configuration_ring = Bytes(70'000)};

/// Returns a program that takes 1 us from done to start and has 1000 B of configuration.
Launch launch(SimTime dispatch, SimTime kernel, int sub_device = 0, DramShare share = 0) {
  return {.dispatch = dispatch,
          .go = us(1),
          .kernel = kernel,
          .configuration = Bytes(1000),
          .dram_share = share,
          .sub_device = sub_device};
}

class Simulated : public ::testing::Test {
 protected:
  Simulation make(SimulationLimits limits) {
    return {limits,
            [this](std::uint64_t program, int queue, const Launch&, const LaunchTimes& times) {
              EXPECT_TRUE(times_.emplace(program, times).second) << "a program ends once";
              queue_of_[program] = queue;
            },
            [this](int queue, SimTime start, SimTime end) {
              EXPECT_TRUE(waits_.emplace(queue, std::pair(start, end)).second) << "one a queue";
            }};
  }

  std::map<std::uint64_t, LaunchTimes> times_;
  std::map<std::uint64_t, int> queue_of_;
  std::map<int, std::pair<SimTime, SimTime>> waits_;
};

TEST_F(Simulated, OneProgramPassesThroughEveryStage) {
  Simulation chip = make(kRoomy);
  const auto issued = chip.issue(0, launch(us(4), us(10)), us(20));
  EXPECT_EQ(issued.host_free, us(20)) << "the host goes on at once";
  EXPECT_EQ(issued.first_program, 1U);
  EXPECT_EQ(chip.drain(0), us(20 + 4 + 10));
  EXPECT_EQ(times_[1].dispatch_start, us(20));
  EXPECT_EQ(times_[1].dispatch_end, us(24));
  EXPECT_EQ(times_[1].kernel_start, us(24));
  EXPECT_EQ(times_[1].kernel_end, us(34));
}

TEST_F(Simulated, AReplayWaitsForAllWorkersAndIsFetchedBeforeItsFirstDispatch) {
  SimulationLimits limits = kRoomy;
  limits.replay = us(5);
  Simulation chip = make(limits);
  const auto two =
      std::make_shared<const Recording>(Recording{launch(us(2), us(10)), launch(us(2), us(10))});
  chip.issue(0, launch(us(2), us(30)), us(0));
  chip.issue(0, Replay{two}, us(0));
  chip.issue(0, Replay{two}, us(0));
  chip.drain(0);
  EXPECT_EQ(times_[2].dispatch_start, us(32 + 5)) << "after the program before it, reset and fetch";
  EXPECT_EQ(times_[3].dispatch_start, times_[2].dispatch_end) << "within a replay nothing waits";
  EXPECT_EQ(times_[4].dispatch_start, times_[3].kernel_end + us(5)) << "replays do not overlap";
}

TEST_F(Simulated, LongKernelsHideTheDispatchOfTheNext) {
  Simulation chip = make(kRoomy);
  for (int i = 0; i < 5; ++i) chip.issue(0, launch(us(4), us(10)), SimTime());
  EXPECT_EQ(chip.drain(0), us(4 + 10 + 4 * (1 + 10)));
}

TEST_F(Simulated, TheGoAfterADoneIsHiddenByALongerDispatch) {
  Simulation chip = make(kRoomy);
  chip.issue(0, launch(us(4), us(1)), SimTime());
  chip.issue(0, launch(us(4), us(4)), SimTime());
  chip.issue(0, launch(us(4), us(4)), SimTime());
  EXPECT_EQ(chip.drain(0), us(4 + 4 + 4 + 1 + 4)) << "done at 5, dispatched at 8; done at 12: 13";
}

TEST_F(Simulated, ShortKernelsWaitForTheDispatcher) {
  Simulation chip = make(kRoomy);
  for (int i = 0; i < 5; ++i) chip.issue(0, launch(us(4), us(2)), SimTime());
  EXPECT_EQ(chip.drain(0), us(5 * 4 + 2));
}

TEST_F(Simulated, TheLaunchRingLimitsHowFarAheadProgramsAreConfigured) {
  SimulationLimits limits = kRoomy;
  limits.launch_ring_entries = 2;
  Simulation chip = make(limits);
  for (int i = 0; i < 4; ++i) chip.issue(0, launch(us(1), us(100)), SimTime());
  chip.drain(0);
  // Programs 1 and 2 fill the ring; 3 is configured when 1 has ended (1 + 100).
  EXPECT_EQ(times_[2].dispatch_end, us(2));
  EXPECT_EQ(times_[3].dispatch_start, us(101));
}

TEST_F(Simulated, TheConfigurationRingLimitsItBySize) {
  SimulationLimits limits = kRoomy;
  limits.configuration_ring = Bytes(1999);
  Simulation chip = make(limits);
  for (int i = 0; i < 3; ++i) chip.issue(0, launch(us(2), us(10)), SimTime());
  EXPECT_EQ(chip.drain(0), us(3 * (2 + 10))) << "no room for a second: one after the other";
}

TEST_F(Simulated, AProgramLargerThanTheRingStillRunsAlone) {
  SimulationLimits limits = kRoomy;
  limits.configuration_ring = Bytes(10);
  Simulation chip = make(limits);
  chip.issue(0, launch(us(2), us(10)), SimTime());
  EXPECT_EQ(chip.drain(0), us(12));
}

TEST_F(Simulated, AFullIssueQueueMakesTheHostWait) {
  SimulationLimits limits = kRoomy;
  limits.issue_queue_entries = 1;
  Simulation chip = make(limits);
  EXPECT_EQ(chip.issue(0, launch(us(4), us(1)), SimTime()).host_free, SimTime());
  EXPECT_EQ(chip.issue(0, launch(us(4), us(1)), SimTime()).host_free, SimTime())
      << "the dispatcher has taken the first";
  EXPECT_EQ(chip.issue(0, launch(us(4), us(1)), SimTime()).host_free, us(4))
      << "when it takes the second";
  EXPECT_EQ(chip.drain(0), us(3 * 4 + 1));
}

TEST_F(Simulated, AnIdleQueueStartsWhenTheHostCallsAgain) {
  Simulation chip = make(kRoomy);
  chip.issue(0, launch(us(4), us(10)), SimTime());
  EXPECT_EQ(chip.drain(0), us(14));
  chip.issue(0, launch(us(4), us(10)), us(1000));
  EXPECT_EQ(chip.drain(0), us(1014));
}

TEST_F(Simulated, AReplayLaunchesWhatWasRecordedAtTheHostsCostOfOneCommand) {
  Simulation chip = make(kRoomy);
  const auto recording = std::make_shared<const Recording>(3, launch(us(4), us(10)));
  EXPECT_EQ(chip.issue(0, Replay{recording}, SimTime()).first_program, 1U);
  EXPECT_EQ(chip.issue(0, Replay{recording}, SimTime()).first_program, 4U);
  EXPECT_EQ(chip.drain(0), us(2 * (4 + 10 + 2 * 11))) << "the second waits for all of the first";
  EXPECT_EQ(times_.size(), 6U);
}

TEST_F(Simulated, AnEmptyReplayIsNothing) {
  Simulation chip = make(kRoomy);
  chip.issue(0, Replay{std::make_shared<const Recording>()}, us(5));
  chip.issue(0, launch(us(4), us(10)), us(5));
  EXPECT_EQ(chip.drain(0), us(19));
}

class TwoQueues : public Simulated {
 protected:
  TwoQueues() {
    limits_.command_queues = 2;
    limits_.sub_devices = 2;
  }
  SimulationLimits limits_ = kRoomy;
};

TEST_F(TwoQueues, ProgramsOnDifferentSubDevicesRunAtTheSameTime) {
  Simulation chip = make(limits_);
  for (int i = 0; i < 3; ++i) {
    chip.issue(0, launch(us(1), us(10), 0), SimTime());
    chip.issue(1, launch(us(1), us(10), 1), SimTime());
  }
  EXPECT_EQ(chip.drain(0), us(1 + 10 + 2 * 11));
  EXPECT_EQ(chip.drain(1), us(1 + 10 + 2 * 11));
}

TEST_F(TwoQueues, OneQueueFeedsTwoSubDevicesThroughOneDispatcher) {
  Simulation chip = make(limits_);
  chip.issue(0, launch(us(4), us(10), 0), SimTime());
  chip.issue(0, launch(us(4), us(10), 1), SimTime());
  EXPECT_EQ(chip.drain(0), us(8 + 10));
  EXPECT_EQ(times_[1].kernel_start, us(4));
  EXPECT_EQ(times_[2].kernel_start, us(8));
}

TEST_F(TwoQueues, ProgramsOnTheSameSubDeviceTakeTurns) {
  Simulation chip = make(limits_);
  chip.issue(0, launch(us(1), us(10), 0), SimTime());
  chip.issue(1, launch(us(1), us(10), 0), SimTime());
  EXPECT_EQ(std::max(chip.drain(0), chip.drain(1)), us(1 + 10 + 11));
}

TEST_F(TwoQueues, DramIsSharedByWhatRunsAtTheSameTime) {
  Simulation chip = make(limits_);
  // Both want three quarters of it, so each goes at two thirds of its speed.
  chip.issue(0, launch(us(1), us(12), 0, 750'000), SimTime());
  chip.issue(1, launch(us(1), us(12), 1, 750'000), SimTime());
  const SimTime end = chip.drain(0);
  EXPECT_EQ(end, chip.drain(1));
  EXPECT_NEAR(end.seconds(), 1e-6 + 18e-6, 1e-9);
}

TEST_F(TwoQueues, AProgramSpeedsUpWhenTheOtherEnds) {
  Simulation chip = make(limits_);
  chip.issue(0, launch(us(1), us(12), 0, 750'000), SimTime());
  chip.issue(1, launch(us(1), us(4), 1, 750'000), SimTime());
  // The short one takes 6 us at two thirds of its speed; the long one has then done 4 of its 12.
  EXPECT_NEAR(chip.drain(1).seconds(), 7e-6, 1e-9);
  EXPECT_NEAR(chip.drain(0).seconds(), 1e-6 + 6e-6 + 8e-6, 1e-9);
}

TEST_F(TwoQueues, ProgramsThatFitTheDramTogetherDoNotSlowEachOther) {
  Simulation chip = make(limits_);
  chip.issue(0, launch(us(1), us(12), 0, 500'000), SimTime());
  chip.issue(1, launch(us(1), us(12), 1, 500'000), SimTime());
  EXPECT_EQ(chip.drain(0), us(13));
}

TEST_F(TwoQueues, AWaitHoldsAQueueUntilTheEventHasHappened) {
  Simulation chip = make(limits_);
  chip.issue(0, launch(us(1), us(10), 0), SimTime());
  chip.issue(0, RecordEvent{0}, SimTime());
  chip.issue(1, WaitEvent{0}, SimTime());
  chip.issue(1, launch(us(1), us(10), 1), SimTime());
  chip.drain(1);
  EXPECT_EQ(times_[1].kernel_end, us(11));
  EXPECT_EQ(times_[2].dispatch_start, us(11));
  // The recording dispatcher waits too, for its own program, once that is dispatched.
  EXPECT_EQ(waits_[0], std::pair(us(1), us(11)));
  EXPECT_EQ(waits_[1], std::pair(us(0), us(11)));
}

TEST_F(TwoQueues, AQueueThatOnlyWaitsEndsWithTheEvent) {
  Simulation chip = make(limits_);
  chip.issue(0, launch(us(1), us(10), 0), SimTime());
  chip.issue(0, RecordEvent{0}, SimTime());
  chip.issue(1, WaitEvent{0}, SimTime());
  EXPECT_EQ(chip.drain(1), us(11));
}

TEST_F(TwoQueues, AWaitForWhatHasHappenedCostsNothing) {
  Simulation chip = make(limits_);
  chip.issue(0, RecordEvent{7}, SimTime());
  chip.drain(0);
  chip.issue(1, WaitEvent{7}, us(3));
  chip.issue(1, launch(us(1), us(10), 1), us(3));
  EXPECT_EQ(chip.drain(1), us(14));
  EXPECT_TRUE(waits_.empty());
}

TEST_F(TwoQueues, ACircleOfWaitsIsAnErrorThatNamesItAndTheChipStaysUsable) {
  Simulation chip = make(limits_);
  chip.issue(0, WaitEvent{1}, SimTime());
  chip.issue(0, RecordEvent{0}, SimTime());
  chip.issue(1, WaitEvent{0}, SimTime());
  chip.issue(1, RecordEvent{1}, SimTime());
  const std::string message = error_of([&] { chip.drain(0); });
  EXPECT_NE(message.find("queue 0 waits for event 1, queue 1 waits for event 0"), std::string::npos)
      << message;
  chip.issue(0, launch(us(1), us(10), 0), us(50));
  EXPECT_EQ(chip.drain(0), us(61));
}

TEST_F(TwoQueues, AHostThatWouldWaitForEverIsAnError) {
  limits_.issue_queue_entries = 2;
  Simulation chip = make(limits_);
  chip.issue(0, WaitEvent{1}, SimTime());
  chip.issue(0, launch(us(1), us(1)), SimTime());
  EXPECT_THROW(chip.issue(0, launch(us(1), us(1)), SimTime()), Error);
}

TEST_F(TwoQueues, SubDevicesChangeBetweenRuns) {
  Simulation chip = make(limits_);
  chip.issue(0, launch(us(1), us(10), 1), SimTime());
  chip.drain(0);
  chip.set_sub_devices(1);
  chip.issue(0, launch(us(1), us(10), 0), us(100));
  EXPECT_EQ(chip.drain(0), us(111));
}

}  // namespace
}  // namespace howard::chip
