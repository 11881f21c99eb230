// SPDX-License-Identifier: Apache-2.0
#include "reports/tables/row_sample.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "reports/tables/table.h"
#include "tests/reports/swept_result.h"

namespace howard::reports {
namespace {

using harness::ExperimentResult;
using harness::PointResult;
using testing::swept_point;

/// Returns 2000 points: two sizes, ten values of one constant and a hundred of the other.
ExperimentResult many_points() {
  ExperimentResult result{.experiment = "sweep", .context = {}, .points = {}};
  for (int dram = 1; dram <= 10; ++dram) {
    for (int delay = 1; delay <= 100; ++delay) {
      for (const int size : {64, 128}) {
        result.points.push_back(
            swept_point(std::to_string(size), dram, delay, 1e-6 * size * delay / dram));
      }
    }
  }
  return result;
}

RowSample sample_of(const ExperimentResult& result, const std::vector<std::string>& swept) {
  std::vector<const PointResult*> points;
  for (const PointResult& point : result.points) points.push_back(&point);
  return sample_rows(points, swept);
}

TEST(RowSample, SixtyPointsAreAllShownAndSixtyOneAreNot) {
  ExperimentResult result = many_points();
  result.points.resize(61);
  const RowSample cut = sample_of(result, {"dram", "delay"});
  EXPECT_EQ(cut.points.size(), 60U);
  EXPECT_TRUE(cut.note.starts_with("60 of 61 rows: ")) << cut.note;
  result.points.pop_back();
  const RowSample whole = sample_of(result, {"dram", "delay"});
  EXPECT_EQ(whole.points.size(), 60U);
  EXPECT_EQ(whole.note, "");
}

TEST(RowSample, TheFastestOfEachCombinationOfTheOtherAxesComeFirst) {
  const ExperimentResult result = many_points();
  const RowSample swept = sample_of(result, {"dram", "delay"});
  ASSERT_EQ(swept.points.size(), 60U);
  EXPECT_EQ(swept.points[0]->id(), "emulated/dram:10GB/s/delay:1us/size:64");
  EXPECT_EQ(swept.points[1]->id(), "emulated/dram:10GB/s/delay:1us/size:128");
  EXPECT_EQ(swept.note,
            "60 of 2000 rows: first the fastest of each size, then a sample of the others; "
            "--all-rows shows all, and JSON and CSV have them");
  const RowSample plain = sample_of(result, {});
  EXPECT_NE(plain.note.find("first the fastest, then"), std::string::npos) << plain.note;
}

TEST(RowSample, TheSampleHasManyValuesOfEveryAxis) {
  const ExperimentResult result = many_points();
  const RowSample sample = sample_of(result, {"dram", "delay"});
  for (const auto& [axis, least] :
       {std::pair("size", 2U), std::pair("dram", 10U), std::pair("delay", 30U)}) {
    std::set<std::string> values;
    for (const PointResult* const point : sample.points) {
      values.emplace(*harness::find_parameter(point->parameters, axis));
    }
    EXPECT_GE(values.size(), least) << axis;
  }
  EXPECT_TRUE(std::ranges::is_sorted(sample.points.begin() + 2, sample.points.end()))
      << "in the order of the plan";
}

TEST(RowSample, EveryPublishedRowIsShown) {
  ExperimentResult result = many_points();
  for (std::size_t i = 0; i < 90; ++i) result.points[i * 20].reference.emplace();
  const RowSample sample = sample_of(result, {});
  EXPECT_EQ(
      std::ranges::count_if(sample.points,
                            [](const PointResult* point) { return point->reference.has_value(); }),
      90);
  for (PointResult& point : result.points) point.reference.emplace();
  EXPECT_EQ(sample_of(result, {}).points.size(), 2000U);
}

TEST(RowSample, ATableKeepsTheColumnsAndTheCaptionOfAllPoints) {
  const ExperimentResult result = many_points();
  const harness::Presentation presentation = testing::swept_presentation();
  const Table some = make_tables(result, presentation, /*all_rows=*/false).at(0);
  const Table all = make_tables(result, presentation, /*all_rows=*/true).at(0);
  EXPECT_EQ(some.rows.size(), 60U);
  EXPECT_EQ(all.rows.size(), 2000U);
  EXPECT_EQ(some.columns.size(), all.columns.size());
  EXPECT_EQ(some.caption, all.caption);
  EXPECT_TRUE(some.notes.front().starts_with("60 of 2000 rows"));
  EXPECT_TRUE(all.notes.empty());
}

}  // namespace
}  // namespace howard::reports
