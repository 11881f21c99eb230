// SPDX-License-Identifier: Apache-2.0
#include "profiler/time_account.h"

#include <gtest/gtest.h>

#include <string>

namespace howard::profiler {
namespace {

SimTime ns(std::int64_t count) { return SimTime::nanoseconds(count); }
Span span(std::int64_t start, std::int64_t end) { return {ns(start), ns(end)}; }

/// The host made each call just before, and it was dispatched for 10 ns; each kernel starts with a
/// go of 5.
ProgramRun program(Timeline& timeline, const std::string& name, std::int64_t start,
                   std::int64_t end, std::uint16_t sub_device = 0) {
  return {.number = timeline.programs.size() + 1,
          .name = timeline.names.id(name),
          .sub_device = sub_device,
          .kernel = span(start, end),
          .dispatch = span(start - 15, start - 5),
          .host_call = span(start - 30, start - 15)};
}

const WorkOfProgram kNothingKnown = [](std::uint64_t, OpRun&) {};

SimTime cost(const TimeAccount& account, const std::string& name) {
  for (const Cost& one : account.costs) {
    if (one.name == name) return one.time;
  }
  return {};
}

SimTime sum(const TimeAccount& account) {
  SimTime all;
  for (const Cost& one : account.costs) all += one.time;
  return all;
}

TEST(TimeAccount, EveryMomentHasOneCost) {
  Timeline timeline;
  timeline.programs = {program(timeline, "matmul", 100, 200)};
  timeline.programs.push_back(program(timeline, "add", 240, 300));
  timeline.activities = {{.occupation = Occupation::finish, .span = span(280, 350)}};
  const TimeAccount account = account_for(timeline, span(50, 350), kNothingKnown);
  EXPECT_EQ(sum(account), ns(300));
  EXPECT_EQ(cost(account, "matmul"), ns(100));
  EXPECT_EQ(cost(account, "add"), ns(60));
  EXPECT_EQ(cost(account, "dispatch"), ns(20));
  EXPECT_EQ(cost(account, "go latency"), ns(10));
  EXPECT_EQ(cost(account, "finish"), ns(50)) << "after the last program";
  EXPECT_EQ(cost(account, "between calls"), ns(30)) << "20 before the first, 10 before the second";
  EXPECT_EQ(cost(account, "host issuing"), ns(30)) << "15 of each";
  EXPECT_EQ(account.costs.front().name, "matmul");
  EXPECT_EQ(account.bottlenecks.all.time(), ns(300));
}

TEST(TimeAccount, TimeOfTwoProgramsBelongsToTheOneThatBegan) {
  Timeline timeline;
  timeline.programs = {program(timeline, "matmul", 100, 200)};
  timeline.programs.push_back(program(timeline, "add", 150, 260, 1));
  timeline.programs.push_back(program(timeline, "relu", 160, 190, 1));
  const TimeAccount account = account_for(timeline, span(50, 260), kNothingKnown);
  EXPECT_EQ(cost(account, "matmul"), ns(100));
  EXPECT_EQ(cost(account, "add"), ns(60));
  EXPECT_EQ(cost(account, "relu"), SimTime());
  EXPECT_EQ(sum(account), ns(210));
}

TEST(TimeAccount, AWindowWithoutProgramsIsTheHosts) {
  const TimeAccount account = account_for({}, span(10, 30), kNothingKnown);
  EXPECT_EQ(cost(account, "between calls"), ns(20));
  EXPECT_EQ(account.verdict(), Verdict::dispatch_bound);
}

TEST(TimeAccount, AHostThatNeverWaitsSetsThePaceWhateverTheKernelsFill) {
  Timeline timeline;
  timeline.programs = {program(timeline, "matmul", 100, 300)};
  EXPECT_EQ(account_for(timeline, span(60, 310), kNothingKnown).pace(), Pace::host);
  EXPECT_EQ(account_for(timeline, span(60, 310), kNothingKnown).verdict(), Verdict::dispatch_bound);
  timeline.activities = {{.occupation = Occupation::queue_full, .span = span(100, 300)}};
  const TimeAccount waiting = account_for(timeline, span(60, 310), kNothingKnown);
  EXPECT_EQ(waiting.host_working, ns(50));
  EXPECT_EQ(waiting.pace(), Pace::neither);
  EXPECT_EQ(waiting.verdict(), Verdict::unknown) << "the kernels' work is not known";
}

TEST(TimeAccount, ADispatcherThatIsAlwaysBusySetsThePace) {
  Timeline timeline;
  timeline.programs = {program(timeline, "matmul", 100, 200)};
  timeline.programs[0].dispatch = span(2, 98);
  timeline.programs[0].host_call = span(0, 1);
  timeline.programs.push_back(program(timeline, "matmul", 210, 300));
  timeline.programs[1].dispatch = span(98, 205);
  timeline.programs[1].host_call = span(1, 2);
  timeline.programs.push_back(program(timeline, "matmul", 300, 305));
  timeline.programs[2].dispatch = span(205, 299);
  timeline.programs[2].host_call = span(2, 3);
  timeline.activities = {{.occupation = Occupation::finish, .span = span(3, 306)}};
  EXPECT_EQ(account_for(timeline, span(0, 306), kNothingKnown).pace(), Pace::dispatcher);
}

}  // namespace
}  // namespace howard::profiler
