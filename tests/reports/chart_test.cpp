// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "base/text.h"
#include "reports/pictures/bar_chart.h"
#include "reports/pictures/chart_points.h"
#include "reports/pictures/frame.h"
#include "reports/pictures/heat_map.h"
#include "reports/pictures/plot.h"

namespace howard::reports {
namespace {

namespace fs = std::filesystem;
using harness::Backend;
using harness::ExperimentResult;
using harness::PointResult;

/// Returns a step of `seconds`, of which a quarter is products and an eighth sums.
PointResult step(const std::string& layers, const std::string& dim, double seconds,
                 const std::string& dispatch = "worker") {
  return {.backend = Backend::emulated,
          .parameters = {{"layers", layers}, {"dim", dim}, {"dispatch", dispatch}},
          .metrics = {{.name = "time", .value = seconds, .unit = "s"},
                      {.name = "kernel_time.matmul", .value = seconds / 4, .unit = "s"},
                      {.name = "kernel_time.row_sum", .value = seconds / 8, .unit = "s"}}};
}

ExperimentResult steps() {
  return {.experiment = "steps",
          .points = {step("2", "256", 1e-3), step("16", "256", 8e-3), step("4", "256", 2e-3),
                     step("2", "512", 3e-3), step("2", "256", 4e-3, "eth")}};
}

class ChartTest : public ::testing::Test {
 protected:
  ~ChartTest() override { fs::remove_all(folder_); }

  std::string data(const std::string& name) const { return read_file(folder_ / (name + ".dat")); }
  std::string script(const std::string& name) const { return read_file(folder_ / (name + ".gp")); }

  fs::path folder_ = fs::temp_directory_path() /
                     ("howard charts " +
                      std::string(::testing::UnitTest::GetInstance()->current_test_info()->name()));
};

const harness::BarChart kBars{.title = "A step",
                              .label = "time",
                              .metric = "time",
                              .bars = {"layers", "dispatch"},
                              .parts = "kernel_time.",
                              .rest = "between kernels"};

TEST_F(ChartTest, PointsKeepTheFirstOnesValuesOnAxesTheChartHasNoRoomFor) {
  const ExperimentResult result = steps();
  const ChartPoints shown = chart_points(result, Backend::emulated, "time", {"layers"});
  EXPECT_EQ(shown.held, "dim 256, dispatch worker");
  ASSERT_EQ(shown.points.size(), 3U);
  EXPECT_EQ(shown.points[1], &result.points[1]);
  EXPECT_TRUE(chart_points(result, Backend::host, "time", {}).points.empty());
  EXPECT_TRUE(chart_points(result, Backend::emulated, "loss", {}).points.empty());
}

TEST_F(ChartTest, ABarIsItsPartsAndARestUpToItsTotal) {
  write_bar_chart(steps(), Backend::emulated, kBars, "bars", {folder_});
  // The columns are matmul, row_sum, no other kind, and the rest, in milliseconds.
  const std::string text = data("bars");
  EXPECT_NE(text.find("\"layers 2, worker\" 0.25 0.375 0.375 1 ? 0\n"), std::string::npos) << text;
  EXPECT_NE(text.find("\"layers 2, eth\" 1 1.5 1.5 4 ? 0\n"), std::string::npos) << text;
  EXPECT_EQ(text.find("512"), std::string::npos) << text;
  EXPECT_NE(script("bars").find("set label 'A step, emulated (dim 256)' at"), std::string::npos);
  EXPECT_NE(script("bars").find("set label 'row sum' at screen"), std::string::npos);
}

/// Says where the plot ends and where each text beside it begins, as shares of the picture's width.
struct Beside {
  double margin = 0;
  std::vector<double> texts;
};

constexpr PictureSize kWide{.width = 1200, .height = 600};

Beside beside(const std::string& script) {
  Beside found;
  for (const std::string& line : split(script, '\n')) {
    const auto number_behind = [&](std::string_view word) {
      return std::stod(line.substr(line.find(word) + word.size()));
    };
    if (line.starts_with("set rmargin")) found.margin = number_behind("at screen ");
    if (!line.starts_with("set label '") || line.find("first") == std::string::npos) continue;
    if (number_behind("at screen ") <= found.margin) continue;  // a name
    const std::size_t letters = line.find('\'', 11) - 11;
    EXPECT_NE(line.find(" right "), std::string::npos) << line;
    found.texts.push_back(number_behind("at screen ") -
                          drawn_width(line.substr(11, letters)) / kWide.width);
  }
  return found;
}

TEST_F(ChartTest, APublishedFigureThatIsAnArtefactHasTheMarkOfTables) {
  ExperimentResult result = steps();
  result.points[0].reference =
      harness::Reference{.metric = "time", .value = 2e-3, .unit = "s", .status = "prediction"};
  const auto told = bar_picture(result, Backend::emulated, kBars, "");
  ASSERT_TRUE(told.has_value());
  EXPECT_EQ(told->headings.at(1), "published");
  EXPECT_EQ(told->rows.at(0).cells.at(1), "2.000");
  result.points[0].reference->status = "artefact";
  const auto marked = bar_picture(result, Backend::emulated, kBars, "");
  EXPECT_EQ(marked->headings.at(1), "published (* artefact)");
  EXPECT_EQ(marked->rows.at(0).cells.at(1), "* 2.000");
}

TEST_F(ChartTest, NumbersStandBesideThePlotWhereNoBarAndNoPublishedFigureCanBe) {
  ExperimentResult result = steps();
  result.points[0].reference = {
      .metric = "time", .value = 2e-3, .unit = "s", .status = "prediction"};
  write_bar_chart(result, Backend::emulated, kBars, "bars", {.folder = folder_, .size = kWide});
  EXPECT_NE(data("bars").find("\"layers 2, worker\" 0.25 0.375 0.375 1 2 0\n"), std::string::npos)
      << data("bars");
  const std::string text = script("bars");
  const Beside found = beside(text);
  EXPECT_EQ(found.texts.size(), 3U + 4U + 2U) << "headings, times, a published one and its error";
  for (const double begins : found.texts) EXPECT_GT(begins, found.margin) << text;
  for (const char* const cell :
       {"'emulated (ms)'", "'published'", "'1.000'", "'2.000'", "'-50.0'"}) {
    EXPECT_NE(text.find(std::string("set label ") + cell), std::string::npos) << cell << text;
  }
}

TEST_F(ChartTest, ABarManyTimesAsLongAsTheOthersIsBrokenAndHasItsNumbers) {
  ExperimentResult result = steps();
  result.points[1].metrics[0].value = 1;
  result.points[1].reference = {
      .metric = "time", .value = 0.9, .unit = "s", .status = "prediction"};
  write_bar_chart(result, Backend::emulated, kBars, "bars", {folder_});
  const std::string text = script("bars");
  EXPECT_NE(text.find("set label '1000.000' at screen"), std::string::npos) << text;
  EXPECT_NE(text.find("set label '900.000' at screen"), std::string::npos) << text;
  // There are two white lines across the second bar, and none across another.
  std::size_t lines = 0;
  for (const std::string& line : split(text, '\n')) {
    if (!line.starts_with("set arrow")) continue;
    if (line.find("screen") != std::string::npos) continue;
    EXPECT_NE(line.find(", 1.34 to "), std::string::npos) << line;
    EXPECT_NE(line.find(", 0.66 nohead front lw 3 lc rgb '#ffffff'"), std::string::npos) << line;
    ++lines;
  }
  EXPECT_EQ(lines, 2U) << text;
}

TEST_F(ChartTest, AChartOfManyBarsIsHigher) {
  ExperimentResult many;
  for (int i = 1; i <= 40; ++i) many.points.push_back(step(std::to_string(i), "256", 1e-3));
  write_bar_chart(many, Backend::emulated, kBars, "many", {folder_});
  const auto height = [&] {
    const std::string text = script("many");
    const std::string size = "pngcairo size 900,";
    return std::stoi(text.substr(text.find(size) + size.size()));
  };
  EXPECT_GT(height(), 40 * 24) << script("many");
  const auto draw = [&](int high) {
    write_bar_chart(many, Backend::emulated, kBars, "many",
                    {.folder = folder_, .size = PictureSize{.width = 900, .height = high}});
    return height();
  };
  EXPECT_EQ(draw(1500), 1500) << "as was asked";
  EXPECT_GT(draw(300), 40 * 18) << "less has no room for the names";
}

TEST_F(ChartTest, InANarrowPictureNamesStandAboveTheirBars) {
  ExperimentResult result = steps();
  result.points[0].reference = {
      .metric = "time", .value = 2e-3, .unit = "s", .status = "prediction"};
  write_bar_chart(result, Backend::emulated, kBars, "bars",
                  {.folder = folder_, .size = PictureSize{.width = 400, .height = 300}});
  const Beside found = beside(script("bars"));
  EXPECT_GT(found.margin, 0.9) << "the plot has the width" << script("bars");
  EXPECT_NE(script("bars").find("set label 'layers 2, worker' at screen 0.03, first -0."),
            std::string::npos)
      << script("bars");
}

TEST_F(ChartTest, BarsOfASmallModelAreSharesOfItsOwnLongest) {
  harness::BarChart chart = kBars;
  chart.bars = {"layers", "dim"};
  chart.scaled_by = "dim";
  write_bar_chart(steps(), Backend::emulated, chart, "bars", {folder_});
  EXPECT_NE(data("bars").find("\"layers 16, dim 256\" 25 37.5 37.5 100 ? 0\n"), std::string::npos)
      << data("bars");
  EXPECT_NE(data("bars").find("\"layers 2, dim 512\" 25 37.5 37.5 100 ? 0\n"), std::string::npos)
      << data("bars");
}

TEST_F(ChartTest, BarsWithoutTheUsualDetailArePale) {
  ExperimentResult result = steps();
  result.points[1].details = {{"fits", "over by 2 GB"}};
  harness::BarChart chart = kBars;
  chart.pale_unless = {"fits", "yes", "does not fit"};
  write_bar_chart(result, Backend::emulated, chart, "bars", {folder_});
  EXPECT_NE(data("bars").find("\"layers 16, worker\" 2 3 3 8 ? 1\n"), std::string::npos)
      << data("bars");
  EXPECT_NE(script("bars").find("set label 'pale: does not fit' at"), std::string::npos);
}

TEST_F(ChartTest, ALengthToCompareWithIsALine) {
  harness::BarChart chart = kBars;
  chart.line = 2e-3;
  write_bar_chart(steps(), Backend::emulated, chart, "bars", {folder_});
  EXPECT_NE(script("bars").find("set arrow from 2, graph 0 to 2, graph 1"), std::string::npos);
}

TEST_F(ChartTest, SharesMakeAllBarsAsLong) {
  harness::BarChart shares = kBars;
  shares.shares = true;
  write_bar_chart(steps(), Backend::emulated, shares, "bars", {folder_});
  EXPECT_NE(data("bars").find("\"layers 2, worker\" 25 37.5 37.5 100 ? 0\n"), std::string::npos)
      << data("bars");
}

TEST_F(ChartTest, MoreBarsThanNamesFitAreNotDrawn) {
  ExperimentResult many;
  for (int i = 1; i <= 41; ++i) many.points.push_back(step(std::to_string(i), "256", 1e-3));
  EXPECT_TRUE(write_bar_chart(many, Backend::emulated, kBars, "bars", {folder_}).written.empty());
  many.points.pop_back();
  EXPECT_FALSE(write_bar_chart(many, Backend::emulated, kBars, "bars", {folder_}).written.empty());
}

const harness::HeatMap kMap{.title = "A step",
                            .x_label = "width",
                            .y_label = "layers",
                            .x = "dim",
                            .y = "layers",
                            .metric = "time",
                            .label = "time"};

TEST_F(ChartTest, AHeatMapHasACellForEachPointInTheOrderOfTheNumbers) {
  write_heat_map(steps(), Backend::emulated, kMap, "map", {folder_});
  // The rows are 2, 4, 16; the columns are 256, 512.
  const std::string text = data("map");
  EXPECT_NE(text.find("\n0 0 1 \"1.000\"\n"), std::string::npos) << text;
  EXPECT_NE(text.find("\n0 2 8 \"8.000\"\n"), std::string::npos) << text;
  EXPECT_NE(text.find("\n0 1 2 \"2.000\"\n"), std::string::npos) << text;
  EXPECT_NE(text.find("\n1 0 3 \"3.000\"\n"), std::string::npos) << text;
  EXPECT_EQ(text.find("\"4.000\""), std::string::npos) << text;
  EXPECT_NE(script("map").find("set ytics ('2' 0, '4' 1, '16' 2)"), std::string::npos);
  EXPECT_NE(script("map").find("set label 'time (ms)' at"), std::string::npos);
  EXPECT_NE(script("map").find("set cbrange [1:10]"), std::string::npos);
}

TEST_F(ChartTest, CellsTooNarrowForTheirNumbersHaveNone) {
  ExperimentResult many;
  for (int i = 1; i <= 24; ++i) {
    for (const char* const layers : {"2", "4"}) {
      many.points.push_back(step(layers, std::to_string(i), 1e-3));
    }
  }
  write_heat_map(many, Backend::emulated, kMap, "map", {folder_});
  EXPECT_EQ(script("map").find("with labels"), std::string::npos) << script("map");
  std::erase_if(many.points, [](const PointResult& point) {
    return point.parameters[1].second.size() == 2;  // dim
  });
  write_heat_map(many, Backend::emulated, kMap, "map", {folder_});
  EXPECT_NE(script("map").find("with labels"), std::string::npos) << script("map");
}

TEST_F(ChartTest, AMapOfOneRowIsNotDrawn) {
  ExperimentResult row = steps();
  std::erase_if(row.points,
                [](const PointResult& point) { return point.parameters[0].second != "2"; });
  EXPECT_TRUE(write_heat_map(row, Backend::emulated, kMap, "map", {folder_}).written.empty());
}

TEST_F(ChartTest, PicturesAreNumberedPlotsFirst) {
  const PlotFiles files =
      write_plots(steps(), {.plots = {}, .bar_charts = {kBars}, .heat_maps = {kMap}}, {folder_});
  EXPECT_EQ(files.written.front().filename(), "steps.dat");
  EXPECT_TRUE(fs::exists(folder_ / "steps_2.dat"));
  EXPECT_FALSE(fs::exists(folder_ / "steps_3.dat"));
}

}  // namespace
}  // namespace howard::reports
