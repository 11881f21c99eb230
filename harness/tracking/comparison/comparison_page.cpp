// SPDX-License-Identifier: Apache-2.0
#include "harness/tracking/comparison/comparison_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>

#include "harness/tracking/comparison/comparison_tables.h"
#include "reports/page/svg_chart.h"
#include "reports/tables/format.h"

namespace howard::tracking {
namespace {

/// Returns how far a row moved in either direction, as a logarithm; 0 if there is no ratio.
double moved_by(const JudgedRow& row) {
  const double change = row.change().value_or(1);
  return change > 0 ? std::abs(std::log(change)) : 0;
}

/// Returns the row of that verdict that moved farthest; null if there is none.
const JudgedRow* worst_of(const Comparison& comparison, Verdict verdict) {
  const JudgedRow* worst = nullptr;
  for (const JudgedRow& row : comparison.rows) {
    if (row.verdict != verdict) continue;
    if (worst == nullptr || moved_by(row) > moved_by(*worst)) worst = &row;
  }
  return worst;
}

/// Returns the series whose last change is the newest first, and those without one at the end.
std::vector<const SeriesHistory*> newest_change_first(const std::vector<SeriesHistory>& all) {
  std::vector<const SeriesHistory*> order;
  for (const SeriesHistory& one : all) order.push_back(&one);
  std::ranges::stable_sort(order, {}, [](const SeriesHistory* one) {
    return one->changes.empty() ? ~std::size_t{0} : one->points.size() - one->changes.back();
  });
  return order;
}

std::optional<double> value_in(const Run& run, const Series& series) {
  const auto found = std::ranges::find(run.rows, series, &Row::series);
  if (found == run.rows.end()) return std::nullopt;
  return found->value;
}

}  // namespace

std::vector<std::string> comparison_findings(const Comparison& comparison) {
  std::vector<std::string> findings;
  for (const Verdict verdict :
       {Verdict::failed, Verdict::slower, Verdict::missing, Verdict::ambiguous, Verdict::stale}) {
    const JudgedRow* const worst = worst_of(comparison, verdict);
    if (worst == nullptr) continue;
    const std::size_t count = comparison.count(verdict);
    // The words begin with the verdict, which the sentence has said.
    const std::string words = row_words(*worst).substr(name_of(verdict).size());
    findings.push_back(fmt::format("Since {}, {} {} {}{}{}{}", comparison.before,
                                   reports::counted(count, "metric"), count == 1 ? "is" : "are",
                                   name_of(verdict), count == 1 ? ": " : ", most of all ",
                                   row_name(worst->series), words));
  }
  if (findings.empty()) {
    findings.push_back(
        fmt::format("Since {}, nothing is slower, missing or failed: {} faster, "
                    "{} new, {} the same.",
                    comparison.before, comparison.count(Verdict::faster),
                    comparison.count(Verdict::added), comparison.count(Verdict::same)));
  }
  return findings;
}

reports::PagePart changes_part(const Comparison& comparison) {
  return {.name = "changes",
          .heading = "Changes since " + comparison.before,
          .html = reports::html_list("problems", comparison.warnings) +
                  reports::html_list("findings", comparison_lines(comparison)) +
                  reports::html_tables(comparison_tables(comparison))};
}

reports::PagePart history_part(const std::vector<SeriesHistory>& all, const Run& now) {
  constexpr std::size_t kMostCharts = 12;
  std::string charts;
  std::size_t drawn = 0;
  std::vector<SeriesHistory> ordered;
  for (const SeriesHistory* const one : newest_change_first(all)) {
    ordered.push_back(*one);
    if (one->changes.empty() || drawn == kMostCharts) continue;
    charts += reports::svg_chart(history_chart(*one, value_in(now, one->series)));
    ++drawn;
  }
  const std::string words =
      drawn == 0 ? "No metric has changed its level."
                 : fmt::format(
                       "Of {}, the charts show those that changed last. A line is a level: all "
                       "runs between two changes of an exact metric, or between two change points "
                       "of a sampled one. The open mark is the value on this page.",
                       reports::counted(all.size(), "metric"));
  return {.name = "history",
          .heading = "History",
          .html = reports::html_paragraphs({words}) + charts +
                  reports::html_tables({overview_table(ordered, false)})};
}

}  // namespace howard::tracking
