// SPDX-License-Identifier: Apache-2.0
#include "profiler/formats/traces/chrome_trace_reader.h"

#include <gtest/gtest.h>

#include <algorithm>

#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "profiler/formats/traces/chrome_trace.h"
#include "tests/error_of.h"
#include "tests/profiler/formats/log_checks.h"
#include "tests/profiler/formats/random_events.h"
#include "tests/profiler/formats/samples.h"

namespace howard::profiler {
namespace {

Log read(std::string_view text) {
  TextBytes source(text);
  return read_chrome_trace(source, "trace.json");
}

std::string failure(std::string_view text) {
  return error_of([&] { read(text); });
}

/// Returns `text` after it was read and written again.
std::string rewritten(const std::string& text) {
  TextBytes source(text);
  DroppedRows dropped;
  std::vector<std::string> notes;
  const ReadTrace trace = read_chrome_events(source, "trace.json", dropped, notes);
  EXPECT_EQ(dropped.count(), 0U);
  EXPECT_TRUE(notes.empty());
  std::vector<TraceProcess> processes;
  for (const ReadProcess& process : trace.processes) {
    EXPECT_TRUE(process.threads.empty());
    processes.push_back({process.name, process.events, process.losses});
  }
  return chrome_trace(processes).json;
}

TEST(ChromeTraceReader, WhatHowardWritesReadsBackToThePicosecond) {
  const std::vector<TimelineEvent> events = sample_events();
  const std::vector<TraceProcess> processes = {{"one", events, 0}, {"t\"wo\n", events, 12}};
  const std::string text = chrome_trace(processes).json;
  EXPECT_EQ(rewritten(text), text);
}

TEST(ChromeTraceReader, RandomTracesReadBack) {
  for (std::uint32_t seed = 0; seed < 100; ++seed) {
    const std::vector<TimelineEvent> events = testing::random_events(seed);
    const TraceProcess process{.name = "point", .events = events};
    const std::string text = chrome_trace({&process, 1}).json;
    ASSERT_EQ(rewritten(text), text) << seed;
  }
}

/// Returns the events from 0 on, as a trace has them.
std::vector<TimelineEvent> from_zero(std::vector<TimelineEvent> events) {
  const SimTime origin = std::ranges::min_element(events, {}, &TimelineEvent::start)->start;
  for (TimelineEvent& event : events) {
    event.start = event.start - origin;
    event.end = event.end - origin;
  }
  return events;
}

TEST(ChromeTraceReader, AHowardTraceGivesTheTimelineItWasWrittenFrom) {
  const std::vector<TimelineEvent> events = from_zero(sample_events());
  const TraceProcess process{.name = "point", .events = events, .losses = 3};
  const Log log = read(chrome_trace({&process, 1}).json);
  const Timeline expected = timeline_of(events);
  ASSERT_EQ(log.runs.size(), 1U);
  EXPECT_EQ(log.runs[0].title, "point");
  const Timeline& timeline = log.runs[0].timeline;
  EXPECT_EQ(timeline.losses, 3U);
  expect_same_programs(timeline, expected);
}

TEST(ChromeTraceReader, ThreadsOfOtherProgramsAreLanesOfTheirOuterSpans) {
  const Log log = read(kForeignTrace);
  ASSERT_EQ(log.runs.size(), 1U);
  const LoggedRun& run = log.runs[0];
  EXPECT_EQ(run.title, "python");
  EXPECT_EQ(run.lanes, (std::vector<std::string>{"thread 1", "thread 2"}));
  ASSERT_EQ(run.timeline.programs.size(), 2U);
  EXPECT_EQ(run.timeline.names.name(run.timeline.programs[0].name), "outer");
  EXPECT_EQ(run.timeline.programs[0].kernel.end, SimTime::picoseconds(110'500'000));
  EXPECT_EQ(run.timeline.programs[1].sub_device, 1);
  EXPECT_EQ(run.timeline.programs[1].kernel.start, SimTime::picoseconds(1));
  EXPECT_EQ(run.timeline.programs[1].kernel.end, SimTime::picoseconds(2'500'000));
}

TEST(ChromeTraceReader, KernelsOfOtherProgramsAreTakenWhereThereAreSome) {
  const Log log = read(R"({"traceEvents":[
      {"ph":"X","pid":1,"tid":1,"name":"call","cat":"cpu","ts":0,"dur":9},
      {"ph":"X","pid":1,"tid":7,"name":"gemm","cat":"kernel","ts":3,"dur":2}]})");
  ASSERT_EQ(log.runs.size(), 1U);
  ASSERT_EQ(log.runs[0].timeline.programs.size(), 1U);
  EXPECT_EQ(log.runs[0].timeline.names.name(log.runs[0].timeline.programs[0].name), "gemm");
}

TEST(ChromeTraceReader, BadEventsAreCountedAndTheOthersKept) {
  const Log log = read(R"([
      {"ph":"X","pid":1,"tid":1,"name":"good","ts":0,"dur":9},
      {"ph":"X","pid":1,"tid":1,"name":"a","ts":20,"dur":-1},
      {"ph":"X","pid":1,"tid":1,"name":"b","ts":"x","dur":1},
      {"ph":"X","pid":1,"tid":1,"name":"c","ts":30},
      {"ph":"X","pid":1,"tid":1,"name":"d","ts":1e300,"dur":1},
      {"ph":"E","pid":1,"tid":1,"ts":40},
      {"ph":"B","pid":1,"tid":1,"name":"e","ts":50}])");
  EXPECT_EQ(log.runs.at(0).timeline.programs.size(), 1U);
  EXPECT_EQ(reasons(log),
            (std::vector<std::string>{
                "1 row: a duration is negative: 'event 2'",
                "2 rows: a time is not a number of microseconds in range: 'event 3'",
                "1 row: a complete event has no dur: 'event 4'",
                "1 row: an end without a begin: 'event 6'", "1 row: a begin without an end"}));
}

TEST(ChromeTraceReader, ATruncatedFileKeepsItsEvents) {
  const std::string text = kForeignTrace.substr(0, kForeignTrace.find("{\"ph\":\"C\"") + 20);
  const Log log = read(text);
  EXPECT_EQ(log.runs.at(0).timeline.programs.size(), 1U);
  ASSERT_EQ(log.notes.size(), 1U);
  EXPECT_NE(log.notes[0].find("line 6"), std::string::npos) << log.notes[0];
}

TEST(ChromeTraceReader, WhatCanNotHaveHappenedIsRemovedAndCounted) {
  // This is a kernel that starts before its dispatch ends, in the words of a Howard trace.
  std::vector<TimelineEvent> events = sample_events();
  const TraceProcess process{.name = "point", .events = events};
  std::string text = chrome_trace({&process, 1}).json;
  const std::string dispatch = "\"ts\":36.000000,\"dur\":1.000000";
  text.replace(text.find(dispatch), dispatch.size(), "\"ts\":36.000000,\"dur\":5.000000");
  const Log log = read(text);
  EXPECT_EQ(log.runs.at(0).timeline.programs.size(), 2U);
  EXPECT_EQ(log.runs[0].timeline.losses, 1U);
  EXPECT_EQ(reasons(log), std::vector<std::string>{"1 row: it ran before it was dispatched"});
}

TEST(ChromeTraceReader, WhatIsNoTraceIsAnErrorWithItsPlace) {
  EXPECT_NE(failure("{\"a\": }").find("line 1, column 7"), std::string::npos);
  EXPECT_NE(failure("{\"traceEvents\": []}").find("it has no spans"), std::string::npos);
  EXPECT_NE(failure("[1, \"a\", [[]]]").find("it has no spans"), std::string::npos);
}

TEST(ChromeTraceReader, DeepNestingIsNoProblem) {
  EXPECT_NE(failure(std::string(1'000'000, '[')).find("cannot read"), std::string::npos);
}

}  // namespace
}  // namespace howard::profiler
