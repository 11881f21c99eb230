// SPDX-License-Identifier: Apache-2.0
#include "reports/pictures/plot_data.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tests/reports/sample_result.h"

namespace howard::reports {
namespace {

harness::PointResult point(const std::string& shape, const std::string& dtype, double size,
                           double rate) {
  return {.parameters = {{"shape", shape}, {"dispatch", "worker"}, {"dtype", dtype}},
          .metrics = {{.name = "size", .value = size, .unit = "1"},
                      {.name = "throughput", .value = rate, .unit = "FLOP/s"}}};
}

std::vector<std::string> titles(const std::vector<harness::PointResult>& points) {
  const harness::ExperimentResult result{.experiment = "x", .points = points};
  std::vector<std::string> list;
  for (const PlotSeries& series :
       collect_plot_data(result, testing::sample_presentation().plots[0]).series) {
    list.push_back(series.title);
  }
  return list;
}

TEST(PlotData, NamesLinesByTheAxesThatDiffer) {
  EXPECT_EQ(titles({point("1x1x1", "bf16", 1, 1), point("2x2x2", "bf16", 2, 1)}),
            std::vector<std::string>{"emulated"});
}

TEST(PlotData, SaysWhatANumberIsOf) {
  EXPECT_EQ(titles({point("1x1x1", "7", 1, 1), point("1x1x1", "8", 1, 2)}),
            (std::vector<std::string>{"dtype 7", "dtype 8"}));
}

TEST(PlotData, SeparatesPointsThatWouldStandAboveEachOther) {
  EXPECT_EQ(titles({point("1x1x1", "bf16", 1, 1), point("1x1x1", "fp32", 1, 2)}),
            (std::vector<std::string>{"bf16", "fp32"}));
}

/// Returns a point for each pair of values of two axes.
PlotData grid_of_lines(int rows, int columns) {
  harness::ExperimentResult result{.experiment = "x"};
  for (int row = 0; row < rows; ++row) {
    for (int column = 0; column < columns; ++column) {
      result.points.push_back(point(std::to_string(row), std::to_string(column), 1, 1 + row));
    }
  }
  return collect_plot_data(
      result, {.title = "t", .x = "size", .y = "throughput", .series = {"shape", "dtype"}});
}

std::size_t styles(const PlotData& data) {
  std::set<std::pair<std::size_t, std::size_t>> styles;
  for (const PlotSeries& series : data.series) styles.insert({series.color, series.dashes});
  return styles.size();
}

TEST(PlotData, NoTwoLinesHaveOneStyle) {
  EXPECT_EQ(styles(grid_of_lines(2, 4)), 8U) << "one more than there are colours";
  EXPECT_EQ(styles(grid_of_lines(1, 7)), 7U);
  EXPECT_EQ(styles(grid_of_lines(5, 7)), 35U);
  EXPECT_EQ(styles(grid_of_lines(6, 5)), 30U) << "no axis is left for so many dashes";
}

TEST(PlotData, LinesOfOneValueHaveOneColourWhereThereAreMoreThanColours) {
  for (const PlotSeries& series : grid_of_lines(2, 4).series) {
    EXPECT_EQ(series.title, fmt::format("shape {}, dtype {}", series.dashes, series.color));
  }
}

TEST(PlotData, ALineUnderAnotherIsKnown) {
  const PlotData data = collect_plot_data(
      {.experiment = "x",
       .points = {point("1", "bf16", 1, 1), point("1", "fp32", 1, 1.001), point("1", "bf8", 1, 2)}},
      {.title = "t", .x = "size", .y = "throughput", .series = {"dtype"}});
  EXPECT_EQ(data.series[0].covered, 1U);
  EXPECT_EQ(data.series[1].covered, 0U);
  EXPECT_EQ(data.series[2].covered, 0U);
}

TEST(PlotData, ATitleSaysWhatIsTrueOfAllPoints) {
  harness::Plot plot = testing::sample_presentation().plots[0];
  plot.notes = {{"dtype", "bf16", "in small numbers"}, {"dtype", "fp32", "in large ones"}};
  const auto title = [&](const std::string& second) {
    return collect_plot_data(
               {.experiment = "x", .points = {point("1", "bf16", 1, 1), point("2", second, 2, 1)}},
               plot)
        .title;
  };
  EXPECT_EQ(title("bf16"), plot.title + ", in small numbers");
  EXPECT_EQ(title("fp32"), plot.title);
}

TEST(PlotData, SortsALineAndLeavesOutWhatALogarithmHasNoPlaceFor) {
  const harness::ExperimentResult result{
      .experiment = "x",
      .points = {point("4x4x4", "bf16", 4, 3), point("0x0x0", "bf16", 0, 1),
                 point("3x3x3", "bf16", 3, 0), point("2x2x2", "bf16", 2, 5)}};
  const PlotData data = collect_plot_data(result, testing::sample_presentation().plots[0]);
  ASSERT_EQ(data.series.size(), 1U);
  ASSERT_EQ(data.series[0].points.size(), 2U);
  EXPECT_EQ(data.series[0].points[0].x, 2);
  EXPECT_EQ(data.series[0].points[1].x, 4);
}

}  // namespace
}  // namespace howard::reports
