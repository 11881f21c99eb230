// SPDX-License-Identifier: Apache-2.0
#include "reports/tables/table_csv.h"

#include <gtest/gtest.h>

#include <string>

namespace howard::reports {
namespace {

TEST(TableCsv, HasTitlesWithUnitsQuotesAndReasons) {
  const Table table{
      .caption = "c",
      .columns = {{.title = "shape"}, {.title = "time", .unit = "us", .number = true}},
      .rows = {{.cells = {{"1, 2"}, {"78.4"}}},
               {.cells = {{"3"}, {""}}, .skipped = "failed: \"no\" room"}},
      .notes = {"a note"}};
  EXPECT_EQ(table_csv(table), "shape,time (us)\n\"1, 2\",78.4\n3,\"failed: \"\"no\"\" room\"\n");
}

/// A spreadsheet would compute them, and what it computes may start a program.
TEST(TableCsv, NoTextOfAFileIsAFormulaOrDrivesATerminal) {
  const auto cell = [](const std::string& text) {
    return table_csv({.caption = {},
                      .columns = {{.title = "n"}},
                      .rows = {{.cells = {{text}}}},
                      .notes = {}})
        .substr(2);
  };
  EXPECT_EQ(cell("=1+1"), "'=1+1\n");
  EXPECT_EQ(cell("@SUM(A1)"), "'@SUM(A1)\n");
  EXPECT_EQ(cell("-2+3+cmd|' /C calc'!A0"), "'-2+3+cmd|' /C calc'!A0\n");
  EXPECT_EQ(cell("+A1"), "'+A1\n");
  EXPECT_EQ(cell("a\x1b[2Jb"), "a [2Jb\n");
  for (const std::string same : {"-", "-3.5", "+2.5 %", "-1e-05", "+12", "a=b", "-12.5 GB"}) {
    EXPECT_EQ(cell(same), same + "\n");
  }
}

}  // namespace
}  // namespace howard::reports
