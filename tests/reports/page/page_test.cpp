// SPDX-License-Identifier: Apache-2.0
#include "reports/page/page.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "reports/page/html.h"
#include "reports/page/page_words.h"
#include "reports/page/sample_chart.h"
#include "reports/page/svg_chart.h"
#include "reports/page/timeline.h"
#include "reports/page/training_charts.h"
#include "reports/pictures/axis_marks.h"
#include "tests/reports/sample_result.h"

namespace howard::reports {
namespace {

using harness::Backend;
using harness::ExperimentResult;

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

std::size_t count_of(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
    ++count;
  }
  return count;
}

Page sample_page() {
  Page page;
  page.sections.push_back({.result = testing::sample_result(),
                           .presentation = testing::sample_presentation(),
                           .question = "What does it cost?",
                           .files = {"sample_sweep.json"},
                           .tables = {}});
  return page;
}

TEST(HtmlText, IsTextWhateverItHolds) {
  EXPECT_EQ(html_text("<script>alert('a & \"b\"')</script>\n"),
            "&lt;script&gt;alert(&#39;a &amp; &quot;b&quot;&#39;)&lt;/script&gt; ");
}

TEST(HtmlTable, HasHeadsCellsAndNotes) {
  const Table table{
      .caption = "c",
      .columns = {{.title = "shape"}, {.title = "time", .unit = "us", .number = true}},
      .rows = {{.cells = {{"128"}, {.text = "78.4", .tone = Tone::bad}}},
               {.cells = {{"100"}, {""}}, .skipped = "failed: no room"}},
      .notes = {"a <note>"}};
  const std::string text = html_table(table);
  EXPECT_TRUE(has(text, "<caption><span>c</span></caption>"));
  EXPECT_TRUE(
      has(text, "<th scope=\"col\" class=\"number\">time <span class=\"unit\">us</span></th>"));
  EXPECT_TRUE(has(text, "<td class=\"number bad\">78.4</td>"));
  EXPECT_TRUE(has(text, "<td class=\"skipped\" colspan=\"1\">failed: no room</td>"));
  EXPECT_TRUE(has(text, "<li>a &lt;note&gt;</li>"));
}

TEST(HtmlPage, ShowsQuestionTablesChartsCommandAndFiles) {
  const std::string text = html_page(sample_page());
  EXPECT_TRUE(has(text, "What does it cost?"));
  EXPECT_TRUE(has(text, "<figcaption>"));
  EXPECT_TRUE(has(text, "To run it again: <code>run_experiment "));
  EXPECT_TRUE(has(text, "<a href=\"sample_sweep.json\">"));
  EXPECT_TRUE(has(text, "<table>"));
}

TEST(HtmlPage, OfATrainingHasNoCommandOfAxesAndNothingPublished) {
  Page page = sample_page();
  EXPECT_TRUE(has(html_page(page), "Beside the published figures"));
  page.sections.front().of_experiment = false;
  const std::string text = html_page(page);
  EXPECT_FALSE(has(text, "To run it again"));
  EXPECT_FALSE(has(text, "Beside the published figures"));
}

TEST(HtmlPage, IsTheSameForTheSameInput) {
  EXPECT_EQ(html_page(sample_page()), html_page(sample_page()));
}

TEST(HtmlPage, LoadsNothingAndForbidsAllButItsOwnScriptAndStyle) {
  std::string text = html_page(sample_page());
  // What a chart refers to within itself is nothing outside.
  for (std::size_t at = 0; (at = text.find("url(#", at)) != std::string::npos;) text.erase(at, 5);
  EXPECT_TRUE(has(text, "default-src 'none'; style-src 'sha256-"));
  EXPECT_TRUE(has(text, "script-src 'sha256-"));
  EXPECT_EQ(count_of(text, "'sha256-"), 4U) << "the style and three scripts";
  // A digest of 32 bytes has 43 digits in base 64 and one filler.
  const std::size_t begin =
      text.find("script-src 'sha256-") + std::string("script-src 'sha256-").size();
  EXPECT_EQ(text.find('\'', begin) - begin, 44U);
  EXPECT_EQ(text[begin + 43], '=');
  for (const char* const outside : {"src=\"", "http://", "https://", "url(", "@import"}) {
    EXPECT_FALSE(has(text, outside)) << outside;
  }
  EXPECT_FALSE(has(text, " style=\"")) << "the policy would forbid it";
}

TEST(HtmlPage, HostileNamesAreText) {
  Page page = sample_page();
  const std::string hostile = "</script><script>alert(1)</script>\"'><img src=x onerror=alert(2)>";
  ExperimentResult& result = page.sections.front().result;
  result.experiment = hostile;
  result.context.cpu = hostile;
  for (harness::PointResult& point : result.points) {
    for (auto& [axis, value] : point.parameters) value = hostile;
    point.warnings.push_back(hostile);
    if (point.reference) point.reference->note = hostile;
  }
  page.problems.push_back(hostile);
  const std::string text = html_page(page);
  EXPECT_FALSE(has(text, "<img"));
  EXPECT_FALSE(has(text, "<script>alert"));
  EXPECT_TRUE(has(text, "&lt;img src=x"));
}

TEST(HtmlPage, SaysWhatCouldNotBeReadAtItsTop) {
  Page page = sample_page();
  page.problems.push_back("a.json is cut short");
  const std::string text = html_page(page);
  EXPECT_LT(text.find("a.json is cut short"), text.find("<table>"));
}

TEST(HtmlPage, WhatHasChangedStandsBeforeEverythingElse) {
  Page page = sample_page();
  page.findings = {"Two exact times are slower."};
  page.before = {{.name = "changes", .heading = "Changes since yesterday", .html = "<p>x</p>"}};
  const std::string text = html_page(page);
  EXPECT_LT(text.find("Two exact times are slower."), text.find("<table>"));
  EXPECT_LT(text.find("<h2>Changes since yesterday</h2>"), text.find("What does it cost?"));
}

TEST(PageWords, SayTheExtremesWhatBoundsThemAndHowFarTheyAre) {
  ExperimentResult result{.experiment = "e", .points = {}};
  for (const auto& [shape, seconds, bound] :
       {std::tuple("1", 1e-6, "dispatch"), std::tuple("2", 4e-6, "math"),
        std::tuple("3", 2e-6, "dispatch")}) {
    result.points.push_back({.backend = Backend::emulated,
                             .parameters = {{"shape", shape}},
                             .metrics = {{.name = "time", .value = seconds, .unit = "s"}},
                             .details = {{"bound_by", bound}}});
  }
  result.points[1].reference = harness::Reference{
      .metric = "time", .value = 5e-6, .unit = "s", .source = "s", .status = "prediction"};
  const std::vector<std::string> words = experiment_words(result);
  ASSERT_EQ(words.size(), 3U);
  EXPECT_EQ(words[0],
            "3 points ran on the emulated chip. The shortest time is 1.000 us (1), the longest is "
            "4.000 us (2).");
  EXPECT_EQ(words[1], "What bounds the emulated points: 2 by dispatch, 1 by math.");
  EXPECT_TRUE(has(words[2], "the farthest is 2 at -20.0 %"));
}

TEST(PageWords, SayWhichOpsCostMostAndHowWellSuchTimesAreKnown) {
  ExperimentResult result{.experiment = "e", .points = {}};
  for (const double error : {0.07, 0.155}) {
    result.points.push_back(
        {.backend = Backend::emulated,
         .parameters = {},
         .metrics = {{.name = "kernel_time.matmul", .value = 3 * error, .unit = "s"},
                     {.name = "kernel_time.relu", .value = error, .unit = "s"},
                     {.name = "expected_error", .value = error, .unit = "1"}}});
  }
  const std::vector<std::string> words = experiment_words(result);
  ASSERT_EQ(words.size(), 2U);
  EXPECT_EQ(words[0], "What takes the kernels' time: matmul 75 %, relu 25 %.");
  EXPECT_TRUE(has(words[1], "expected error of these times is 7 to 16 %")) << words[1];
}

TEST(PageWords, TheCommandNamesAxesConstantsAndTheChip) {
  ExperimentResult result{.experiment = "e", .points = {}};
  for (const char* const link : {"8B/cycle", "16B/cycle"}) {
    result.points.push_back({.backend = Backend::emulated,
                             .parameters = {{"noc.link", link}, {"shape", "1x2x3"}},
                             .metrics = {}});
  }
  EXPECT_EQ(command_of(result),
            "run_experiment e --backend emulated --set noc.link=8B/cycle,16B/cycle -a shape=1x2x3");
  result.context.published_chip = false;
  result.context.chip = {"wormhole_b0_n150", {"host.finish=3us"}};
  EXPECT_TRUE(command_of(result).starts_with(
      "run_experiment e --chip wormhole_b0_n150 --set host.finish=3us --backend emulated"));
}

TEST(SvgMap, HasACellForEachPointAndItsNumber) {
  ExperimentResult result{.experiment = "e", .points = {}};
  for (int row = 1; row <= 2; ++row) {
    for (int column = 1; column <= 3; ++column) {
      result.points.push_back(
          {.backend = Backend::emulated,
           .parameters = {{"x", std::to_string(column)}, {"y", std::to_string(row)}},
           .metrics = {{.name = "time", .value = 1e-6 * row * column, .unit = "s"}}});
    }
  }
  const auto chart = map_chart(result, Backend::emulated,
                               {.title = "t",
                                .x_label = "x",
                                .y_label = "y",
                                .x = "x",
                                .y = "y",
                                .metric = "time",
                                .label = "time"});
  ASSERT_TRUE(chart);
  const std::string text = svg_map(*chart);
  EXPECT_EQ(count_of(text, "<rect x=\"110") + count_of(text, "<rect x=\"336") +
                count_of(text, "<rect x=\"563"),
            6U)
      << text;
  EXPECT_TRUE(has(text, "<title>x 3, y 2: time (us) 6.000</title>"));
  EXPECT_TRUE(has(text, "fill=\"#ffffd9\"><title>x 1, y 1"));
}

TEST(SvgBars, AreAsLongAsTheirParts) {
  const BarPicture bars{.name = "",
                        .title = "t",
                        .label = "us",
                        .parts = {{.title = "matmul", .color = "#0072b2"}},
                        .headings = {"emulated"},
                        .rows = {{.name = "short", .ends = {1}, .cells = {"1"}, .published = {}},
                                 {.name = "long", .ends = {2}, .cells = {"2"}, .published = 1.5}},
                        .longest = 2,
                        .line = {}};
  const std::string text = svg_bars(bars);
  EXPECT_TRUE(has(text, "width=\"377.0\"")) << text;
  EXPECT_TRUE(has(text, "width=\"754.0\"")) << text;
  EXPECT_TRUE(has(text, "fill=\"#0072b2\""));
  EXPECT_TRUE(has(text, "<title>long: matmul, us 2</title>"));
  EXPECT_TRUE(has(text, "<title>long: published, us 1.5</title>"));
  EXPECT_TRUE(has(text, ">emulated</text>")) << "columns of numbers have headings";
  EXPECT_FALSE(has(text, "class=\"break\""));
}

TEST(SvgBars, ThatAreCutShowIt) {
  const BarPicture bars{.name = "",
                        .title = "t",
                        .label = "us",
                        .parts = {{.title = "", .color = "#0072b2"}},
                        .headings = {},
                        .rows = {{.name = "short", .ends = {1}, .cells = {}, .published = {}},
                                 {.name = "long", .ends = {20}, .cells = {}, .published = {}}},
                        .longest = 2,
                        .line = {}};
  EXPECT_EQ(count_of(svg_bars(bars), "class=\"break\""), 4U) << "in both drawings";
}

TEST(SvgBars, HaveRoundMarksThatDoNotTouch) {
  const BarPicture bars{.name = "",
                        .title = "t",
                        .label = "us",
                        .parts = {{.title = "", .color = "#0072b2"}},
                        .headings = {},
                        .rows = {{.name = "a", .ends = {1234.5}, .cells = {}, .published = {}}},
                        .longest = 1234.5,
                        .line = {}};
  const std::string text = svg_bars(bars);
  for (const char* const mark : {">0</text>", ">100</text>", ">1200</text>"}) {
    EXPECT_TRUE(has(text, mark)) << mark << text;
  }
  EXPECT_FALSE(has(text, ">1300</text>")) << "it is beyond the axis";
}

TEST(SvgChart, TheLegendShowsDashesAndOpenSymbols) {
  XyChart chart{.name = "",
                .title = "t",
                .x = log_axis(1, 10, 5),
                .y = log_axis(1, 10, 5),
                .x_label = "x",
                .y_label = "y",
                .series = {{.title = "dashed",
                            .dashes = 1,
                            .marks = {{1, 1, "first"}, {10, 10, "last"}},
                            .open = {{1, 2, "it was published"}}}}};
  const std::string text = svg_chart(chart);
  EXPECT_EQ(count_of(text, "stroke-dasharray=\"7 4\""), 3U) << "the lines and their legend";
  EXPECT_TRUE(has(text, "<title>first</title>"));
  EXPECT_TRUE(has(text, "<title>it was published</title>"));
  EXPECT_TRUE(has(text, "published</li>"));
  // In both drawings: the marks, and the open ones, which the entry "published" shows alone.
  EXPECT_EQ(count_of(text, "<g data-shows=\"0\">"), 4U);
  EXPECT_EQ(count_of(text, "<g data-shows=\"open\">"), 2U);
  EXPECT_EQ(count_of(text, "<li data-shows="), 2U);
  EXPECT_TRUE(has(text, "data-frame=\"80 860 12 360\" data-x=\"log 1 10\" data-y=\"log 1 10\""));
  chart.series.front().marks.clear();
  chart.series.front().open.clear();
  EXPECT_EQ(svg_chart(chart), "");
}

TEST(SvgChart, BlackIsTheColourOfThePagesText) {
  const XyChart chart{.name = "",
                      .title = "t",
                      .x = linear_axis(0, 1, 700),
                      .y = linear_axis_upwards(0, 1, 300),
                      .x_label = "x",
                      .y_label = "y",
                      .series = {{.title = "black", .color = 4, .marks = {{0, 0}, {1, 1}}}}};
  EXPECT_TRUE(has(svg_chart(chart), "stroke=\"var(--text)\""));
  EXPECT_FALSE(has(svg_chart(chart), "#000000"));
}

TEST(AxisMarks, LinearOnesAreRoundAndHaveRoomForTheirLabels) {
  EXPECT_EQ(linear_marks(0, 10, 300), (std::vector<double>{0, 2, 4, 6, 8, 10}));
  EXPECT_EQ(linear_marks(0, 0.3, 100), (std::vector<double>{0, 0.2}));
  EXPECT_EQ(linear_marks(0, 17240, 760),
            (std::vector<double>{0, 2000, 4000, 6000, 8000, 10000, 12000, 14000, 16000}));
}

TEST(TrainingCharts, ShowLossLearningRateAndTokensOfEachStep) {
  ExperimentResult result{.experiment = "train", .points = {}};
  result.points.push_back(
      {.backend = Backend::host,
       .parameters = {},
       .metrics = {{.name = "loss", .value = 2, .unit = "", .samples = {4, 3, 2}},
                   {.name = "learning_rate", .value = 0.1, .unit = "", .samples = {0.3, 0.2, 0.1}},
                   {.name = "time", .value = 2, .unit = "s", .samples = {1, 2, 3}},
                   {.name = "tokens", .value = 100, .unit = "1/s"}},
       .details = {{"steps_done", "12"}}});
  const std::vector<XyChart> charts = training_charts(result);
  ASSERT_EQ(charts.size(), 3U);
  EXPECT_EQ(charts[0].series[0].marks[0].x, 10) << "the run went on from step 9";
  EXPECT_EQ(charts[0].series[0].marks[2].y, 2);
  EXPECT_EQ(charts[0].x.labels, (std::vector<std::string>{"10", "11", "12"}))
      << "no part of a step";
  EXPECT_EQ(charts[1].series[0].marks[0].y, 0.3);
  // 600 tokens in 6 s: 200 each step.
  EXPECT_DOUBLE_EQ(charts[2].series[0].marks[1].y, 100);
  result.points.front().metrics.erase(result.points.front().metrics.begin());
  EXPECT_TRUE(training_charts(result).empty()) << "nothing was trained";
}

TEST(SampleChart, SaysHowFarEachRunOfAMeasuredPointIsFromItsMedian) {
  ExperimentResult result{.experiment = "sweep", .points = {}};
  const auto measured = [](const std::string& shape, std::vector<double> runs) {
    return harness::PointResult{
        .backend = Backend::host,
        .parameters = {{"shape", shape}},
        .metrics = {{.name = "time", .value = runs[1], .unit = "s", .samples = runs}}};
  };
  result.points = {measured("64", {0.001, 0.002, 0.004}), measured("32", {0.001, 0.0015}),
                   measured("128", {0.003, 0.003, 0.003})};
  const auto chart = sample_chart(result);
  ASSERT_TRUE(chart.has_value());
  const ChartSeries& runs = chart->series.at(0);
  ASSERT_EQ(runs.marks.size(), 6U) << "two runs say nothing of their spread";
  EXPECT_DOUBLE_EQ(runs.marks[2].y, 100) << "twice the median";
  EXPECT_EQ(runs.marks[2].hint, "shape=64: run 3, 4.000 ms, +100.0 % of the median 2.000");
  EXPECT_EQ(runs.marks[5].x, 2);
  EXPECT_DOUBLE_EQ(runs.marks[5].y, 0);
  result.points.resize(2);
  result.points.erase(result.points.begin());
  EXPECT_FALSE(sample_chart(result).has_value());
}

TEST(MemoryChart, HasDramAndL1WhereItWasUsed) {
  profiler::MemoryUse use;
  EXPECT_FALSE(memory_chart(use));
  use.curve = {{.time = SimTime::microseconds(5), .dram = Bytes(2048)},
               {.time = SimTime::microseconds(9), .dram = Bytes(1024)}};
  const auto chart = memory_chart(use);
  ASSERT_TRUE(chart);
  EXPECT_EQ(chart->series.size(), 1U);
  EXPECT_EQ(chart->series[0].marks[1].x, 4) << "since the first buffer, in us";
  use.curve[0].l1_buffers = Bytes(7);
  EXPECT_EQ(memory_chart(use)->series.size(), 2U);
}

TEST(TimelineJson, HasTheSpansOfEachTrackFromZero) {
  const std::vector<TimelineEvent> events{{.track = {.kind = TrackKind::host_thread},
                                           .name = "</script>",
                                           .category = "host",
                                           .start = SimTime::microseconds(5),
                                           .end = SimTime::microseconds(7)},
                                          {.track = {.kind = TrackKind::host_thread},
                                           .name = "b",
                                           .category = "host",
                                           .start = SimTime::microseconds(8),
                                           .end = SimTime::microseconds(9)}};
  const TimelinePoint point{.process = {.name = "p", .events = events}};
  const std::string text = timeline_json(std::span(&point, 1));
  EXPECT_FALSE(has(text, "<"));
  const nlohmann::json points = nlohmann::json::parse(text);
  ASSERT_EQ(points.size(), 1U);
  const nlohmann::json& track = points[0]["tracks"][0];
  EXPECT_EQ(track["name"], "host thread 0");
  ASSERT_EQ(track["spans"].size(), 10U);
  EXPECT_EQ(track["spans"][0], 0);
  EXPECT_EQ(track["spans"][1], 2'000'000);
  EXPECT_EQ(points[0]["texts"][track["spans"][2].get<std::size_t>()], "</script>");
  EXPECT_EQ(track["spans"][5], 3'000'000);
}

}  // namespace
}  // namespace howard::reports
