// SPDX-License-Identifier: Apache-2.0
#include "reports/tables/latex.h"

#include <gtest/gtest.h>

#include <string>

namespace howard::reports {
namespace {

TEST(LatexTable, IsABooktabsFloat) {
  const Table table{
      .caption = "e: virtual time",
      .columns = {{.title = "shape"}, {.title = "time", .unit = "us", .number = true}},
      .rows = {{.cells = {{"128"}, {"78.4"}}}},
      .notes = {"a note"}};
  EXPECT_EQ(latex_table(table),
            "\\begin{table}\n"
            "  \\centering\n"
            "  \\caption{e: virtual time}\\label{tab:e-virtual-time}\n"
            "  \\begin{tabular}{lr}\n"
            "    \\toprule\n"
            "    shape & time (us) \\\\\n"
            "    \\midrule\n"
            "    128 & 78.4 \\\\\n"
            "    \\bottomrule\n"
            "  \\end{tabular}\n"
            "  \\par\\footnotesize a note\n"
            "\\end{table}\n");
}

TEST(LatexTable, EscapesWhatLatexWouldTakeForItself) {
  const Table table{.caption = R"(a_b & 5 % #1 $x$ {y} ~ ^ \z <|> "q" 1 ±2)",
                    .columns = {{.title = "x"}},
                    .rows = {{.cells = {{"two\nlines"}}}}};
  const std::string text = latex_table(table);
  EXPECT_NE(text.find(R"(\caption{a\_b \& 5 \% \#1 \$x\$ \{y\} \textasciitilde{} )"
                      R"(\textasciicircum{} \textbackslash{}z $<$$\vert$$>$ )"
                      R"(\textquotedbl{}q\textquotedbl{} 1 $\pm$2})"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("two lines"), std::string::npos) << text;
}

TEST(LatexTable, OfMoreRowsThanAPageGoesOnUnderItsHead) {
  Table table{.caption = "gpt2_trace: emulated device, virtual time",
              .columns = {{.title = "batch"}},
              .rows = {}};
  for (int i = 0; i < 41; ++i) table.rows.push_back({.cells = {{std::to_string(i)}}});
  const std::string text = latex_table(table);
  EXPECT_EQ(text.substr(0, text.find("    0 ")),
            "\\begin{longtable}{l}\n"
            "  \\caption{gpt2\\_trace: emulated device, virtual time}"
            "\\label{tab:gpt2-trace-emulated-device} \\\\\n"
            "    \\toprule\n    batch \\\\\n    \\midrule\n    \\endfirsthead\n"
            "    \\toprule\n    batch \\\\\n    \\midrule\n    \\endhead\n"
            "    \\bottomrule\n    \\endfoot\n");
  EXPECT_TRUE(text.ends_with("    40 \\\\\n\\end{longtable}\n  \\normalsize\n")) << text;
}

TEST(LatexTable, IsNoWiderThanAPage) {
  Table table{.caption = "c",
              .columns = {{.title = "shape", .room = harness::Room::key},
                          {.title = "expected error", .unit = "%", .number = true},
                          {.title = "configuration", .room = harness::Room::key}},
              .rows = {{.cells = {{"100"}, {"1.5"}, {std::string(120, 'a')}}}},
              .notes = {}};
  for (int i = 0; i < 9; ++i) {
    table.columns.push_back({.title = "part " + std::to_string(i), .unit = "ms", .number = true});
    table.rows[0].cells.push_back({"123456789.5"});
  }
  const std::string text = latex_table(table);
  EXPECT_NE(text.find("\\shortstack[r]{expected \\\\ error (\\%)}"), std::string::npos) << text;
  EXPECT_NE(text.find("p{"), std::string::npos) << "a wide text is broken into lines";
  EXPECT_NE(text.find("wider than a page, and in the CSV: part "), std::string::npos) << text;
  EXPECT_EQ(text.find("part 8 (ms)"), std::string::npos) << text;
}

TEST(LatexTable, AReasonSpansTheCellsItsPointLeavesFree) {
  const Table table{.caption = "c",
                    .columns = {{.title = "shape"}, {.title = "a"}, {.title = "b"}},
                    .rows = {{.cells = {{"100"}, {""}, {""}}, .skipped = "failed: no room_here"}}};
  EXPECT_NE(latex_table(table).find("100 & \\multicolumn{2}{l}{failed: no room\\_here} \\\\"),
            std::string::npos);
}

}  // namespace
}  // namespace howard::reports
