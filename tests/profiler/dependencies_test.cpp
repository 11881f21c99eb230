// SPDX-License-Identifier: Apache-2.0
#include "profiler/dependencies.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "profiler/critical_path.h"
#include "tests/profiler/random_timeline.h"

namespace howard::profiler {
namespace {

using testing::picoseconds;

using Pairs = std::vector<std::pair<std::uint32_t, std::uint32_t>>;

Pairs pairs_of(const Timeline& timeline) {
  Pairs pairs;
  for (const auto& [before, after] : dependencies_of(timeline)) pairs.emplace_back(before, after);
  return pairs;
}

/// Returns a program on queue and sub-device `queue`, called by host thread 0.
ProgramRun program(std::uint16_t queue, std::int64_t call, std::int64_t dispatch,
                   std::int64_t start, std::int64_t end) {
  return {.queue = queue,
          .sub_device = queue,
          .kernel = picoseconds(start, end),
          .dispatch = picoseconds(dispatch, start),
          .host_call = picoseconds(call, call + 1)};
}

/// Queue 1's second program waits for queue 0's.
Timeline with_event() {
  Timeline timeline;
  timeline.programs = {program(0, 0, 2, 5, 50), program(1, 3, 4, 6, 20), program(1, 7, 51, 53, 60)};
  timeline.activities = {{.occupation = Occupation::event_wait,
                          .place = TrackKind::dispatcher,
                          .index = 1,
                          .span = picoseconds(20, 50)}};
  return timeline;
}

TEST(Dependencies, AnEventWaitEndsWithTheProgramItWaitedFor) {
  EXPECT_EQ(pairs_of(with_event()), (Pairs{{0, 2}}));
}

TEST(Dependencies, GiveTheProgramThatNobodyWaitedForItsSlack) {
  const Timeline timeline = with_event();
  const CriticalPath path = critical_path(timeline, dependencies_of(timeline));
  EXPECT_EQ(path.programs, (std::vector<std::uint32_t>{0, 2}));
  EXPECT_EQ(path.slack[1], SimTime::picoseconds(30));
}

TEST(Dependencies, WhatIsCalledAfterAFinishWaitedForWhatEndedLast) {
  Timeline timeline;
  timeline.programs = {program(0, 0, 2, 5, 50), program(0, 60, 61, 63, 70),
                       program(0, 60, 63, 70, 80)};  // two programs of one replay
  timeline.activities = {{.occupation = Occupation::finish, .span = picoseconds(10, 55)},
                         {.occupation = Occupation::finish, .span = picoseconds(82, 90)},
                         {.occupation = Occupation::queue_full, .span = picoseconds(57, 58)}};
  EXPECT_EQ(pairs_of(timeline), (Pairs{{0, 1}}));
}

TEST(Dependencies, OtherThreadsAndQueuesDidNotWait) {
  Timeline timeline = with_event();
  timeline.activities[0].index = 2;
  timeline.activities.push_back(
      {.occupation = Occupation::transfer, .index = 4, .span = picoseconds(1, 6)});
  EXPECT_EQ(pairs_of(timeline), Pairs{});
  EXPECT_EQ(pairs_of(Timeline()), Pairs{});
}

TEST(Dependencies, OfAnyTimelineHaveACriticalPath) {
  for (std::uint32_t seed = 0; seed < 300; ++seed) {
    const Timeline timeline = testing::random_timeline(seed);
    const std::vector<Dependency> found = dependencies_of(timeline);
    const CriticalPath path = critical_path(timeline, found);  // stops at one that cannot be
    for (const SimTime slack : path.slack) ASSERT_GE(slack, SimTime()) << seed;
  }
}

}  // namespace
}  // namespace howard::profiler
