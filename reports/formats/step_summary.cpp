// SPDX-License-Identifier: Apache-2.0
#include "reports/formats/step_summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <iterator>

#include "reports/page/page_words.h"
#include "reports/tables/format.h"
#include "reports/tables/markdown.h"

namespace howard::reports {
namespace {

/// GitHub refuses the summary of a step that is longer than 1 MiB; other commands of the same step
/// may add to it.
constexpr std::size_t kMostBytes = 900'000;
constexpr std::size_t kMostTableRows = 200;

}  // namespace

StepSummary summary_of_results(std::span<const harness::ExperimentResult> results,
                               const std::vector<Table>& verdicts,
                               const std::vector<Table>& tables) {
  std::size_t points = 0;
  std::size_t failed = 0;
  for (const harness::ExperimentResult& result : results) {
    points += result.points.size();
    failed += static_cast<std::size_t>(
        std::ranges::count_if(result.points, &harness::PointResult::failed));
  }
  StepSummary summary{
      .headline =
          fmt::format("{}, {}{}", counted(results.size(), "experiment"), counted(points, "point"),
                      failed > 0 ? fmt::format(", {} failed", failed) : std::string()),
      .sentences = run_findings(results),
      .tables = verdicts};
  std::ranges::copy(tables, std::back_inserter(summary.tables));
  return summary;
}

std::string step_summary(StepSummary summary) {
  std::string text = fmt::format("### Performance: {}\n\n", summary.headline);
  for (const std::string& sentence : summary.sentences) text += "- " + sentence + "\n";
  text += '\n';
  std::size_t left_out = 0;
  for (Table& table : summary.tables) {
    if (table.rows.size() > kMostTableRows) {
      table.notes.push_back(
          fmt::format("{} more rows are not shown", table.rows.size() - kMostTableRows));
      table.rows.resize(kMostTableRows);
    }
    const std::string shown = markdown_table(table) + "\n";
    if (left_out > 0 || text.size() + shown.size() > kMostBytes) {
      ++left_out;
    } else {
      text += shown;
    }
  }
  if (left_out > 0) text += fmt::format("Tables that did not fit: {}\n", left_out);
  return text;
}

}  // namespace howard::reports
