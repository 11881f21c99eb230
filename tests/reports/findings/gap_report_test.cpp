// SPDX-License-Identifier: Apache-2.0
#include "reports/findings/gap_report.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "base/file.h"
#include "reports/findings/gap_names.h"
#include "reports/pictures/gnuplot.h"
#include "reports/tables/terminal_table.h"

namespace howard::reports {
namespace {

using profiler::LaneKind;
using profiler::Timeline;

profiler::Span us(std::int64_t start, std::int64_t end) {
  return {SimTime::microseconds(start), SimTime::microseconds(end)};
}

/// Returns two programs on each of two sub-devices, beside each other.
Timeline sample() {
  Timeline timeline{.losses = 7};
  const auto add = [&](std::string_view name, std::uint16_t sub_device, profiler::Span kernel,
                       profiler::Span dispatch, profiler::Span call) {
    timeline.programs.push_back({.name = timeline.names.id(name),
                                 .sub_device = sub_device,
                                 .kernel = kernel,
                                 .dispatch = dispatch,
                                 .host_call = call});
  };
  add("matmul", 0, us(0, 100), us(0, 0), us(0, 0));
  add("add", 0, us(140, 200), us(130, 138), us(110, 130));
  add("matmul", 1, us(50, 150), us(0, 10), us(0, 0));
  add("exp", 1, us(250, 260), us(140, 150), us(130, 140));
  timeline.activities.push_back({.occupation = profiler::Occupation::finish, .span = us(90, 110)});
  return timeline;
}

std::string text(const Table& table) { return terminal_table(table, {}); }

TEST(GapReport, ShowsTheCausesTheLargestFirst) {
  const Timeline timeline = sample();
  const Table table = causes_table(profiler::find_gaps(timeline, LaneKind::sub_device));
  std::vector<std::string> causes;
  for (const TableRow& row : table.rows) {
    causes.push_back(row.cells[0].text + " " + row.cells[1].text + " " + row.cells[2].text);
  }
  EXPECT_EQ(causes, (std::vector<std::string>{"go latency 102.000 72.9", "host issuing 20.000 14.3",
                                              "finish 10.000 7.1", "dispatch 8.000 5.7"}));
}

TEST(GapReport, ShowsTheLargestPairsAndTheRest) {
  const Timeline timeline = sample();
  const auto lanes = profiler::find_gaps(timeline, LaneKind::sub_device);
  const Table table = op_pairs_table(timeline, lanes, 1);
  ASSERT_EQ(table.rows.size(), 2U);
  EXPECT_EQ(table.rows[0].cells[0].text, "matmul");
  EXPECT_EQ(table.rows[0].cells[1].text, "exp");
  EXPECT_EQ(table.rows[1].cells[0].text, "other pairs: 1");
  EXPECT_EQ(op_pairs_table(timeline, lanes, 2).rows[1].cells[1].text, "add");
}

TEST(GapReport, NamesBoundsInTheirUnits) {
  EXPECT_EQ(bound_name(SimTime::picoseconds(5)), "5 ps");
  EXPECT_EQ(bound_name(SimTime::nanoseconds(200)), "200 ns");
  EXPECT_EQ(bound_name(SimTime::microseconds(1000)), "1 ms");
  EXPECT_EQ(bound_name(SimTime::microseconds(1'000'000) * 20'000), "20000 s");
}

TEST(GapReport, OfNothingIsEmptyTables) {
  const Timeline timeline;
  EXPECT_TRUE(causes_table({}).rows.empty());
  EXPECT_TRUE(op_pairs_table(timeline, {}, 3).rows.empty());
  EXPECT_TRUE(gap_lengths_table({}).rows.empty());
  EXPECT_NE(text(causes_table({})), "");
}

class GapPlots : public ::testing::Test {
 protected:
  GapPlots() { std::filesystem::create_directories(folder()); }
  ~GapPlots() override { std::filesystem::remove_all(folder()); }

  static std::filesystem::path folder() {
    return std::filesystem::temp_directory_path() /
           ("howard gap plots " +
            std::string(::testing::UnitTest::GetInstance()->current_test_info()->name()));
  }
};

TEST_F(GapPlots, HaveTheNumbersBesideThem) {
  const auto lanes = profiler::find_gaps(sample(), LaneKind::sub_device);
  const PlotFiles files = write_gap_plots(lanes, LaneKind::sub_device, "run", "a run", {folder()});
  EXPECT_EQ(read_file(folder() / "run_gaps.dat"),
            "# columns: shortest of the bin | % of the gaps | % of the idle time\n"
            "\"20 us\" 50 28.57142857\n"
            "\"50 us\" 0 0\n"
            "\"100 us\" 50 71.42857143\n");
  EXPECT_EQ(read_file(folder() / "run_causes.dat"),
            "# columns: bar | end of each part | published; ? is none | 1 if it is pale\n"
            "\"sub-device 0\" 160 162 182 192 200 ? 0\n"
            "\"sub-device 1\" 110 210 210 210 210 ? 0\n");
  if (!find_gnuplot()) GTEST_SKIP() << "no gnuplot on PATH";
  EXPECT_EQ(files.not_rendered, "");
  EXPECT_EQ(files.written.size(), 8U);
  const std::string svg = read_file(folder() / "run_causes.svg");
  for (const char* word : {"go latency", "busy", "sub-device 1", "time (us)"}) {
    EXPECT_NE(svg.find(word), std::string::npos) << word;
  }
}

TEST_F(GapPlots, OfNothingAreNone) {
  EXPECT_TRUE(write_gap_plots({}, LaneKind::queue, "run", "a run", {folder()}).written.empty());
  EXPECT_TRUE(std::filesystem::is_empty(folder()));
}

}  // namespace
}  // namespace howard::reports
