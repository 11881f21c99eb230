// SPDX-License-Identifier: Apache-2.0
#include "profiler/critical_path.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <tuple>
#include <vector>

#include "tests/profiler/random_timeline.h"

namespace howard::profiler {
namespace {

using testing::picoseconds;

ProgramRun program(std::uint16_t sub_device, std::int64_t start, std::int64_t end) {
  return {.sub_device = sub_device, .kernel = picoseconds(start, end)};
}

Timeline timeline_with(const std::vector<ProgramRun>& programs) {
  Timeline timeline;
  timeline.programs = programs;
  return timeline;
}

std::vector<std::int64_t> slack_of(const CriticalPath& path) {
  std::vector<std::int64_t> slack;
  for (const SimTime time : path.slack) slack.push_back(time.ps());
  return slack;
}

TEST(CriticalPath, OfOneSubDeviceIsEveryProgram) {
  const Timeline timeline =
      timeline_with({program(0, 30, 50), program(0, 0, 10), program(0, 12, 20)});
  const CriticalPath path = critical_path(timeline, {});
  EXPECT_EQ(path.programs, (std::vector<std::uint32_t>{1, 2, 0}));
  EXPECT_EQ(path.busy.ps(), 38);
  EXPECT_EQ(path.idle.ps(), 12);
  EXPECT_EQ(slack_of(path), (std::vector<std::int64_t>{0, 0, 0}));
}

TEST(CriticalPath, CrossesSubDevicesWhereAnEventMadeItWait) {
  // 0 and 1 run beside each other; 2 waits for both, on the sub-device of 0.
  const Timeline timeline =
      timeline_with({program(0, 0, 10), program(1, 0, 40), program(0, 45, 60), program(1, 41, 50)});
  const std::vector<Dependency> events{{.before = 1, .after = 2}};
  const CriticalPath path = critical_path(timeline, events);
  EXPECT_EQ(path.programs, (std::vector<std::uint32_t>{1, 2}));
  EXPECT_EQ(path.busy.ps(), 55);
  EXPECT_EQ(path.idle.ps(), 5);
  EXPECT_EQ(slack_of(path), (std::vector<std::int64_t>{30, 0, 0, 10}));
}

TEST(CriticalPath, OfNothingIsEmpty) {
  const CriticalPath path = critical_path(Timeline(), {});
  EXPECT_TRUE(path.programs.empty());
  EXPECT_TRUE(path.slack.empty());
}

/// Returns when the run ends if `delayed` takes longer by `delay`. Each program starts as late
/// after its last dependency as it did in the recording.
std::int64_t end_with_delay(const Timeline& timeline, const std::vector<Dependency>& events,
                            std::size_t delayed, std::int64_t delay) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < timeline.programs.size(); ++i) order.push_back(i);
  const auto kernel = [&](std::size_t i) { return timeline.programs[i].kernel; };
  std::ranges::stable_sort(
      order, {}, [&](std::size_t i) { return std::tuple(kernel(i).start, kernel(i).end); });
  std::map<std::pair<int, int>, std::size_t> last;
  std::vector<std::int64_t> ends(order.size());
  std::int64_t end = 0;
  for (const std::size_t i : order) {
    const ProgramRun& run = timeline.programs[i];
    std::vector<std::size_t> before;
    for (const Dependency& event : events) {
      if (event.after == i) before.push_back(event.before);
    }
    if (last.contains({run.device, run.sub_device})) {
      before.push_back(last[{run.device, run.sub_device}]);
    }
    last[{run.device, run.sub_device}] = i;
    std::int64_t start = run.kernel.start.ps();
    if (!before.empty()) {
      std::int64_t recorded = kernel(before[0]).end.ps();
      std::int64_t now = ends[before[0]];
      for (const std::size_t other : before) {
        recorded = std::max(recorded, kernel(other).end.ps());
        now = std::max(now, ends[other]);
      }
      start += now - recorded;
    }
    ends[i] = start + run.kernel.duration().ps() + (i == delayed ? delay : 0);
    end = std::max(end, ends[i]);
  }
  return end;
}

TEST(CriticalPath, HasExactlyTheSlackThatADelayShows) {
  std::mt19937 random(1);
  for (std::uint32_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(seed);
    const Timeline timeline = testing::random_timeline(seed);
    const auto count = static_cast<std::uint32_t>(timeline.programs.size());
    std::vector<Dependency> events;
    for (int i = 0; i < 4; ++i) {
      const Dependency event{static_cast<std::uint32_t>(random() % count),
                             static_cast<std::uint32_t>(random() % count)};
      const Span& before = timeline.programs[event.before].kernel;
      const Span& after = timeline.programs[event.after].kernel;
      if (before.end <= after.start && before.start < after.start) events.push_back(event);
    }
    const CriticalPath path = critical_path(timeline, events);
    const std::int64_t end = end_with_delay(timeline, events, 0, 0);
    for (std::size_t i = 0; i < count; ++i) {
      const std::int64_t slack = path.slack[i].ps();
      EXPECT_EQ(end_with_delay(timeline, events, i, slack), end) << i;
      EXPECT_EQ(end_with_delay(timeline, events, i, slack + 1), end + 1) << i;
    }
    for (const std::uint32_t i : path.programs) EXPECT_EQ(path.slack[i], SimTime());
    const Span first = timeline.programs[path.programs.front()].kernel;
    EXPECT_EQ((path.busy + path.idle + first.start).ps(), end);
    EXPECT_GE(path.busy, SimTime());
    EXPECT_GE(path.idle, SimTime());
  }
}

TEST(CriticalPathDeathTest, StopsAtADependencyOnWhatStartedLater) {
  const Timeline timeline = timeline_with({program(0, 0, 10), program(1, 5, 15)});
  const std::vector<Dependency> events{{.before = 1, .after = 0}};
  EXPECT_DEATH(critical_path(timeline, events), "starts after");
}

}  // namespace
}  // namespace howard::profiler
