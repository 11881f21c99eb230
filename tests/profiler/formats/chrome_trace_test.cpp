// SPDX-License-Identifier: Apache-2.0
#include "profiler/formats/traces/chrome_trace.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace howard::profiler {
namespace {

using nlohmann::json;
using Thread = std::pair<int, int>;  // pid, tid

TimelineEvent span(Track track, std::int64_t start_ps, std::int64_t end_ps,
                   std::string_view name = "matmul") {
  return {.track = track,
          .name = name,
          .category = "kernel",
          .start = SimTime::picoseconds(start_ps),
          .end = SimTime::picoseconds(end_ps),
          .program = 7};
}

constexpr Track kHost{TrackKind::host_thread, Lane::none, 0};
constexpr Track kQueue{TrackKind::command_queue, Lane::none, 1};
constexpr Track kDispatcher{TrackKind::dispatcher, Lane::none, 0};

Track core(int x, int y, Lane lane) { return {TrackKind::core, lane, core_index(x, y)}; }

json trace_of(const std::vector<TimelineEvent>& events, std::uint64_t losses = 0) {
  const TraceProcess process{.name = "point", .events = events, .losses = losses};
  return json::parse(chrome_trace({&process, 1}).json);
}

std::int64_t picoseconds(const json& microseconds) {
  return std::llround(microseconds.get<double>() * 1e6);
}

/// Returns the names of a process's threads in the order in which a viewer shows them.
std::vector<std::string> threads_as_shown(const json& trace) {
  std::map<Thread, std::string> names;
  std::map<int, std::string> by_sort_index;
  for (const json& event : trace.at("traceEvents")) {
    if (event.at("name") == "thread_name") {
      names[{event.at("pid"), event.at("tid")}] = event.at("args").at("name");
    }
  }
  for (const json& event : trace.at("traceEvents")) {
    if (event.at("name") == "thread_sort_index") {
      by_sort_index[event.at("args").at("sort_index")] = names[{event.at("pid"), event.at("tid")}];
    }
  }
  std::vector<std::string> shown;
  for (const auto& [index, name] : by_sort_index) shown.push_back(name);
  return shown;
}

/// Expects that two spans of a thread are apart, or that one lies within the other. It is
/// quadratic, and independent of the exporter's own check.
void expect_no_partial_overlap(const std::vector<std::pair<std::int64_t, std::int64_t>>& spans) {
  for (const auto& [a_start, a_end] : spans) {
    for (const auto& [b_start, b_end] : spans) {
      const bool partial = a_start < b_start && b_start < a_end && a_end < b_end;
      EXPECT_FALSE(partial) << a_start << ".." << a_end << " and " << b_start << ".." << b_end;
    }
  }
}

/// Checks the rules of the format on which viewers rely.
void expect_valid(const json& trace) {
  std::map<Thread, std::vector<std::pair<std::int64_t, std::int64_t>>> spans;
  std::set<Thread> named;
  std::set<Thread> sorted;
  std::set<int> named_processes;
  for (const json& event : trace.at("traceEvents")) {
    const Thread thread{event.at("pid"), event.at("tid")};
    if (event.at("ph") == "M") {
      const std::string name = event.at("name");
      EXPECT_TRUE(event.at("args").is_object());
      if (name == "process_name") named_processes.insert(thread.first);
      if (name == "thread_name") named.insert(thread);
      if (name == "thread_sort_index") sorted.insert(thread);
      continue;
    }
    if (event.at("ph") == "C") {
      EXPECT_TRUE(event.at("args").at("commands").is_number());
      continue;
    }
    ASSERT_EQ(event.at("ph"), "X");
    EXPECT_TRUE(event.at("name").is_string());
    EXPECT_TRUE(event.at("cat").is_string());
    EXPECT_TRUE(event.at("ts").is_number());
    EXPECT_GE(event.at("dur").get<double>(), 0);
    const std::int64_t start = picoseconds(event.at("ts"));
    spans[thread].emplace_back(start, start + picoseconds(event.at("dur")));
  }
  for (const auto& [thread, list] : spans) {
    EXPECT_TRUE(named.contains(thread)) << thread.second;
    EXPECT_TRUE(sorted.contains(thread)) << thread.second;
    EXPECT_TRUE(named_processes.contains(thread.first)) << thread.first;
    expect_no_partial_overlap(list);
  }
}

TEST(ChromeTrace, FollowsTheRulesOfTheFormat) {
  const std::vector<TimelineEvent> events{
      span(kHost, 0, 900),
      span(kHost, 100, 200, "nested"),
      span(kQueue, 50, 60),
      span(kQueue, 60, 60),
      span(kQueue, 60, 90),
      span(kDispatcher, 1, 2),
      span(core(0, 0, Lane::reader), 5, 6),
  };
  const json trace = trace_of(events);
  expect_valid(trace);
  EXPECT_EQ(std::ranges::count_if(trace.at("traceEvents"),
                                  [](const json& event) { return event.at("ph") == "X"; }),
            7);
}

TEST(ChromeTrace, KeepsEveryPicosecond) {
  const std::vector<TimelineEvent> events{
      span(kHost, 0, 1), span(kHost, 12'345'678, 12'345'679),
      span(kHost, 1'000'000'000'001, 1'000'000'000'001 + 999'999)};  // one second and a picosecond
  const TraceProcess process{.name = "point", .events = events};
  const std::string text = chrome_trace({&process, 1}).json;
  EXPECT_NE(text.find("\"ts\":12.345678,\"dur\":0.000001,"), std::string::npos) << text;
  std::vector<std::pair<std::int64_t, std::int64_t>> read;
  const json trace = json::parse(text);
  for (const json& event : trace.at("traceEvents")) {
    if (event.at("ph") != "X") continue;
    const std::int64_t start = picoseconds(event.at("ts"));
    read.emplace_back(start, start + picoseconds(event.at("dur")));
  }
  ASSERT_EQ(read.size(), events.size());
  for (std::size_t i = 0; i < events.size(); ++i) {
    EXPECT_EQ(read[i].first, events[i].start.ps());
    EXPECT_EQ(read[i].second, events[i].end.ps());
  }
}

TEST(ChromeTrace, EveryPointBeginsAtZero) {
  const std::vector<TimelineEvent> early{span(kQueue, 7'000'000, 9'000'000),
                                         span(kHost, -1'500'000, -500'000)};
  const std::vector<TimelineEvent> late{span(kHost, 9'000'000'000, 9'000'000'001)};
  const std::vector<TraceProcess> processes{{.name = "early", .events = early},
                                            {.name = "late", .events = late}};
  std::map<int, std::int64_t> first;
  const json trace = json::parse(chrome_trace(processes).json);
  for (const json& event : trace.at("traceEvents")) {
    if (event.at("ph") != "X") continue;
    const std::int64_t start = picoseconds(event.at("ts"));
    const auto known = first.try_emplace(event.at("pid"), start).first;
    known->second = std::min(known->second, start);
  }
  EXPECT_EQ(first, (std::map<int, std::int64_t>{{1, 0}, {2, 0}}));
}

/// Returns a host that calls twice, a dispatcher, a sub-device and two cores.
std::vector<TimelineEvent> two_launches() {
  std::vector<TimelineEvent> events;
  for (std::uint64_t program = 1; program <= 2; ++program) {
    const std::int64_t zero = static_cast<std::int64_t>(program) * 10'000'000;
    const auto add = [&](Track track, std::string_view category, std::int64_t start,
                         std::int64_t end) {
      TimelineEvent event = span(track, zero + start, zero + end);
      event.category = category;
      event.program = program;
      events.push_back(event);
    };
    add(kHost, "host", 0, 1'000'000);
    add(kDispatcher, "dispatch", 2'000'000, 3'000'000);
    add({TrackKind::sub_device, Lane::none, 0}, "kernel", 4'000'000, 8'000'000);
    add(core(1, 2, Lane::compute), "kernel", 4'000'000, 7'000'000);
    add(core(3, 5, Lane::compute), "kernel", 4'000'000, 7'000'000);
  }
  return events;
}

TEST(ChromeTrace, AKernelSaysWhatItComputedWhereAndWhatTheChipHadWaitedFor) {
  const ProgramFacts facts{.operation = "Matmul",
                           .inputs = {{.dimensions = {1, 1, 64, 32}, .dtype = "bfloat16"},
                                      {.dimensions = {1, 2, 32, 96}, .dtype = "float32"}},
                           .outputs = {{.dimensions = {1, 1, 64, 96}, .dtype = "bfloat16"}},
                           .work = {.flops = Flops(393216), .dram = Bytes(4096), .cores = 2}};
  const std::vector<TimelineEvent> events = two_launches();
  const TraceProcess process{
      .name = "point", .events = events, .facts = [&](std::uint64_t) { return &facts; }};
  const json trace = json::parse(chrome_trace({&process, 1}).json);
  expect_valid(trace);
  std::vector<json> notes;
  for (const json& event : trace.at("traceEvents")) {
    if (event.contains("args") && event["args"].contains("flops")) notes.push_back(event["args"]);
  }
  ASSERT_EQ(notes.size(), 2U) << "only kernels, not their cores";
  EXPECT_EQ(notes[0].at("operation"), "Matmul");
  EXPECT_EQ(notes[0].at("shapes"), "64x32 bfloat16, 2x32x96 float32 -> 64x96 bfloat16");
  EXPECT_EQ(notes[0].at("flops"), 393216);
  EXPECT_EQ(notes[0].at("dram_bytes"), 4096);
  EXPECT_EQ(notes[0].at("cores"), "(1,2)-(3,5)");
  EXPECT_EQ(notes[0].at("core_count"), 2);
  EXPECT_FALSE(notes[0].contains("gap_before")) << "nothing ran before";
  EXPECT_EQ(notes[1].at("gap_before_ps"), 6'000'000);
  EXPECT_EQ(notes[1].at("gap_before"),
            "6.000 us: between calls 2.000 us, host issuing 1.000 us, dispatcher held 1.000 us, "
            "dispatch 1.000 us, go latency 1.000 us");
}

TEST(ChromeTrace, AQueueHasACounterOfTheCommandsThatWaitInIt) {
  const json trace = trace_of(two_launches());
  std::vector<std::pair<std::int64_t, int>> levels;
  for (const json& event : trace.at("traceEvents")) {
    if (event.at("ph") != "C") continue;
    EXPECT_EQ(event.at("name"), "command queue 0: commands waiting");
    levels.emplace_back(picoseconds(event.at("ts")), event.at("args").at("commands"));
  }
  EXPECT_EQ(levels, (std::vector<std::pair<std::int64_t, int>>{
                        {1'000'000, 1}, {2'000'000, 0}, {11'000'000, 1}, {12'000'000, 0}}));
}

TEST(ChromeTrace, SortsThreadsFromTheHostDownToTheCores) {
  const std::vector<TimelineEvent> events{span(core(1, 1, Lane::writer), 0, 1),
                                          span(core(0, 1, Lane::reader), 0, 1),
                                          span(core(1, 0, Lane::compute), 0, 1),
                                          span(core(1, 0, Lane::reader), 0, 1),
                                          span(kDispatcher, 0, 1),
                                          span(kQueue, 0, 1),
                                          span(kHost, 0, 1)};
  const std::vector<std::string> expected{
      "host thread 0",      "command queue 1",   "dispatcher 0",     "core (1,0) reader",
      "core (1,0) compute", "core (0,1) reader", "core (1,1) writer"};
  EXPECT_EQ(threads_as_shown(trace_of(events)), expected);
}

TEST(ChromeTrace, GivesEveryPointItsOwnProcess) {
  const std::vector<TimelineEvent> first{span(kHost, 0, 1)};
  const std::vector<TimelineEvent> second{span(kHost, 0, 1), span(kQueue, 0, 1)};
  const std::vector<TraceProcess> processes{{.name = "first", .events = first},
                                            {.name = "second \"quoted\"\n", .events = second}};
  const json trace = json::parse(chrome_trace(processes).json);
  expect_valid(trace);
  std::map<int, std::string> names;
  std::map<int, int> spans;
  for (const json& event : trace.at("traceEvents")) {
    if (event.at("name") == "process_name") names[event.at("pid")] = event.at("args").at("name");
    if (event.at("ph") == "X") ++spans[event.at("pid")];
  }
  EXPECT_EQ(names, (std::map<int, std::string>{{1, "first"}, {2, "second \"quoted\"\n"}}));
  EXPECT_EQ(spans, (std::map<int, int>{{1, 1}, {2, 2}}));
}

TEST(ChromeTrace, LinksSpansOfOneLaunchByItsProgram) {
  std::vector<TimelineEvent> events{span(kHost, 0, 1), span(kQueue, 0, 1)};
  events[1].program = 0;
  std::vector<json> arguments;
  const json trace = trace_of(events);
  for (const json& event : trace.at("traceEvents")) {
    if (event.at("ph") == "X") arguments.push_back(event.value("args", json()));
  }
  EXPECT_EQ(arguments, (std::vector<json>{{{"program", 7}}, json()}));
}

TEST(ChromeTrace, StatesLossesInTheFileAndReturnsThem) {
  const std::vector<TraceProcess> processes{{.name = "a", .events = {}, .losses = 3},
                                            {.name = "b", .events = {}, .losses = 4}};
  const ChromeTrace trace = chrome_trace(processes);
  EXPECT_EQ(trace.losses, 7U);
  const json file = json::parse(trace.json);
  EXPECT_EQ(file.at("otherData").at("lost_events"), 7);
  std::map<int, std::string> labels;
  for (const json& event : file.at("traceEvents")) {
    if (event.at("name") == "process_labels") {
      labels[event.at("pid")] = event.at("args").at("labels");
    }
  }
  EXPECT_EQ(labels, (std::map<int, std::string>{{1, "3 events lost"}, {2, "4 events lost"}}));
}

TEST(ChromeTrace, WithoutProcessesIsAValidEmptyFile) {
  const json trace = json::parse(chrome_trace({}).json);
  EXPECT_TRUE(trace.at("traceEvents").empty());
}

TEST(ChromeTraceDeathTest, StopsAtSpansThatOverlapInPart) {
  const std::vector<TimelineEvent> events{span(kHost, 0, 10), span(kHost, 5, 15)};
  EXPECT_DEATH(trace_of(events), "overlap in part");
}

TEST(ChromeTraceDeathTest, StopsAtASpanThatEndsBeforeItStarts) {
  EXPECT_DEATH(trace_of({span(kHost, 10, 9)}), "ends before it starts");
}

}  // namespace
}  // namespace howard::profiler
