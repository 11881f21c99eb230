// SPDX-License-Identifier: Apache-2.0
#include "reports/findings/run_summary.h"

#include <cmath>
#include <numeric>
#include <optional>

#include "base/check.h"
#include "reports/tables/columns.h"

namespace howard::reports {
namespace {

constexpr double kReproduced = 0.10;

void add(ExperimentSummary& sum, const ExperimentSummary& one) {
  sum.points += one.points;
  sum.failed += one.failed;
  sum.published += one.published;
  sum.reproduced += one.reproduced;
  sum.predictions += one.predictions;
  sum.artefacts += one.artefacts;
  sum.compared += one.compared;
  sum.error_sum += one.error_sum;
}

void add_counts_of(Table& table, std::string title, const std::vector<ExperimentSummary>& rows,
                   std::size_t ExperimentSummary::*count) {
  add_counts(table, std::move(title), each(rows, [&](const ExperimentSummary& row) {
               return std::optional<std::uint64_t>(row.*count);
             }));
}

}  // namespace

ExperimentSummary summarise(const harness::ExperimentResult& result) {
  ExperimentSummary summary{.experiment = result.experiment, .points = result.points.size()};
  for (const harness::PointResult& point : result.points) {
    if (point.failed) ++summary.failed;
    if (!point.reference) continue;
    ++summary.published;
    if (point.reference->status == "artefact") {
      ++summary.artefacts;
      continue;
    }
    const std::optional<double> error = point.relative_error();
    if (!error) continue;
    ++summary.compared;
    if (point.reference->status == "prediction") ++summary.predictions;
    summary.error_sum += std::abs(*error);
    if (std::abs(*error) <= kReproduced) ++summary.reproduced;
  }
  return summary;
}

Table summary_table(std::span<const harness::ExperimentResult> results,
                    const std::vector<double>& seconds) {
  HOWARD_CHECK(seconds.empty() || seconds.size() == results.size(), "a time for each experiment");
  std::vector<ExperimentSummary> rows;
  ExperimentSummary sum{.experiment = "all"};
  for (const harness::ExperimentResult& result : results) {
    rows.push_back(summarise(result));
    add(sum, rows.back());
  }
  rows.push_back(sum);
  const auto mean_error = [](const ExperimentSummary& row) {
    return row.compared == 0 ? std::nullopt
                             : std::optional(row.error_sum / static_cast<double>(row.compared));
  };
  const bool compares = sum.published > 0;
  Table table{.caption = compares ? "what was run, and how far it is from what was published"
                                  : "what was run; nothing of it was published"};
  add_words(table, "experiment", each(rows, &ExperimentSummary::experiment));
  add_counts_of(table, "points", rows, &ExperimentSummary::points);
  if (sum.failed > 0) add_counts_of(table, "failed", rows, &ExperimentSummary::failed);
  if (compares) {
    add_counts_of(table, "published", rows, &ExperimentSummary::published);
    add_counts_of(table, "compared", rows, &ExperimentSummary::compared);
    add_counts_of(table, "within 10 %", rows, &ExperimentSummary::reproduced);
    add_quantities(table, "mean |error|", "1", each(rows, mean_error));
    add_counts_of(table, "predicted", rows, &ExperimentSummary::predictions);
    add_counts_of(table, "artefacts", rows, &ExperimentSummary::artefacts);
  }
  if (!seconds.empty()) {
    std::vector<std::optional<double>> times(seconds.begin(), seconds.end());
    times.emplace_back(std::accumulate(seconds.begin(), seconds.end(), 0.0));
    add_quantities(table, "took", "s", times);
  }
  return table;
}

}  // namespace howard::reports
