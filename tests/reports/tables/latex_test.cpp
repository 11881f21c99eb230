// SPDX-License-Identifier: Apache-2.0
#include "reports/tables/latex.h"

#include <gtest/gtest.h>

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
            "  \\caption{e: virtual time}\n"
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

TEST(LatexTable, AReasonSpansTheCellsItsPointLeavesFree) {
  const Table table{.caption = "c",
                    .columns = {{.title = "shape"}, {.title = "a"}, {.title = "b"}},
                    .rows = {{.cells = {{"100"}, {""}, {""}}, .skipped = "failed: no room_here"}}};
  EXPECT_NE(latex_table(table).find("100 & \\multicolumn{2}{l}{failed: no room\\_here} \\\\"),
            std::string::npos);
}

}  // namespace
}  // namespace howard::reports
