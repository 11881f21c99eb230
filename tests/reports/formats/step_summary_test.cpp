// SPDX-License-Identifier: Apache-2.0
#include "reports/formats/step_summary.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/reports/sample_result.h"

namespace howard::reports {
namespace {

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(StepSummary, SaysWhatFailedAndHowFarItIsBeforeTheTables) {
  const std::vector<harness::ExperimentResult> results{testing::sample_result()};
  const Table table{.caption = "verdicts", .columns = {{.title = "t"}}, .rows = {}, .notes = {}};
  const std::string text = step_summary(summary_of_results(results, {table}, {table}));
  EXPECT_TRUE(text.starts_with("### Performance: 1 experiment, 5 points, 1 failed\n\n- ")) << text;
  EXPECT_TRUE(has(text, " failed at "));
  EXPECT_LT(text.find(" failed at "), text.find("verdicts"));
}

TEST(StepSummary, FitsIntoWhatGithubTakesAndSaysWhatIsLeftOut) {
  Table table{.caption = "long", .columns = {{.title = "t"}}, .rows = {}, .notes = {}};
  for (int i = 0; i < 1000; ++i) table.rows.push_back({.cells = {{std::string(100, 'x')}}});
  const std::string text =
      step_summary({.headline = "h", .sentences = {}, .tables = std::vector(100, table)});
  EXPECT_LT(text.size(), std::size_t{1} << 20);
  EXPECT_TRUE(has(text, "800 more rows are not shown"));
  EXPECT_TRUE(has(text, "Tables that did not fit: "));
}

}  // namespace
}  // namespace howard::reports
