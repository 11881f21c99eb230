// SPDX-License-Identifier: Apache-2.0
#include "reports/findings/run_summary.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "reports/tables/terminal_table.h"
#include "tests/reports/sample_result.h"

namespace howard::reports {
namespace {

using harness::ExperimentResult;

/// Returns a point whose time is `error` off the published one.
harness::PointResult point(double error, const std::string& status) {
  harness::PointResult result;
  result.metrics = {{.name = "time", .value = 1 + error, .unit = "s"}};
  result.reference = {{.metric = "time", .value = 1, .unit = "s", .status = status}};
  return result;
}

TEST(RunSummary, CountsPublishedRowsByHowTheyWereMet) {
  ExperimentResult result{.experiment = "e"};
  result.points = {point(0.05, "prediction"), point(-0.09, "calibration"), point(0.3, "prediction"),
                   point(5, "artefact"), harness::PointResult{}};
  result.points.back().failed = true;
  const ExperimentSummary summary = summarise(result);
  EXPECT_EQ(summary.points, 5U);
  EXPECT_EQ(summary.failed, 1U);
  EXPECT_EQ(summary.published, 4U);
  EXPECT_EQ(summary.reproduced, 2U);
  EXPECT_EQ(summary.predictions, 2U);
  EXPECT_EQ(summary.artefacts, 1U);
  EXPECT_EQ(summary.compared, 3U) << "an artefact says nothing about the emulator";
  EXPECT_NEAR(summary.error_sum, 0.44, 1e-12);
}

TEST(RunSummary, TheLastRowIsTheSum) {
  const std::vector<ExperimentResult> results{
      {.experiment = "one", .points = {point(0.05, "prediction")}},
      {.experiment = "two", .points = {point(0.3, "prediction"), point(0.2, "prediction")}}};
  const Table table = summary_table(results, {1, 2});
  ASSERT_EQ(table.rows.size(), 3U);
  std::vector<std::string> last;
  for (const Cell& cell : table.rows.back().cells) last.push_back(cell.text);
  EXPECT_EQ(last, (std::vector<std::string>{"all", "3", "3", "3", "1", "18.3", "3", "0", "3.000"}));
  const Table without = summary_table(results, {});
  EXPECT_EQ(without.columns.size() + 1, table.columns.size()) << "times are not known";
}

TEST(RunSummary, NothingPublishedIsNoErrorOfZero) {
  const std::vector<ExperimentResult> results{{.experiment = "one", .points = {{}}}};
  const std::string text = terminal_table(summary_table(results, {}), {});
  for (const char* const column : {"error", "predicted", "within", "how far"}) {
    EXPECT_EQ(text.find(column), std::string::npos) << text;
  }
}

}  // namespace
}  // namespace howard::reports
