// SPDX-License-Identifier: Apache-2.0
#include "reports/tables/table.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/text.h"
#include "reports/tables/cell_text.h"
#include "reports/tables/markdown.h"
#include "reports/tables/terminal_table.h"
#include "tests/reports/sample_result.h"

namespace howard::reports {
namespace {

std::vector<Table> sample_tables() {
  return make_tables(testing::sample_result(), testing::sample_presentation());
}

std::vector<std::string> titles(const Table& table) {
  std::vector<std::string> list;
  for (const TableColumn& column : table.columns) list.push_back(column.title);
  return list;
}

/// Returns a table whose rows have texts that name their point, a number, and a command to copy.
Table wide_table() {
  using harness::Room;
  Table table{.columns = {{.title = "change"},
                          {.title = "time", .unit = "us", .number = true, .room = Room::key},
                          {.title = "a remark of many words"},
                          {.title = "how", .room = Room::whole}}};
  for (const char* const dispatch : {"eth", "worker"}) {
    table.rows.push_back(
        {.cells = {{std::string("matmul/shape:1024x1024x1024/dispatch:") + dispatch},
                   {"12.5"},
                   {"a remark that says much and matters little"},
                   {std::string("-a shape=1024x1024x1024 -a dispatch=") + dispatch}},
         .skipped = ""});
  }
  return table;
}

TEST(TerminalTable, At80Columns) {
  EXPECT_EQ(terminal_table(sample_tables()[0], {.width = 80}),
            R"(sample_sweep: emulated device, virtual time, dtype bfloat16

shape                 dispatch     time  published  error  bound by
                                     us         us      %
--------------------  --------  -------  ---------  -----  -----------------
128x128x128           worker      95.00      88.82   +7.0  host and dispatch
4096x4096x4096        eth       2610.50  * 1974.64  +32.2  math
100000x100000x100000  worker    failed: cannot allocate 20 GB: 12 GB of DRAM, "…
64x64x64              eth       skipped: no such grid

not shown in 80 columns: rate, of peak, sample configuration
100000x100000x100000 worker failed: cannot allocate 20 GB: 12 GB of DRAM, "all"
  of it free
interrupted: some points are missing
* artefact: first run of a cold process (shape 4096x4096x4096, dispatch eth)
warning: the profile is not the default one (shape 4096x4096x4096, dispatch eth)
)");
}

TEST(TerminalTable, At120Columns) {
  EXPECT_EQ(terminal_table(sample_tables()[0], {.width = 120}),
            R"(sample_sweep: emulated device, virtual time, dtype bfloat16

                                                   of
shape                 dispatch     time    rate  peak  published  error  bound by           sample configuration
                                     us  TFLOPS     %         us      %
--------------------  --------  -------  ------  ----  ---------  -----  -----------------  ----------------------------
128x128x128           worker      95.00   0.044  0.04      88.82   +7.0  host and dispatch  2D multicast on 4x4 cores, …
4096x4096x4096        eth       2610.50  52.600  40.1  * 1974.64  +32.2  math               2D multicast on 8x8 cores, …
100000x100000x100000  worker    failed: cannot allocate 20 GB: 12 GB of DRAM, "all" of it free
64x64x64              eth       skipped: no such grid

interrupted: some points are missing
* artefact: first run of a cold process (shape 4096x4096x4096, dispatch eth)
warning: the profile is not the default one (shape 4096x4096x4096, dispatch eth)
)");
}

TEST(TerminalTable, ShowsTheIntervalOfRepeatedMeasurements) {
  EXPECT_EQ(terminal_table(sample_tables()[1], {}), R"(sample_sweep: host CPU, wall time

shape        dtype             time          rate
                                 us        GFLOPS
-----------  --------  ------------  ------------
128x128x128  bfloat16  104.0 ±5.8 %  40.30 ±5.5 %

interrupted: some points are missing
warning: OMP_NUM_THREADS=1 is set
)");
}

TEST(MarkdownTable, IsATableAndAList) {
  EXPECT_EQ(markdown_table(sample_tables()[0]),
            R"(**sample_sweep: emulated device, virtual time, dtype bfloat16**

| shape          | dispatch | time (us) | rate (TFLOPS) | of peak (%) | published (us) | error (%) | bound by          | sample configuration                               |
| -------------- | -------- | --------: | ------------: | ----------: | -------------: | --------: | ----------------- | -------------------------------------------------- |
| 128x128x128    | worker   |     95.00 |         0.044 |        0.04 |          88.82 |      +7.0 | host and dispatch | 2D multicast on 4x4 cores, block 1x1, k block 1    |
| 4096x4096x4096 | eth      |   2610.50 |        52.600 |        40.1 |     \* 1974.64 |     +32.2 | math              | 2D multicast on 8x8 cores, block 16x16, k block 16 |
| 100000x100000x100000 | worker   | failed: cannot allocate 20 GB: 12 GB of DRAM, "all" of it free |               |             |                |           |                   |                                                    |
| 64x64x64       | eth      | skipped: no such grid |               |             |                |           |                   |                                                    |

- interrupted: some points are missing
- \* artefact: first run of a cold process (shape 4096x4096x4096, dispatch eth)
- warning: the profile is not the default one (shape 4096x4096x4096, dispatch eth)
)");
}

TEST(TerminalTable, NeverExceedsTheWidthOfTheTerminal) {
  for (int width = 40; width < 200; ++width) {
    for (const Table& table : sample_tables()) {
      for (const std::string& line : split(terminal_table(table, {.width = width}), '\n')) {
        EXPECT_LE(display_width(line), static_cast<std::size_t>(width)) << line;
      }
    }
  }
}

TEST(TerminalTable, WithoutAWidthShowsEverything) {
  const std::string text = terminal_table(sample_tables()[0], {});
  EXPECT_NE(text.find("2D multicast on 8x8 cores, block 16x16, k block 16\n"), std::string::npos);
  EXPECT_EQ(text.find("not shown"), std::string::npos);
}

TEST(TerminalTable, ColoursErrorsOnlyWhenAsked) {
  EXPECT_EQ(terminal_table(sample_tables()[0], {}).find('\x1b'), std::string::npos);
  const std::string text = terminal_table(sample_tables()[0], {.color = true});
  EXPECT_NE(text.find("\x1b[32m +7.0\x1b[0m"), std::string::npos) << text;
  EXPECT_NE(text.find("\x1b[31mfailed: "), std::string::npos) << text;
}

TEST(TerminalTable, LinesThatGoOnEndWithoutSpacesInColourToo) {
  Table table = wide_table();
  for (TableRow& row : table.rows) row.cells.back().tone = Tone::good;
  for (const std::string& line : split(terminal_table(table, {.width = 90, .color = true}), '\n')) {
    const bool goes_on = line.starts_with("  ");
    EXPECT_FALSE(goes_on && (line.ends_with(' ') || line.ends_with(" \x1b[0m"))) << line;
  }
}

TEST(TerminalTable, QuotedInputCannotDriveTheTerminal) {
  harness::ExperimentResult result = testing::sample_result();
  result.points[2].skipped = "bad \x1b[2J value\nsecond line";
  const std::string text =
      terminal_table(make_tables(result, testing::sample_presentation())[0], {});
  EXPECT_NE(text.find("failed: bad  [2J value second line\n"), std::string::npos) << text;
}

TEST(Table, LeavesOutColumnsWithoutValuesAndCommonAxes) {
  const std::vector<Table> tables = sample_tables();
  EXPECT_EQ(titles(tables[0]),
            (std::vector<std::string>{"shape", "dispatch", "time", "rate", "of peak", "published",
                                      "error", "bound by", "sample configuration"}));
  EXPECT_EQ(titles(tables[1]), (std::vector<std::string>{"shape", "dtype", "time", "rate"}));
}

TEST(Table, PublishedFiguresHaveTheirUnitThoughAllPointsWereSkipped) {
  harness::ExperimentResult result = testing::sample_result();
  result.points.resize(2);
  for (harness::PointResult& point : result.points) {
    point.metrics.clear();
    point.skipped = "no such grid";
  }
  const Table table = make_tables(result, testing::sample_presentation())[0];
  const auto published = std::ranges::find(table.columns, "published", &TableColumn::title);
  ASSERT_NE(published, table.columns.end());
  EXPECT_EQ(published->unit, "us");
  EXPECT_EQ(table.rows[0].cells[static_cast<std::size_t>(published - table.columns.begin())].text,
            "88.82");
}

TEST(Table, WhatIsComparedIsInTheUnitOfThePublishedFigure) {
  harness::ExperimentResult result = testing::sample_result();
  result.points.resize(1);
  harness::PointResult& point = result.points[0];
  point.reference->value = 2 * point.find_metric("time")->value;
  const harness::Presentation presentation{
      .columns = {{"emulated", harness::CellSource::compared},
                  {"published", harness::CellSource::reference}}};
  const auto shown = [&] {
    const Table table = make_tables(result, presentation)[0];
    EXPECT_EQ(table.columns[0].unit, table.columns[1].unit);
    return std::pair(parse_number(table.rows[0].cells[0].text).value_or(0),
                     parse_number(table.rows[0].cells[1].text).value_or(0));
  };
  EXPECT_NEAR(shown().second, 2 * shown().first, 0.02);
  point.reference->metric = "throughput";
  EXPECT_NE(shown().first, 0) << "the point's rate, and not its time";
  point.reference->metric = "nothing";
  const Table table = make_tables(result, presentation)[0];
  ASSERT_EQ(table.columns.size(), 1U) << "an empty column is left out";
  EXPECT_EQ(table.columns[0].title, "published");
}

TEST(Table, AnAxisThatVariesHasAColumnThoughThePresentationNamesNone) {
  harness::ExperimentResult result = testing::sample_result();
  result.points.resize(2);
  result.points[0].parameters.emplace_back("sync", "each");
  result.points[1].parameters.emplace_back("sync", "end");
  for (harness::PointResult& point : result.points) point.parameters.emplace_back("trace", "yes");
  const Table table = make_tables(result, testing::sample_presentation())[0];
  EXPECT_EQ(titles(table),
            (std::vector<std::string>{"shape", "dispatch", "sync", "time", "rate", "of peak",
                                      "published", "error", "bound by", "sample configuration"}));
  EXPECT_EQ(table.rows[1].cells[2].text, "end");
}

TEST(Table, AChipThatAPointChoseHasAColumnThoughThePresentationNamesNone) {
  harness::ExperimentResult result = testing::sample_result();
  result.points[1].own_chip = {.chip = {"blackhole_p150", {}}, .software = {"s", {}}};
  const Table table = make_tables(result, testing::sample_presentation())[0];
  ASSERT_EQ(table.columns[2].title, "chip");
  EXPECT_EQ(table.rows[0].cells[2].text, "");
  EXPECT_EQ(table.rows[1].cells[2].text, "blackhole_p150");
}

TEST(TerminalTable, AReasonThatFitsNoRowIsSaidOnceForAllThatHaveIt) {
  const std::string reason = "skipped: a reason that is longer than the terminal is wide";
  Table table{.columns = {{.title = "size"}}, .rows = {{.cells = {{"1"}}, .skipped = reason}}};
  const auto text = [&] { return terminal_table(table, {.width = 40}); };
  EXPECT_NE(text().find("\n1 skipped: a reason that is longer than\n"), std::string::npos)
      << text();
  table.rows.push_back({.cells = {{"2"}}, .skipped = reason});
  EXPECT_NE(text().find("\n2 rows skipped: a reason that is longer\n"), std::string::npos)
      << text();
  EXPECT_EQ(text().find("\n1 skipped: a reason that is longer than\n"), std::string::npos);
}

TEST(TerminalTable, KeysAreWrappedAndOtherTextsCut) {
  EXPECT_EQ(terminal_table(wide_table(), {.width = 90}), R"(

                              a remark of many
change                  time  words             how
                          us
----------------------  ----  ----------------  ------------------------------------------
matmul/shape:           12.5  a remark that s…  -a shape=1024x1024x1024 -a dispatch=eth
  1024x1024x1024/
  dispatch:eth
matmul/shape:           12.5  a remark that s…  -a shape=1024x1024x1024 -a dispatch=worker
  1024x1024x1024/
  dispatch:worker
)");
}

TEST(TerminalTable, WhatIsToBeCopiedIsWhole) {
  for (int width = 60; width < 130; ++width) {
    const std::string text = terminal_table(wide_table(), {.width = width});
    EXPECT_NE(text.find("-a shape=1024x1024x1024 -a dispatch=worker\n"), std::string::npos) << text;
  }
}

TEST(TerminalTable, ATextToCopyThatIsTooLongLeavesNamesReadableAndIsLeftToTheTerminalToBreak) {
  Table table = wide_table();
  for (TableRow& row : table.rows) row.cells.back().text += std::string(100, 'x');
  const std::string text = terminal_table(table, {.width = 80});
  EXPECT_NE(text.find("\n  1024x1024x1024/"), std::string::npos) << text;
  EXPECT_NE(text.find("12.5"), std::string::npos) << text;
  EXPECT_NE(text.find("-a dispatch=worker" + std::string(100, 'x') + "\n"), std::string::npos)
      << text;
}

TEST(TerminalTable, LessThanAThirdOfATextIsNotShown) {
  Table table{.columns = {{.title = "size"}, {.title = "remark"}},
              .rows = {{.cells = {{"1"}, {std::string(90, 'x')}}, .skipped = {}}}};
  EXPECT_NE(terminal_table(table, {.width = 40}).find("xxx…"), std::string::npos);
  const std::string narrow = terminal_table(table, {.width = 30});
  EXPECT_EQ(narrow.find("xxx"), std::string::npos) << narrow;
}

TEST(TerminalTable, NoKeyIsEverCut) {
  Table table = wide_table();
  table.columns.resize(1);
  for (TableRow& row : table.rows) row.cells.resize(1);
  for (int width = 10; width < 60; ++width) {
    std::string text = terminal_table(table, {.width = width});
    std::erase_if(text, [](char c) { return c == ' ' || c == '\n'; });
    for (const TableRow& row : table.rows) {
      EXPECT_NE(text.find(row.cells[0].text), std::string::npos) << text;
    }
  }
}

TEST(TerminalTable, HasNoMarkOutsideOfAsciiWhenAsked) {
  for (const Table& table : sample_tables()) {
    for (const int width : {60, 80, 200}) {
      const std::string text = terminal_table(table, {.width = width, .ascii = true});
      EXPECT_TRUE(std::ranges::all_of(text, [](char c) { return c >= 0; })) << text;
    }
  }
  EXPECT_NE(terminal_table(sample_tables()[1], {.ascii = true}).find("104.0 +-5.8 %"),
            std::string::npos);
}

TEST(Table, TheTitleSaysWhatTheTimeIsOf) {
  harness::Presentation presentation = testing::sample_presentation();
  presentation.timed = "a product and its finish";
  presentation.timed_on_host = "a product";
  harness::ExperimentResult result = testing::sample_result();
  std::vector<Table> tables = make_tables(result, presentation);
  EXPECT_TRUE(tables[0].caption.starts_with(
      "sample_sweep: emulated device, virtual time of a product and its finish, dtype"))
      << tables[0].caption;
  EXPECT_EQ(tables[1].caption, "sample_sweep: host CPU, wall time of a product");
  result.points[1].details.emplace_back("timed", "a product alone");
  EXPECT_NE(make_tables(result, presentation)[0].caption.find(
                "of a product and its finish, or of a product alone"),
            std::string::npos);
}

TEST(Table, AColumnThatNeedsItIsExplainedWhereItIsShown) {
  harness::Presentation presentation = testing::sample_presentation();
  for (harness::Column& column : presentation.columns) {
    if (column.name == "share_of_peak") column.meaning = "what all cores can do";
  }
  const Table table = make_tables(testing::sample_result(), presentation)[0];
  const std::string line = "of peak: what all cores can do\n";
  EXPECT_NE(terminal_table(table, {.width = 100}).find("\n" + line), std::string::npos);
  EXPECT_EQ(terminal_table(table, {.width = 40}).find(line), std::string::npos);
  EXPECT_NE(markdown_table(table).find("- " + line), std::string::npos);
}

TEST(TerminalTable, TheLineOfUnitsGoesWithTheColumnsThatHaveThem) {
  const Table table{.columns = {{.title = "name"}, {.title = "time", .unit = "us"}},
                    .rows = {{.cells = {{"a name of some length"}, {"1.0"}}}}};
  EXPECT_NE(terminal_table(table, {}).find("us\n"), std::string::npos);
  EXPECT_NE(terminal_table(table, {.width = 18}).find("\n\nname\n---"), std::string::npos)
      << terminal_table(table, {.width = 18});
}

TEST(Table, PointsOfDifferentKindsStandInTablesOfTheirOwn) {
  harness::ExperimentResult result = testing::sample_result();
  std::erase_if(result.points, [](const auto& point) { return point.skipped.has_value(); });
  ASSERT_GE(result.points.size(), 2U);
  result.points[0].details.emplace_back("kind", "small ones");
  result.points[1].details.emplace_back("kind", "large ones");
  result.points.push_back(result.points[0]);
  harness::Presentation presentation = testing::sample_presentation();
  presentation.table_of = "kind";
  const auto tables = make_tables(result, presentation);
  ASSERT_GE(tables.size(), 2U);
  EXPECT_TRUE(tables[0].caption.starts_with("sample_sweep: small ones")) << tables[0].caption;
  EXPECT_EQ(tables[0].rows.size(), 2U);
  EXPECT_TRUE(tables[1].caption.starts_with("sample_sweep: large ones")) << tables[1].caption;
  EXPECT_EQ(tables[1].rows.size(), 1U);
}

TEST(Table, TonesFollowTheErrorAndArtefactsHaveNone) {
  harness::ExperimentResult result = testing::sample_result();
  const auto tone_at = [&result](double value, const char* status) {
    result.points[0].metrics[0].value = value * result.points[0].reference->value;
    result.points[0].reference->status = status;
    const Table table = make_tables(result, testing::sample_presentation())[0];
    const auto column = std::ranges::find(table.columns, "error", &TableColumn::title);
    return table.rows[0].cells[static_cast<std::size_t>(column - table.columns.begin())].tone;
  };
  EXPECT_EQ(tone_at(1.05, "calibration"), Tone::good);
  EXPECT_EQ(tone_at(0.95, "prediction"), Tone::good);
  EXPECT_EQ(tone_at(0.8, "prediction"), Tone::fair);
  EXPECT_EQ(tone_at(1.5, "prediction"), Tone::bad);
  EXPECT_EQ(tone_at(1.5, "artefact"), Tone::plain);
}

TEST(Table, APublishedFigureOfAnotherMetricCarriesItsUnit) {
  harness::ExperimentResult result = testing::sample_result();
  result.points[1].reference = {
      {.metric = "throughput", .value = 48.73e12, .unit = "FLOP/s", .status = "prediction"}};
  const Table table = make_tables(result, testing::sample_presentation())[0];
  EXPECT_EQ(table.rows[0].cells[5].text, "88.82");
  EXPECT_EQ(table.rows[1].cells[5].text, "48.73 TFLOPS");
}

TEST(Table, AReasonIsShownEvenWhenNoPointRan) {
  harness::ExperimentResult result = testing::sample_result();
  result.points = {result.points[2]};
  const Table table = make_tables(result, testing::sample_presentation())[0];
  EXPECT_EQ(titles(table), (std::vector<std::string>{"shape", "dispatch", "dtype", "result"}));
  EXPECT_NE(terminal_table(table, {}).find("failed: cannot allocate 20 GB"), std::string::npos);
  EXPECT_NE(markdown_table(table).find("| failed: cannot allocate 20 GB"), std::string::npos);
}

TEST(Table, SaysAWarningOfSeveralPointsOnce) {
  harness::ExperimentResult result = testing::sample_result();
  result.points[0].warnings = result.points[1].warnings;
  const Table table = make_tables(result, testing::sample_presentation())[0];
  EXPECT_EQ(
      std::ranges::count(table.notes, "warning: the profile is not the default one (2 points)"), 1);
}

TEST(CellText, CutsBetweenCodePoints) {
  EXPECT_EQ(display_width("±2 %"), 4U);
  EXPECT_EQ(shortened("±±±±", 3), "±±…");
  EXPECT_EQ(shortened("abc", 3), "abc");
  EXPECT_EQ(padded("±", 3, true), "  ±");
  EXPECT_EQ(padded("abcd", 3, false), "abcd");
}

TEST(CellText, FoldsWhatHasNoSpacesBehindItsSigns) {
  EXPECT_EQ(folded("shape:1024/dispatch:eth", 15),
            (std::vector<std::string>{"shape:1024/", "  dispatch:eth"}));
  EXPECT_EQ(folded("one two three", 7), (std::vector<std::string>{"one two", "three"}));
  EXPECT_EQ(folded("", 7), std::vector<std::string>{""});
  for (std::size_t width = 1; width < 40; ++width) {
    std::string all;
    for (const std::string& line : folded("sample_sweep/emulated and_a_long_word x", width)) {
      EXPECT_LE(display_width(line), width);
      all += line;
    }
    std::erase(all, ' ');
    EXPECT_EQ(all, "sample_sweep/emulatedand_a_long_wordx");
  }
}

TEST(CellText, WrapsAtSpaces) {
  EXPECT_EQ(wrapped("one two three", 7), "one two\n  three");
  EXPECT_EQ(wrapped("incomprehensible", 4), "incomprehensible");
}

}  // namespace
}  // namespace howard::reports
