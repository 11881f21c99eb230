// SPDX-License-Identifier: Apache-2.0
#include "profiler/timeline.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "tests/profiler/random_timeline.h"

namespace howard::profiler {
namespace {

using testing::picoseconds;

TimelineEvent event(Track track, std::string_view category, std::int64_t start, std::int64_t end,
                    std::uint64_t program = 0, std::string_view name = "matmul") {
  return {.track = track,
          .name = name,
          .category = category,
          .start = SimTime::picoseconds(start),
          .end = SimTime::picoseconds(end),
          .program = program};
}

constexpr Track kHost{TrackKind::host_thread, Lane::none, 1};
constexpr Track kDispatcher{TrackKind::dispatcher, Lane::none, 1};
constexpr Track kSubDevice{TrackKind::sub_device, Lane::none, 3};
constexpr Track kQueue{TrackKind::command_queue, Lane::none, 1};
constexpr Track kCore{TrackKind::core, Lane::reader, 7};

void expect_span(const Span& span, std::int64_t start, std::int64_t end) {
  EXPECT_EQ(span.start.ps(), start);
  EXPECT_EQ(span.end.ps(), end);
}

TEST(Timeline, JoinsAProgramsKernelDispatchAndCall) {
  const std::vector<TimelineEvent> events{event(kHost, "host", 10, 20, 5),
                                          event(kSubDevice, "kernel", 40, 60, 5, "add"),
                                          event(kDispatcher, "dispatch", 20, 35, 5)};
  const Timeline timeline = timeline_of(events);
  ASSERT_EQ(timeline.programs.size(), 1U);
  const ProgramRun& run = timeline.programs.front();
  EXPECT_EQ(timeline.names.name(run.name), "add");
  EXPECT_EQ(run.number, 5U);
  EXPECT_EQ(run.queue, 1);
  EXPECT_EQ(run.sub_device, 3);
  EXPECT_EQ(run.host_thread, 1);
  expect_span(run.kernel, 40, 60);
  ASSERT_TRUE(run.dispatch && run.host_call);
  expect_span(*run.dispatch, 20, 35);
  expect_span(*run.host_call, 10, 20);
}

TEST(Timeline, GivesTheProgramsOfAReplayTheSameCall) {
  const std::vector<TimelineEvent> events{
      event(kHost, "host", 0, 1, 1),          event(kHost, "host", 2, 4, 2, "execute_trace"),
      event(kHost, "host", 5, 6, 4),          event(kSubDevice, "kernel", 10, 11, 1),
      event(kSubDevice, "kernel", 12, 13, 2), event(kSubDevice, "kernel", 14, 15, 3),
      event(kSubDevice, "kernel", 16, 17, 4)};
  const Timeline timeline = timeline_of(events);
  ASSERT_EQ(timeline.programs.size(), 4U);
  expect_span(*timeline.programs[0].host_call, 0, 1);
  expect_span(*timeline.programs[1].host_call, 2, 4);
  expect_span(*timeline.programs[2].host_call, 2, 4);
  expect_span(*timeline.programs[3].host_call, 5, 6);
}

TEST(Timeline, CountsTheReplaysOfEachTrace) {
  std::vector<TimelineEvent> events;
  const auto replay = [&](std::uint32_t trace, std::uint64_t first, std::int64_t start) {
    events.push_back(event(kHost, "host", start, start + 1, first, "execute_trace"));
    events.back().trace = trace;
    for (const std::uint64_t program : {first, first + 1}) {
      events.push_back(event(kSubDevice, "kernel", start + 2, start + 3, program));
    }
  };
  replay(4, 1, 0);
  replay(9, 3, 10);
  replay(4, 5, 20);
  const Timeline timeline = timeline_of(events);
  ASSERT_EQ(timeline.programs.size(), 6U);
  const auto expect = [&](std::size_t i, std::uint32_t trace, std::uint32_t replayed) {
    EXPECT_EQ(timeline.programs[i].trace, trace) << i;
    EXPECT_EQ(timeline.programs[i].replay, replayed) << i;
  };
  for (const std::size_t i : {0U, 1U}) expect(i, 4, 1);
  for (const std::size_t i : {2U, 3U}) expect(i, 9, 1);
  for (const std::size_t i : {4U, 5U}) expect(i, 4, 2);
}

TEST(Timeline, LeavesOutWhatWasNotRecorded) {
  const std::vector<TimelineEvent> events{event(kHost, "host", 0, 1, 9),
                                          event(kDispatcher, "dispatch", 2, 3, 9),
                                          event(kSubDevice, "kernel", 10, 11, 8)};
  const Timeline timeline = timeline_of(events, 12);
  ASSERT_EQ(timeline.programs.size(), 1U);
  EXPECT_FALSE(timeline.programs[0].host_call);
  EXPECT_FALSE(timeline.programs[0].dispatch);
  EXPECT_EQ(timeline.losses, 12U);
}

TEST(Timeline, TakesTheQueueOfADeviceWithoutSubDevicesFromItsTrack) {
  const std::vector<TimelineEvent> events{event(kHost, "host", 0, 30, 1),
                                          event(kQueue, "kernel", 10, 20, 1)};
  const Timeline timeline = timeline_of(events);
  ASSERT_EQ(timeline.programs.size(), 1U);
  EXPECT_EQ(timeline.programs[0].queue, 1);
  EXPECT_EQ(timeline.programs[0].sub_device, 0);
}

TEST(Timeline, KeepsWhatHostDispatcherAndCoresDidBesidesPrograms) {
  const std::vector<TimelineEvent> events{
      event(kHost, "finish", 0, 1),        event(kHost, "transfer", 1, 2),
      event(kHost, "queue full", 2, 3),    event(kHost, "profiler", 3, 4),
      event(kSubDevice, "profiler", 4, 5), event(kDispatcher, "event wait", 5, 6),
      event(kHost, "host", 6, 7),          event(kHost, "capture", 7, 8),
      event(kCore, "kernel", 8, 9, 1),     event(kCore, "profiler", 9, 10),
      event(kDispatcher, "finish", 10, 11)};
  const Timeline timeline = timeline_of(events);
  EXPECT_TRUE(timeline.programs.empty());
  std::vector<std::pair<Occupation, TrackKind>> found;
  for (const Activity& activity : timeline.activities) {
    EXPECT_EQ(activity.span.start.ps(), static_cast<std::int64_t>(found.size()));
    EXPECT_EQ(activity.index, activity.place == TrackKind::sub_device ? 3 : 1);
    found.emplace_back(activity.occupation, activity.place);
  }
  const std::vector<std::pair<Occupation, TrackKind>> expected{
      {Occupation::finish, TrackKind::host_thread},
      {Occupation::transfer, TrackKind::host_thread},
      {Occupation::queue_full, TrackKind::host_thread},
      {Occupation::profiler, TrackKind::host_thread},
      {Occupation::profiler, TrackKind::sub_device},
      {Occupation::event_wait, TrackKind::dispatcher}};
  EXPECT_EQ(found, expected);
}

TEST(TimelineDeathTest, StopsAtEventsThatCanNotHaveHappened) {
  EXPECT_DEATH(timeline_of(std::vector{event(kSubDevice, "kernel", 10, 9, 1)}),
               "can have happened");
  EXPECT_DEATH(
      timeline_of(std::vector{event(kHost, "finish", 0, 10), event(kHost, "transfer", 5, 15)}),
      "can have happened");
}

Defect only_defect(const ProgramRun& program) {
  Timeline timeline;
  timeline.programs.push_back({.kernel = picoseconds(0, 1)});
  timeline.programs.push_back(program);
  const std::vector<TimelineDefect> defects = defects_of(timeline);
  EXPECT_EQ(defects.size(), 1U);
  EXPECT_EQ(defects.at(0).index, 1U);
  EXPECT_FALSE(defects.at(0).of_activity);
  return defects.at(0).defect;
}

TEST(TimelineDefects, AreTimesThatRunBackwards) {
  EXPECT_EQ(only_defect({.kernel = picoseconds(5, 4)}), Defect::negative_duration);
  EXPECT_EQ(only_defect({.kernel = picoseconds(5, 6), .dispatch = picoseconds(4, 3)}),
            Defect::negative_duration);
  EXPECT_EQ(only_defect({.kernel = picoseconds(5, 6), .host_call = picoseconds(4, 3)}),
            Defect::negative_duration);
}

TEST(TimelineDefects, AreEffectsBeforeTheirCauses) {
  EXPECT_EQ(only_defect({.kernel = picoseconds(9, 10),
                         .dispatch = picoseconds(3, 4),
                         .host_call = picoseconds(4, 5)}),
            Defect::dispatched_too_soon);
  EXPECT_EQ(only_defect({.kernel = picoseconds(3, 10), .dispatch = picoseconds(3, 4)}),
            Defect::ran_too_soon);
  EXPECT_EQ(only_defect({.kernel = picoseconds(3, 10), .host_call = picoseconds(4, 5)}),
            Defect::ran_too_soon);
}

TEST(TimelineDefects, AreNotTheCallThatReturnsAfterItsKernelRan) {
  Timeline timeline;
  timeline.programs.push_back(
      {.kernel = picoseconds(3, 4), .dispatch = picoseconds(2, 3), .host_call = picoseconds(2, 9)});
  EXPECT_TRUE(defects_of(timeline).empty());
}

/// Compares every two activities of a place with each other.
bool any_partial_overlap(const std::vector<Activity>& activities) {
  for (const Activity& a : activities) {
    for (const Activity& b : activities) {
      const bool same_place = a.place == b.place && a.index == b.index &&
                              (a.place == TrackKind::host_thread || a.device == b.device);
      if (same_place && a.span.start < b.span.start && b.span.start < a.span.end &&
          a.span.end < b.span.end) {
        return true;
      }
    }
  }
  return false;
}

TEST(TimelineDefects, AreActivitiesThatOverlapInPart) {
  std::mt19937 random(1);
  int with_overlap = 0;
  for (int round = 0; round < 500; ++round) {
    Timeline timeline;
    for (int i = 0; i < 4; ++i) {
      const auto start = static_cast<std::int64_t>(random() % 20);
      const auto length = static_cast<std::int64_t>(random() % 8);
      timeline.activities.push_back(
          {.place = random() % 2 == 0 ? TrackKind::host_thread : TrackKind::dispatcher,
           .device = static_cast<std::uint16_t>(random() % 2),
           .index = 0,
           .span = picoseconds(start, start + length)});
    }
    const bool expected = any_partial_overlap(timeline.activities);
    if (expected) ++with_overlap;
    EXPECT_EQ(!defects_of(timeline).empty(), expected) << round;
  }
  EXPECT_GT(with_overlap, 100);
  EXPECT_LT(with_overlap, 400);
}

TEST(TimelineDefects, RemovedOnesLeaveATimelineWithout) {
  std::mt19937 random(2);
  for (int round = 0; round < 200; ++round) {
    Timeline timeline;
    for (int i = 0; i < 10; ++i) {
      const auto start = static_cast<std::int64_t>(random() % 30);
      timeline.activities.push_back(
          {.index = 0,
           .span = picoseconds(start, start - 2 + static_cast<std::int64_t>(random() % 12))});
    }
    std::vector<TimelineDefect> defects = defects_of(timeline);
    for (auto defect = defects.rbegin(); defect != defects.rend(); ++defect) {
      timeline.activities.erase(timeline.activities.begin() +
                                static_cast<std::ptrdiff_t>(defect->index));
    }
    EXPECT_TRUE(defects_of(timeline).empty()) << round;
  }
}

TEST(NameTable, NumbersEachNameOnceAndKeepsItWhenMoved) {
  NameTable names;
  const NameId matmul = names.id("matmul");
  EXPECT_NE(matmul, 0U);
  EXPECT_EQ(names.id(std::string("mat") + "mul"), matmul);
  for (int i = 0; i < 100; ++i)
    names.id("a name that is long enough to be moved " + std::to_string(i));
  NameTable moved = std::move(names);
  EXPECT_EQ(moved.name(matmul), "matmul");
  EXPECT_EQ(moved.id("matmul"), matmul);
  EXPECT_EQ(moved.name(0), "");
  EXPECT_EQ(moved.size(), 102U);
}

}  // namespace
}  // namespace howard::profiler
