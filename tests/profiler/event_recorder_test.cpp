// SPDX-License-Identifier: Apache-2.0
#include "profiler/event_recorder.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <set>
#include <thread>

namespace howard::profiler {
namespace {

TimelineEvent event_of_program(std::uint64_t program) {
  return {.track = {TrackKind::command_queue, Lane::none, 0},
          .name = "matmul",
          .category = "kernel",
          .start = SimTime::nanoseconds(1),
          .end = SimTime::nanoseconds(2),
          .program = program};
}

TEST(EventRecorder, KeepsEventsInTheOrderOfArrival) {
  EventRecorder recorder(4);
  for (std::uint64_t program = 1; program <= 3; ++program) {
    recorder.record(event_of_program(program));
  }
  ASSERT_EQ(recorder.events().size(), 3U);
  for (std::uint64_t i = 0; i < 3; ++i) EXPECT_EQ(recorder.events()[i].program, i + 1);
  EXPECT_EQ(recorder.events()[0].end, SimTime::nanoseconds(2));
  EXPECT_EQ(recorder.losses(), 0U);
}

TEST(EventRecorder, KeepsTheFirstEventsAndCountsTheOthersAsLosses) {
  EventRecorder recorder(2);
  for (std::uint64_t program = 1; program <= 5; ++program) {
    recorder.record(event_of_program(program));
  }
  ASSERT_EQ(recorder.events().size(), 2U);
  EXPECT_EQ(recorder.events()[1].program, 2U);
  EXPECT_EQ(recorder.losses(), 3U);
}

TEST(EventRecorder, WithoutCapacityLosesEverything) {
  EventRecorder recorder(0);
  recorder.record(event_of_program(1));
  EXPECT_TRUE(recorder.events().empty());
  EXPECT_EQ(recorder.losses(), 1U);
}

TEST(EventRecorder, ClearForgetsEventsAndLosses) {
  EventRecorder recorder(1);
  recorder.record(event_of_program(1));
  recorder.record(event_of_program(2));
  recorder.clear();
  EXPECT_TRUE(recorder.events().empty());
  EXPECT_EQ(recorder.losses(), 0U);
  recorder.record(event_of_program(3));
  EXPECT_EQ(recorder.events().front().program, 3U);
}

TEST(EventRecorder, KeepsEveryEventOfTwoThreads) {
  constexpr std::uint64_t kPerThread = 20'000;
  EventRecorder recorder(2 * kPerThread);
  const auto record_from = [&recorder](std::uint64_t first) {
    for (std::uint64_t i = 0; i < kPerThread; ++i) recorder.record(event_of_program(first + i));
  };
  std::thread other(record_from, kPerThread);
  record_from(0);
  other.join();
  std::set<std::uint64_t> programs;
  for (const TimelineEvent& event : recorder.events()) programs.insert(event.program);
  EXPECT_EQ(programs.size(), 2 * kPerThread);
  EXPECT_EQ(recorder.losses(), 0U);
}

}  // namespace
}  // namespace howard::profiler
