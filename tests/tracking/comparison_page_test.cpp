// SPDX-License-Identifier: Apache-2.0
#include "harness/tracking/comparison/comparison_page.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/tracking/made_run.h"

namespace howard::tracking {
namespace {

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

Side side_named(std::string name, std::vector<Row> rows) {
  return {.name = std::move(name), .runs = {run_with(std::move(rows))}, .earlier = {}};
}

TEST(ComparisonPage, TheFirstSentenceNamesTheRowThatIsSlowestByRatio) {
  const Comparison comparison = compare_sides(
      side_named("old",
                 {exact_row("long", 1'000'000), exact_row("short", 1'000), exact_row("gone", 7)}),
      side_named("new", {exact_row("long", 1'100'000), exact_row("short", 1'500)}), {});
  const std::vector<std::string> found = comparison_findings(comparison);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_TRUE(has(found[0], "Since old, 2 metrics are slower, most of all short: ")) << found[0];
  EXPECT_TRUE(has(found[1], "1 metric is missing: gone")) << found[1];
}

TEST(ComparisonPage, IfNothingIsWorseItSaysSo) {
  const Comparison comparison = compare_sides(side_named("old", {exact_row("a", 5)}),
                                              side_named("new", {exact_row("a", 5)}), {});
  EXPECT_EQ(comparison_findings(comparison),
            std::vector<std::string>{"Since old, nothing is slower, missing or failed: 0 faster, "
                                     "0 new, 1 the same."});
}

TEST(ComparisonPage, TheChangesHaveBothValuesTheOpAndTheConstantAndNamesAreText) {
  Side before = side_named(
      "<old>", {exact_row("<b>", 5'000'000), exact_row("<b>", 4'000'000, "kernel_time.matmul")});
  Side after = side_named(
      "new", {exact_row("<b>", 7'000'000), exact_row("<b>", 6'000'000, "kernel_time.matmul")});
  before.runs.back().constants = {{"noc.link", "28 B/cycle"}};
  after.runs.back().constants = {{"noc.link", "14 B/cycle"}};
  const reports::PagePart part = changes_part(compare_sides(before, after, {}));
  EXPECT_EQ(part.heading, "Changes since <old>") << "the page makes it text";
  for (const char* const words :
       {"5000000", "7000000", "matmul +2.000 us", "noc.link: 28 B/cycle", "&lt;b&gt;"}) {
    EXPECT_TRUE(has(part.html, words)) << words;
  }
  EXPECT_FALSE(has(part.html, "<b>"));
}

SeriesHistory history_of(const std::string& name, const std::vector<std::int64_t>& picoseconds) {
  SeriesHistory one{.series = exact_row(name, 0).series, .points = {}, .changes = {}};
  for (const std::int64_t time : picoseconds) {
    if (!one.points.empty() && one.points.back().picoseconds != time) {
      one.changes.push_back(one.points.size());
    }
    one.points.push_back({.commit = "0123456789abcdef",
                          .branch = "main",
                          .time = 0,
                          .value = static_cast<double>(time) * 1e-12,
                          .picoseconds = time});
  }
  return one;
}

TEST(ComparisonPage, TheHistoryDrawsWhatChangedLastWithTheValueOfThePage) {
  const std::vector<SeriesHistory> all{history_of("level", {10, 10, 10}),
                                       history_of("early", {10, 20, 20, 20}),
                                       history_of("late", {10, 10, 10, 20})};
  const reports::PagePart part = history_part(all, run_with({exact_row("late", 30)}));
  EXPECT_FALSE(has(part.html, "<figcaption>level</figcaption>"));
  EXPECT_LT(part.html.find("<figcaption>late</figcaption>"),
            part.html.find("<figcaption>early</figcaption>"));
  EXPECT_TRUE(has(part.html, "0123456789ab, 1970-01-01 00:00: "));
  EXPECT_TRUE(has(part.html, "these results: "));
}

TEST(HistoryChart, ALevelGoesFromOneChangeToTheNextAtItsMedian) {
  SeriesHistory one = history_of("a", {10, 12, 11, 30, 30});
  one.changes = {3};
  const reports::XyChart chart = history_chart(one);
  ASSERT_EQ(chart.series.size(), 3U) << "two levels and the runs";
  const auto& first = chart.series[0].marks;
  EXPECT_DOUBLE_EQ(first[0].x, 0.5);
  EXPECT_DOUBLE_EQ(first[1].x, 3.5);
  EXPECT_DOUBLE_EQ(first[0].y, 11);
  EXPECT_DOUBLE_EQ(first[0].y, first[1].y);
  EXPECT_DOUBLE_EQ(chart.series[1].marks[0].x, 3.5);
  EXPECT_EQ(chart.series[2].marks.size(), 5U);
}

}  // namespace
}  // namespace howard::tracking
