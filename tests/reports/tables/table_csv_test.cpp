// SPDX-License-Identifier: Apache-2.0
#include "reports/tables/table_csv.h"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace howard::reports
