// SPDX-License-Identifier: Apache-2.0
#include "harness/tracking/comparison/comparison.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "base/error.h"
#include "tests/error_of.h"
#include "tests/tracking/made_run.h"

namespace howard::tracking {
namespace {

Side side(std::vector<Row> rows) { return {.name = "side", .runs = {run_with(std::move(rows))}}; }

const JudgedRow& row_of(const Comparison& comparison, const std::string& benchmark) {
  return *std::ranges::find_if(
      comparison.rows, [&](const JudgedRow& row) { return row.series.benchmark == benchmark; });
}

TEST(Comparison, OnePicosecondOfAnExactTimeIsAFinding) {
  const Comparison found =
      compare_sides(side({exact_row("a", 1000), exact_row("b", 1000), exact_row("c", 1000)}),
                    side({exact_row("a", 1000), exact_row("b", 1001), exact_row("c", 999)}), {});
  EXPECT_EQ(row_of(found, "a").verdict, Verdict::same);
  EXPECT_EQ(row_of(found, "b").verdict, Verdict::slower);
  EXPECT_EQ(row_of(found, "c").verdict, Verdict::faster);
  const Comparison allowed = compare_sides(side({exact_row("b", 1000)}),
                                           side({exact_row("b", 1010)}), {.threshold = 0.01});
  EXPECT_EQ(allowed.rows.front().verdict, Verdict::same);
}

TEST(Comparison, AMoveIsExplainedByPartsFactsAndTheConstant) {
  Side before = side({exact_row("a", 5'000'000), exact_row("a", 4'000'000, "kernel_time.matmul"),
                      exact_row("a", 1'000'000, "kernel_time.softmax"),
                      words_row("a", "bound_by", "unpack")});
  Side after = side({exact_row("a", 7'000'000), exact_row("a", 6'000'000, "kernel_time.matmul"),
                     exact_row("a", 1'000'000, "kernel_time.softmax"),
                     words_row("a", "bound_by", "in0 reads")});
  before.runs.back().constants = {{"noc.link", "28 B/cycle"}, {"dram.read", "190 GB/s"}};
  after.runs.back().constants = {{"noc.link", "14 B/cycle"}, {"dram.read", "190 GB/s"}};
  const Comparison found = compare_sides(before, after, {});
  ASSERT_EQ(found.rows.size(), 1U) << "parts are no findings";
  EXPECT_EQ(found.rows.front().explanation,
            "matmul +2.000 us; bound_by: unpack -> in0 reads; noc.link: 28 B/cycle -> 14 B/cycle");
  EXPECT_EQ(found.constants, std::vector<std::string>{"noc.link: 28 B/cycle -> 14 B/cycle"});
}

TEST(Comparison, ConstantsMoveByWhatBothRunsSayOfThem) {
  tracking::Run all = run_with({exact_row("a", 1)});
  all.conditions.software = "s with host.finish=1ms";
  all.constants = {{"host.finish", "1 ms"}, {"noc.link", "28 B/cycle"}};
  tracking::Run less = all;
  less.constants = {{"host.finish", "1ms"}};
  EXPECT_EQ(moved_constants(all, less), std::vector<std::string>())
      << "one says what was set alone";
  less.conditions.software = "s";
  less.constants.clear();
  EXPECT_EQ(moved_constants(less, all),
            std::vector<std::string>{"host.finish: the profile's -> 1ms"});
  tracking::Run newer = all;
  newer.constants.emplace("noc.hops", "2 count");
  newer.constants["noc.link"] = "14 B/cycle";
  EXPECT_EQ(moved_constants(all, newer),
            (std::vector<std::string>{"noc.hops: none -> 2 count",
                                      "noc.link: 28 B/cycle -> 14 B/cycle"}));
}

TEST(Comparison, WhatOnlyOneSideHasIsMissingOrNewAndAFailureIsSaid) {
  const Comparison found = compare_sides(
      side({exact_row("gone", 1), exact_row("skips", 1), exact_row("fails", 1)}),
      side({exact_row("new", 1), words_row("skips", "", "needs two chips", Kind::skipped),
            words_row("fails", "", "out of L1", Kind::failed)}),
      {});
  EXPECT_EQ(row_of(found, "gone").verdict, Verdict::missing);
  EXPECT_EQ(row_of(found, "skips").verdict, Verdict::missing);
  EXPECT_EQ(row_of(found, "skips").reason, "needs two chips");
  EXPECT_EQ(row_of(found, "new").verdict, Verdict::added);
  EXPECT_EQ(row_of(found, "fails").verdict, Verdict::failed);
  EXPECT_EQ(row_of(found, "fails").reason, "out of L1");
  EXPECT_EQ(found.rows.size(), 4U);
}

TEST(Comparison, OneProcessOnEachSideDecidesNothingAboutSampledTimes) {
  const Comparison found =
      compare_sides(side({sampled_row("a", 1e-3)}), side({sampled_row("a", 2e-3)}), {});
  EXPECT_EQ(found.rows.front().verdict, Verdict::ambiguous);
  EXPECT_EQ(found.rows.front().needed, 8U);
}

Side runs_of_values(const std::vector<double>& values, double factor = 1) {
  Side side{.name = "side"};
  for (const double value : values)
    side.runs.push_back(run_with({sampled_row("a", value * factor)}));
  return side;
}

TEST(Comparison, SeveralRunsOfEachSideDecideAboutSampledTimes) {
  const std::vector<double> values{1.00, 1.01, 0.99, 1.02, 0.98, 1.00, 1.01, 0.99};
  const auto verdict = [&](double factor) {
    return compare_sides(runs_of_values(values), runs_of_values(values, factor), {}).rows.front();
  };
  EXPECT_EQ(verdict(1).verdict, Verdict::same);
  EXPECT_EQ(verdict(1.10).verdict, Verdict::slower);
  EXPECT_EQ(verdict(0.90).verdict, Verdict::faster);
  EXPECT_EQ(verdict(1.005).verdict, Verdict::same) << "below the floor";
  EXPECT_NEAR(*verdict(1.10).ratio, 1.10, 1e-9);
  const std::vector<double> wild{1, 2, 0.5, 1.5, 0.7, 1.2, 1.9, 0.8};
  const JudgedRow noisy =
      compare_sides(runs_of_values(wild), runs_of_values(wild, 1.05), {}).rows.front();
  EXPECT_EQ(noisy.verdict, Verdict::ambiguous);
  EXPECT_GT(noisy.needed.value_or(0), 100U);
}

TEST(Comparison, ALargerValueOfAMetricThatShallBeLargeIsFaster) {
  Row before = sampled_row("a", 100);
  before.series.unit = "1/s";
  before.series.better = harness::Better::higher;
  Side old_side{.name = "old"}, new_side{.name = "new"};
  for (int i = 0; i < 8; ++i) {
    Row row = before;
    row.value = 100 + i % 3;
    old_side.runs.push_back(run_with({row}));
    row.value *= 1.2;
    new_side.runs.push_back(run_with({row}));
  }
  EXPECT_EQ(compare_sides(old_side, new_side, {}).rows.front().verdict, Verdict::faster);
}

/// Returns the row of a metric that had these values.
JudgedRow judged_metric(const std::vector<double>& before, const std::vector<double>& after,
                        const Limits& limits = {}) {
  const auto side_of = [](const std::vector<double>& values) {
    Side side{.name = "side"};
    for (const double value : values) {
      Row row = sampled_row("a", value);
      row.series.unit = "";
      side.runs.push_back(run_with({row}));
    }
    return side;
  };
  return compare_sides(side_of(before), side_of(after), limits).rows.front();
}

TEST(Comparison, OneDisturbedRunOfTheHistoryDoesNotHideThatAllIsThreeTimesAsSlow) {
  std::vector<double> before{1, 1.01, 0.99, 1, 1.02, 0.98, 1, 1.01, 0.99, 10};
  EXPECT_EQ(judged_metric(before, {3, 3.01, 2.99}).verdict, Verdict::slower);
  const JudgedRow once = judged_metric(before, {3});
  EXPECT_EQ(once.verdict, Verdict::ambiguous) << "one run may be disturbed itself";
  EXPECT_TRUE(once.needed);
  before.back() = 1;
  EXPECT_EQ(judged_metric(before, {3}).verdict, Verdict::slower);
}

TEST(Comparison, ZerosAndNegativeValuesAreDecided) {
  const std::vector<double> zeros(12, 0.0), hundreds(12, 100.0), fives(12, -5.0), tens(12, -10.0);
  EXPECT_EQ(judged_metric(zeros, hundreds).verdict, Verdict::slower);
  EXPECT_FALSE(judged_metric(zeros, hundreds).change());
  EXPECT_EQ(judged_metric(hundreds, zeros).verdict, Verdict::faster);
  EXPECT_EQ(judged_metric(hundreds, zeros).change(), 0) << "100 % less";
  EXPECT_EQ(judged_metric(fives, tens).verdict, Verdict::faster) << "it is lower";
  EXPECT_FALSE(judged_metric(fives, tens).change()) << "twice as much would say nothing";
  EXPECT_EQ(judged_metric(zeros, zeros).verdict, Verdict::same);
  EXPECT_EQ(judged_metric(fives, fives).verdict, Verdict::same);
  EXPECT_EQ(judged_metric({0}, {100}).verdict, Verdict::ambiguous) << "one run of each";
}

TEST(Comparison, APlainThresholdJudgesMediansAlone) {
  const Limits limits{.threshold = 0.05, .plain = true};
  EXPECT_EQ(judged_metric({100}, {119}, limits).verdict, Verdict::slower);
  EXPECT_EQ(judged_metric({100}, {104}, limits).verdict, Verdict::same);
  EXPECT_EQ(judged_metric({100}, {90}, limits).verdict, Verdict::faster);
  EXPECT_EQ(judged_metric({0}, {1}, limits).verdict, Verdict::slower);
  EXPECT_EQ(judged_metric({100, 101, 900}, {103, 99, 101}, limits).verdict, Verdict::same);
}

TEST(Comparison, ARowShowsTheMedianOfItsValues) {
  const JudgedRow row = judged_metric({8.986, 8.987}, {8.986, 8.987});
  EXPECT_EQ(row.before, row.after);
  EXPECT_EQ(row.before, 8.9865);
}

TEST(Comparison, AShiftOfTheWholeMachineIsSaidAndIsNoRegression) {
  Side before{.name = "old"}, after{.name = "new"};
  for (int run = 0; run < 10; ++run) {
    std::vector<Row> rows;
    for (int i = 0; i < 10; ++i) {
      rows.push_back(
          sampled_row("r" + std::to_string(i), 1e-3 * (1 + 0.003 * ((run * 7 + i) % 5))));
    }
    rows[7].value *= 1 + 0.05 * (run * 3 % 5 - 2);
    before.runs.push_back(run_with(rows));
    for (Row& row : rows) row.value *= 1.3;
    rows[4].value *= 1.2;   // one of them is slower than the machine explains
    rows[7].value *= 1.02;  // one is too noisy to say
    after.runs.push_back(run_with(rows));
  }
  const Comparison found = compare_sides(before, after, {});
  EXPECT_TRUE(found.moved_together);
  ASSERT_EQ(found.warnings.size(), 1U);
  EXPECT_NE(found.warnings.front().find("+30.0 %"), std::string::npos) << found.warnings.front();
  EXPECT_EQ(found.count(Verdict::slower), 1U);
  EXPECT_EQ(row_of(found, "r4").verdict, Verdict::slower);
  EXPECT_EQ(row_of(found, "r7").verdict, Verdict::ambiguous);
}

TEST(Comparison, ATimeThatMovedByLessThanTheAbsoluteFloorIsNoFinding) {
  const Limits limits{.absolute_floor = 1e-6};
  JudgedRow row{.series = sampled_row("a", 0).series, .before = 1e-5};
  EXPECT_FALSE(exceeds_floors(row, std::log(1.05), limits)) << "half a microsecond";
  EXPECT_TRUE(exceeds_floors(row, std::log(1.2), limits)) << "two microseconds";
  judge(row, {.half_width = 0.001, .runs = 20}, limits);
  EXPECT_DOUBLE_EQ(row.detects.value_or(0), 0.1) << "a tenth is the absolute floor";
  row.series.unit = "1/s";
  EXPECT_TRUE(exceeds_floors(row, std::log(1.05), limits)) << "it is no time";
}

TEST(Comparison, AFindingThatTheBranchAlreadyHasIsStale) {
  const Side baseline = side({exact_row("a", 1000), exact_row("b", 1000)});
  const Side newest = side({exact_row("a", 1200), exact_row("b", 1000)});
  const Side after = side({exact_row("a", 1200), exact_row("b", 1100)});
  Comparison found = compare_sides(baseline, after, {});
  const auto since = [](const Series& series) { return "since cafe of " + series.benchmark; };
  mark_stale(found, newest, after, since, {});
  EXPECT_EQ(row_of(found, "a").verdict, Verdict::stale);
  EXPECT_EQ(row_of(found, "a").reason, "the baseline's branch has had this level since cafe of a");
  EXPECT_EQ(row_of(found, "b").verdict, Verdict::slower);
}

TEST(Comparison, WhatCannotBeComparedIsRefusedAndNamed) {
  const auto refusal = [](const Side& before, const Side& after) -> std::string {
    return error_of([&] { require_comparable(before, after); });
  };
  Side before = side({exact_row("a", 1)}), after = before;
  EXPECT_EQ(refusal(before, after), "");
  after.runs.back().conditions.chip = "n150";
  EXPECT_EQ(refusal(before, after), "") << "a side that does not say its chip agrees with any";
  before.runs.back().conditions.chip = "n300";
  EXPECT_NE(refusal(before, after).find("chip 'n300' and 'n150'"), std::string::npos);
  before = side({sampled_row("a", 1)});
  after = before;
  before.runs.back().conditions.machine = "AMD";
  after.runs.back().conditions.machine = "Intel";
  EXPECT_NE(refusal(before, after).find("machine 'AMD' and 'Intel'"), std::string::npos);
  after = side({sampled_row("a", 1)});
  after.runs.back().rows.front().series.unit = "ms";
  EXPECT_NE(refusal(before, after).find("in 's' and in 'ms'"), std::string::npos);
  before = side({exact_row("a", 1)});
  after = side({exact_row("a", 1)});
  before.runs.back().conditions.machine = "AMD";
  after.runs.back().conditions.machine = "Intel";
  EXPECT_EQ(refusal(before, after), "") << "exact times are the same on every machine";
}

}  // namespace
}  // namespace howard::tracking
