// SPDX-License-Identifier: Apache-2.0
#include "reports/sweeps/sweep_summary.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "tests/reports/swept_result.h"

namespace howard::reports {
namespace {

using testing::swept_presentation;
using testing::swept_result;

std::vector<std::string> row(const Table& table, std::size_t index) {
  std::vector<std::string> cells;
  for (const Cell& cell : table.rows.at(index).cells) cells.push_back(cell.text);
  return cells;
}

/// Returns the table about something; fails the test if there is none.
Table about(const std::vector<Table>& tables, const std::string& words) {
  for (const Table& table : tables) {
    if (table.caption.find(words) != std::string::npos) return table;
  }
  ADD_FAILURE() << "no table about " << words;
  return {};
}

std::vector<Table> tables_of(const harness::ExperimentResult& result) {
  return sweep_tables(result, swept_presentation(), /*all_rows=*/false);
}

TEST(SweepSummary, NamesTheBestAndTheWorstPointOfEachCombinationOfTheOtherAxes) {
  const Table table = about(tables_of(swept_result()), "the shortest and the longest");
  EXPECT_NE(table.caption.find("32 points"), std::string::npos) << table.caption;
  ASSERT_EQ(table.rows.size(), 4U);
  using Row = std::vector<std::string>;
  EXPECT_EQ(row(table, 0), (Row{"64", "best", "100.0", "8GB/s", "10us", "1.00x", "launches"}));
  EXPECT_EQ(row(table, 1), (Row{"64", "worst", "800.0", "1GB/s", "80us", "8.00x", "launches"}));
  EXPECT_EQ(row(table, 2)[1], "best");
  EXPECT_EQ(row(table, 2)[0], "128");
}

TEST(SweepSummary, TheElasticityOfAPowerIsItsExponent) {
  // For size 64 the time is 800 us / bandwidth, or 10 us x latency if that is longer.
  harness::ExperimentResult power;
  power.experiment = "power";
  for (const double rate : {1.0, 2.0, 4.0, 8.0}) {
    for (const double delay : {10.0, 20.0}) {
      power.points.push_back(testing::swept_point("64", rate, delay, 1e-3 / std::sqrt(rate)));
    }
  }
  const Table table = about(tables_of(power), "elasticity");
  ASSERT_EQ(table.rows.size(), 2U);
  using Row = std::vector<std::string>;
  EXPECT_EQ(row(table, 0), (Row{"dram", "-0.500", "-0.500", "-0.500", "1GB/s", "8GB/s"}));
  EXPECT_EQ(row(table, 1), (Row{"delay", "0", "0", "0", "10us", "20us"}));
  ASSERT_EQ(table.notes.size(), 1U);
  EXPECT_NE(table.notes[0].find("ln(last time / first time)"), std::string::npos);
}

TEST(SweepSummary, AValueOfZeroHasNoElasticityAndBreaksNone) {
  harness::ExperimentResult result;
  for (const double delay : {0.0, 1.0, 2.0}) {
    result.points.push_back(testing::swept_point("64", 1, delay, 1e-6 * (1 + delay)));
  }
  const Table table = about(tables_of(result), "elasticity");
  ASSERT_EQ(table.rows.size(), 1U) << "one value of the other constant has none";
  EXPECT_EQ(row(table, 0)[1], "+0.585") << "ln(3/2) / ln(2)";
}

TEST(SweepSummary, SaysWhereTheBoundChanges) {
  const Table table = about(tables_of(swept_result()), "where what bounds the time changes");
  using Row = std::vector<std::string>;
  ASSERT_FALSE(table.rows.empty());
  // This is 640 us / bandwidth against ten times the delay of 10, 20, 40 and 80 us.
  EXPECT_EQ(row(table, 0), (Row{"64", "dram", "DRAM -> launches", "2GB/s", "8GB/s", "3 of 4"}));
}

TEST(SweepSummary, TheParetoFrontNamesItsMetricsAndHoldsNoDominatedPoint) {
  harness::ExperimentResult result = swept_result();
  for (harness::PointResult& point : result.points) {
    // Short times are known less well. That is nothing to trade time for.
    point.metrics.push_back({.name = "expected_error", .value = 1e-6 / point.metrics[0].value});
  }
  EXPECT_TRUE(std::ranges::none_of(tables_of(result), [](const Table& table) {
    return table.caption.find("Pareto") != std::string::npos;
  })) << "the rate follows the time, so that nothing trades";
  EXPECT_TRUE(tables_of(result).front().notes.back().starts_with("no Pareto front: "));
  for (harness::PointResult& point : result.points) {
    // Fast points are large, except for the fastest of size 64, which has a smaller equal.
    point.metrics.push_back({.name = "memory", .value = 1e3 / point.metrics[0].value, .unit = "B"});
  }
  const Table table = about(tables_of(result), "Pareto");
  EXPECT_NE(table.caption.find("time (less is better) and memory (less is better)"),
            std::string::npos)
      << table.caption;
  double last = 0;
  for (const TableRow& one : table.rows) {
    if (one.cells[0].text != "64") continue;
    EXPECT_GT(std::stod(one.cells[1].text), last);
    last = std::stod(one.cells[1].text);
  }
  EXPECT_EQ(last, 800);
}

TEST(SweepSummary, ALongTableIsCutUnlessAllIsWanted) {
  harness::ExperimentResult result;
  for (int size = 0; size < 100; ++size) {
    for (const double rate : {1.0, 2.0}) {
      result.points.push_back(testing::swept_point(std::to_string(size), rate, 1, 1e-3 / rate));
    }
  }
  const Table some = about(tables_of(result), "the shortest and the longest");
  EXPECT_EQ(some.rows.size(), 60U);
  EXPECT_EQ(some.notes.back(), "the first 60 of 200 rows; --all-rows shows all");
  EXPECT_EQ(about(sweep_tables(result, swept_presentation(), true), "the shortest").rows.size(),
            200U);
}

TEST(SweepSummary, WithoutSweptConstantsThereIsNone) {
  harness::Presentation plain = swept_presentation();
  plain.swept.clear();
  EXPECT_TRUE(sweep_tables(swept_result(), plain, false).empty());
  harness::ExperimentResult failed = swept_result();
  for (harness::PointResult& point : failed.points) point.metrics.clear();
  EXPECT_TRUE(tables_of(failed).empty());
}

}  // namespace
}  // namespace howard::reports
