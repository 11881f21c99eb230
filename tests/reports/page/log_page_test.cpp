// SPDX-License-Identifier: Apache-2.0
#include "reports/page/log_page.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "profiler/dispatch_gaps.h"
#include "reports/findings/log_charts.h"
#include "reports/page/timeline.h"

namespace howard::reports {
namespace {

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

SimTime us(std::int64_t number) { return SimTime::microseconds(number); }

/// Two programs of 10 us with 30 us between them, of which 25 passed before the second call.
profiler::LoggedRun sample_run(const std::string& op) {
  profiler::LoggedRun run;
  const profiler::NameId name = run.timeline.names.id(op);
  for (const auto& [number, start, call] : {std::tuple(1, 0, 0), std::tuple(2, 40, 35)}) {
    profiler::ProgramRun& program = run.timeline.programs.emplace_back();
    program.number = static_cast<std::uint64_t>(number);
    program.name = name;
    program.kernel = {us(start), us(start + 10)};
    program.host_call = profiler::Span{us(call), us(call + 2)};
  }
  return run;
}

TEST(LogPage, SaysBusyTimeCausesAndGains) {
  const profiler::LoggedRun run = sample_run("Matmul");
  PageLog log{.title = "a.csv", .run = &run};
  log.advice.findings.push_back({.what = "replay a trace",
                                 .where = "the host",
                                 .why = "",
                                 .programs = 1,
                                 .now = us(30),
                                 .gain = us(25),
                                 .source = profiler::GainSource::measured});
  const std::vector<std::string> words = log_words(log);
  ASSERT_EQ(words.size(), 2U);
  EXPECT_EQ(
      words[0],
      "Device 0 ran 2 programs in 50.00 us and was busy for 20.00 us of it (40.0 %). It waited "
      "for 30.00 us: between calls 25.00 us, launch 3.000 us, host issuing 2.000 us.");
  EXPECT_EQ(words[1], "25.00 us of 30.00 us could go (measured): replay a trace, of the host.");
}

TEST(LogPage, SaysInOneSentenceWhatManyDevicesDid) {
  profiler::LoggedRun run = sample_run("Matmul");
  const std::vector<profiler::ProgramRun> first = run.timeline.programs;
  for (std::uint16_t device = 1; device < 8; ++device) {
    for (profiler::ProgramRun program : first) {
      program.device = device;
      if (device == 5 && program.kernel.start > us(20)) program.kernel.end += us(10);
      run.timeline.programs.push_back(program);
    }
  }
  const std::vector<std::string> words = log_words({.title = "a.csv", .run = &run});
  ASSERT_EQ(words.size(), 1U);
  EXPECT_EQ(
      words[0].find("8 devices ran 16 programs in 50.00 us to 60.00 us each and were busy for "
                    "40.0 to 50.0 % of it. Device 0 waited longest, for 30.00 us: "),
      0U)
      << words[0];
}

TEST(LogPage, HasChartsTablesAndProblems) {
  const profiler::LoggedRun run = sample_run("<script>alert(1)</script>");
  LogPage page{.logs = {{.title = "<b>a.csv</b>", .run = &run, .tables = {{.caption = "a table"}}}},
               .problems = {"b.csv is cut short"}};
  const std::string text = html_log_page(page);
  EXPECT_TRUE(has(text, "Kernel time by op"));
  EXPECT_TRUE(has(text, "Where the time went"));
  EXPECT_TRUE(has(text, "Idle time by cause, over time"));
  EXPECT_TRUE(has(text, "<caption><span>a table</span></caption>"));
  EXPECT_LT(text.find("b.csv is cut short"), text.find("a table"));
  EXPECT_FALSE(has(text, "<b>"));
  EXPECT_FALSE(has(text, "<script>alert"));
  EXPECT_EQ(text, html_log_page(page)) << "the same input gives the same bytes";
}

TEST(LogPage, MapsTheCoresAsTheyLie) {
  profiler::LoggedRun run = sample_run("Matmul");
  run.cores = {{.device = 0, .x = 1, .y = 1, .busy = us(25)},
               {.device = 0, .x = 2, .y = 1, .busy = us(5)},
               {.device = 0, .x = 1, .y = 3, .busy = us(50)}};
  const std::vector<MapChart> charts = core_charts(run, "a.csv");
  ASSERT_EQ(charts.size(), 1U);
  EXPECT_EQ(charts[0].columns, (std::vector<std::string>{"1", "2"}));
  EXPECT_EQ(charts[0].rows, (std::vector<std::string>{"3", "1"})) << "row 1 is on top";
  ASSERT_EQ(charts[0].cells.size(), 3U);
  EXPECT_EQ(charts[0].cells[1].column, 1U);
  EXPECT_EQ(charts[0].cells[1].row, 1U);
  EXPECT_EQ(charts[0].cells[1].text, "10");
  EXPECT_EQ(charts[0].cells[2].row, 0U);
  EXPECT_EQ(charts[0].cells[2].value, 100);
  EXPECT_TRUE(has(html_log_page({.logs = {{.title = "a.csv", .run = &run}}}),
                  "Time in kernels, by core of device 0"));
}

TEST(LogPage, BeginsWithTheAdviceAndNamesTheChip) {
  profiler::LoggedRun run = sample_run("Matmul");
  run.devices.push_back({.id = 0,
                         .architecture = "wormhole_b0",
                         .clock = Frequency(1'000'000'000),
                         .worker_cores = 64});
  PageLog log{.title = "a.csv",
              .run = &run,
              .tables = {{.caption = "a table"}},
              .advice_tables = {{.caption = "some advice"}},
              .recorded = "2025-09-18 11:39"};
  EXPECT_EQ(log_place(log), "wormhole_b0, 64 cores, 1000 MHz; 2025-09-18 11:39");
  const std::string text = html_log_page({.logs = {log}});
  EXPECT_TRUE(has(text, "<title>a.csv: wormhole_b0, 64 cores, 1000 MHz; 2025-09-18 11:39</title>"));
  EXPECT_LT(text.find("some advice"), text.find("Kernel time by op"));
  EXPECT_LT(text.find("Kernel time by op"), text.find("a table"));
}

TEST(LogPage, ChartsBeginWhereProgramsHadRunOnce) {
  profiler::LoggedRun run;
  const profiler::NameId names[] = {run.timeline.names.id("Matmul"), run.timeline.names.id("Exp")};
  SimTime now;
  for (int i = 0; i < 20; ++i) {
    profiler::ProgramRun& program = run.timeline.programs.emplace_back();
    program.number = static_cast<std::uint64_t>(i + 1);
    program.name = names[i % 2];
    program.kernel = {now, now + us(10)};
    now = now + us(10) + (i < 1 ? us(1'000'000) : us(5));
  }
  const auto lanes = profiler::find_gaps(run.timeline, profiler::LaneKind::device);
  const profiler::BusyLane part = steady_part(run.timeline, lanes.at(0));
  EXPECT_EQ(part.span.duration(), us(19 * 10 + 18 * 5)) << "without the second it waited for Exp";
  EXPECT_EQ(part.idle, us(18 * 5));
  EXPECT_EQ(part.busy, us(19 * 10));
  const std::string text = html_log_page({.logs = {{.title = "a.csv", .run = &run}}});
  EXPECT_TRUE(has(text, "<summary>With the first runs</summary>"));
  run.knows_starts = true;
  const std::vector<std::string> words = log_words({.title = "a.csv", .run = &run});
  ASSERT_EQ(words.size(), 2U);
  EXPECT_TRUE(
      words[0].starts_with("Once all programs had run, device 0 ran 19 programs in 280.0 us"))
      << words[0];
  EXPECT_TRUE(words[1].starts_with("With the first runs, device 0 ran 20 programs in")) << words[1];
}

TEST(LogPage, TwoLogsOfOneNameHaveTwoAddresses) {
  const LogPage page{.logs = {{.title = "a.csv"}, {.title = "a.csv"}}};
  const std::string text = html_log_page(page);
  EXPECT_TRUE(has(text, "<section id=\"a-csv\">"));
  EXPECT_TRUE(has(text, "<section id=\"a-csv-2\">"));
}

TEST(LogPage, WithoutStartsSaysWhatIsNotKnown) {
  profiler::LoggedRun run = sample_run("Matmul");
  run.knows_starts = false;
  const std::vector<std::string> words = log_words({.title = "a.csv", .run = &run});
  ASSERT_EQ(words.size(), 1U);
  EXPECT_TRUE(has(words[0], "does not say when programs began"));
}

std::vector<TimelineEvent> kernels(int count) {
  std::vector<TimelineEvent> events;
  for (int i = 0; i < count; ++i) {
    events.push_back({.track = {.kind = TrackKind::sub_device},
                      .name = i % 10 == 0 ? "long" : "short",
                      .category = profiler::category::kKernel,
                      .start = us(10 * i),
                      .end = us(10 * i + (i % 10 == 0 ? 5 : 2)),
                      .program = static_cast<std::uint64_t>(i + 1)});
  }
  return events;
}

TEST(TimelineJson, JoinsSpansWhereThereAreTooMany) {
  const std::vector<TimelineEvent> events = kernels(10'000);
  const TimelinePoint point{.process = {.name = "p", .events = events}};
  const nlohmann::json all = nlohmann::json::parse(timeline_json(std::span(&point, 1)));
  EXPECT_EQ(all[0]["tracks"][0]["spans"].size(), 50'000U);
  EXPECT_FALSE(all[0].contains("left_out"));
  const nlohmann::json some = nlohmann::json::parse(timeline_json(std::span(&point, 1), 1000));
  const nlohmann::json& spans = some[0]["tracks"][0]["spans"];
  EXPECT_LE(spans.size() / 5, 1000U);
  EXPECT_GE(spans.size() / 5, 500U);
  EXPECT_EQ(some[0]["texts"][spans[2].get<std::size_t>()], "long") << "the longest stands for all";
  EXPECT_TRUE(has(some[0]["left_out"].get<std::string>(), "drawn as one"));
  std::int64_t end = 0;
  for (std::size_t i = 0; i < spans.size(); i += 5) end += spans[i].get<std::int64_t>();
  EXPECT_LE(end + spans[spans.size() - 4].get<std::int64_t>(), us(100'000).ps());
  std::int64_t gaps = 0;
  for (std::size_t i = 1; i < some[0]["gaps"].size(); i += 3) {
    gaps += some[0]["gaps"][i].get<std::int64_t>();
  }
  EXPECT_EQ(gaps, us(8999 * 8 + 1000 * 5).ps()) << "no gap is lost";
}

TEST(TimelineJson, ShowsMemoryFromTheBeginningOfThePoint) {
  const std::vector<TimelineEvent> events{{.track = {.kind = TrackKind::host_thread},
                                           .name = "call",
                                           .category = "host",
                                           .start = us(100),
                                           .end = us(200)}};
  profiler::MemoryUse use;
  const auto live = [&](std::int64_t time, std::int64_t bytes) {
    use.curve.push_back({.time = us(time), .dram = Bytes(bytes)});
  };
  live(10, 1000);
  live(50, 4000);
  live(150, 6000);
  live(180, 4000);
  live(300, 0);
  use.phases.push_back({.name = "forward", .start = us(50), .end = us(150)});
  const TimelinePoint point{.process = {.name = "p", .events = events}, .memory = &use};
  const nlohmann::json points = nlohmann::json::parse(timeline_json(std::span(&point, 1)));
  EXPECT_EQ(points[0]["memory"].size(), 1U) << "nothing was in L1";
  EXPECT_EQ(points[0]["memory"][0]["levels"],
            nlohmann::json({0, 4000, us(50).ps(), 6000, us(30).ps(), 4000}));
  EXPECT_EQ(points[0]["phases"][1], us(50).ps());
}

}  // namespace
}  // namespace howard::reports
