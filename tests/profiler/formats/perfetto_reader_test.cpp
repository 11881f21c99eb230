// SPDX-License-Identifier: Apache-2.0
#include "profiler/formats/traces/perfetto_reader.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "base/error.h"
#include "profiler/formats/traces/perfetto_trace.h"
#include "tests/error_of.h"
#include "tests/profiler/formats/log_checks.h"
#include "tests/profiler/formats/random_events.h"
#include "tests/profiler/formats/samples.h"

namespace howard::profiler {
namespace {

Log read(std::string_view bytes) {
  TextBytes source(bytes);
  return read_perfetto_trace(source, "trace.pftrace");
}

std::string failure(std::string_view bytes) {
  return error_of([&] { read(bytes); });
}

/// Holds everything about events, in an order that does not depend on theirs.
using Spans = std::vector<
    std::tuple<Track, std::string, std::string, SimTime, SimTime, std::uint64_t, std::uint32_t>>;
Spans sorted(const std::vector<TimelineEvent>& events) {
  Spans spans;
  for (const TimelineEvent& event : events) {
    spans.emplace_back(event.track, event.name, event.category, event.start, event.end,
                       event.program, event.trace);
  }
  std::ranges::sort(spans);
  return spans;
}

/// Returns the sample with times that are whole nanoseconds, as the format has them.
std::vector<TimelineEvent> whole_nanoseconds(std::vector<TimelineEvent> events) {
  const auto first = std::ranges::min_element(events, {}, &TimelineEvent::start);
  const SimTime origin = first == events.end() ? SimTime() : first->start;
  for (TimelineEvent& event : events) {
    for (SimTime* const time : {&event.start, &event.end}) {
      *time = SimTime::picoseconds((*time - origin).ps() / 1'000 * 1'000);
    }
  }
  return events;
}

TEST(PerfettoReader, WhatHowardWritesReadsBack) {
  const std::vector<TimelineEvent> events = whole_nanoseconds(sample_events());
  const std::vector<TraceProcess> processes = {{"one", events, 0}, {"t\"wo\n", events, 12}};
  const Log log = read(perfetto_trace(processes));
  const Timeline expected = timeline_of(events);
  ASSERT_EQ(log.runs.size(), 2U);
  EXPECT_EQ(log.runs[1].title, "t\"wo\n");
  const Timeline& timeline = log.runs[1].timeline;
  EXPECT_EQ(timeline.losses, 12U);
  expect_same_programs(timeline, expected);
}

TEST(PerfettoReader, EverySpanOfRandomTracesReadsBack) {
  for (std::uint32_t seed = 0; seed < 100; ++seed) {
    const std::vector<TimelineEvent> events = whole_nanoseconds(testing::random_events(seed));
    if (events.empty()) continue;
    const TraceProcess process{.name = "point", .events = events};
    const std::string bytes = perfetto_trace({&process, 1});
    TextBytes source(bytes);
    DroppedRows dropped;
    std::vector<std::string> notes;
    const ReadTrace trace = read_perfetto_events(source, "trace.pftrace", dropped, notes);
    ASSERT_EQ(dropped.count(), 0U) << seed;
    ASSERT_EQ(trace.processes.size(), 1U) << seed;
    ASSERT_EQ(sorted(trace.processes[0].events), sorted(events)) << seed;
  }
}

TEST(PerfettoReader, AFileThatBreaksOffIsReadAsFarAsItGoes) {
  const std::vector<TimelineEvent> events = sample_events();
  const TraceProcess process{.name = "point", .events = events};
  const std::string bytes = perfetto_trace({&process, 1});
  const Log log = read(bytes.substr(0, bytes.size() - 3));
  EXPECT_EQ(log.runs.size(), 1U);
  EXPECT_EQ(log.notes, std::vector<std::string>{"the trace breaks off: a packet is cut off"});
}

TEST(PerfettoReader, DamagedPacketsAreCountedAndTheOthersKept) {
  const std::vector<TimelineEvent> events = sample_events();
  const TraceProcess process{.name = "point", .events = events};
  const std::string bytes = perfetto_trace({&process, 1}) + std::string("\x0a\x02\x0b\x0c", 4);
  const Log log = read(bytes);
  EXPECT_EQ(log.runs.size(), 1U);
  ASSERT_EQ(log.dropped.count(), 1U);
  EXPECT_TRUE(describe(log.dropped.reasons()[0]).find("a packet is damaged") != std::string::npos);
}

TEST(PerfettoReader, AFileWithoutSpansIsRefused) {
  const TraceProcess process{.name = "point", .events = {}};
  EXPECT_NE(failure(perfetto_trace({&process, 1})).find("it has no spans"), std::string::npos);
  EXPECT_NE(failure("\x0a").find("a packet is cut off"), std::string::npos);
  EXPECT_NE(failure("hello").find("something else than a packet"), std::string::npos);
}

TEST(PerfettoReader, TextIsNoPerfettoTrace) {
  EXPECT_FALSE(is_perfetto_trace(""));
  EXPECT_FALSE(is_perfetto_trace("\n\x04text"));
  EXPECT_FALSE(is_perfetto_trace("\n{\"traceEvents\": []}"));
}

}  // namespace
}  // namespace howard::profiler
