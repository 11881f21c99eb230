// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/tracking/page_changes.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <optional>
#include <set>
#include <vector>

#include "base/error.h"
#include "harness/cli/tracking/sides.h"
#include "harness/tracking/comparison/comparison_page.h"
#include "harness/tracking/series_history.h"

namespace howard::cli {
namespace {

/// Returns the history of the metrics that `run` has: times before others, and of each the last
/// runs of `branch`, or of all branches if that has none.
std::vector<tracking::SeriesHistory> histories_of(const tracking::History& history,
                                                  const tracking::Run& run,
                                                  const std::string& branch) {
  constexpr std::size_t kMostSeries = 200;
  constexpr std::size_t kMostRuns = 100;
  std::set<tracking::Series> own;
  for (const tracking::Row& row : run.rows) {
    if (row.series.is_judged()) own.insert(row.series);
  }
  std::vector<tracking::StoredSeries> stored = history.find_series("");
  std::erase_if(stored, [&](const auto& one) { return !own.contains(one.series); });
  std::ranges::stable_partition(stored,
                                [](const auto& one) { return one.series.metric == "time"; });
  stored.resize(std::min(stored.size(), kMostSeries));
  const std::string shown = history.runs(branch).empty() ? "" : branch;
  std::vector<tracking::SeriesHistory> all;
  for (const tracking::StoredSeries& one : stored) {
    all.push_back(tracking::series_history(history, one, shown, kMostRuns));
    if (all.back().points.empty()) all.pop_back();
  }
  return all;
}

}  // namespace

void add_changes(std::span<const harness::ExperimentResult> results, const std::string& name,
                 const BaselineOptions& baseline, const std::string& database,
                 reports::Page& page) {
  try {
    const tracking::GitCheckout git;
    tracking::Side after{.name = name, .runs = {tracking::run_of(results)}, .earlier = {}};
    name_commit(after.runs.front(), git);
    std::optional<tracking::History> history;
    if (!database.empty()) history.emplace(database);
    if (history) {
      const auto all = histories_of(*history, after.last(), baseline.base);
      if (!all.empty()) page.before.push_back(tracking::history_part(all, after.last()));
    }
    const tracking::Comparison comparison =
        compare_with_baseline(after, baseline, history ? &*history : nullptr, git);
    std::ranges::move(tracking::comparison_findings(comparison), std::back_inserter(page.findings));
    page.before.insert(page.before.begin(), tracking::changes_part(comparison));
  } catch (const Error& reason) {
    page.problems.emplace_back(reason.what());
  }
}

}  // namespace howard::cli
