// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/tracking/baseline.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <system_error>
#include <vector>

#include "base/error.h"
#include "harness/cli/tracking/sides.h"
#include "harness/tracking/series_history.h"

namespace howard::cli {
namespace {

using tracking::Comparison;
using tracking::Side;

/// Returns whether one of two runs is built on the other, or is of the same commit. Where git does
/// not know them, runs of one branch are.
bool is_one_line(const tracking::Run& one, const tracking::Run& other,
                 const tracking::GitCheckout& git) {
  const std::string a(one.clean_commit());
  const std::string b(other.clean_commit());
  if (a.empty() || b.empty()) return false;
  if (a == b) return true;
  if (!git.commit(a) || !git.commit(b)) return !one.branch.empty() && one.branch == other.branch;
  const auto shared = git.merge_base(a, b);
  return shared == a || shared == b;
}

/// Says since which commit a branch has had its present level of a series, which is where its
/// history marks the last change.
std::string since_when(const tracking::History& history, const tracking::Series& series,
                       const std::string& branch) {
  constexpr std::size_t kMostRuns = 100;  // as many as the verb history shows
  for (const tracking::StoredSeries& stored : history.find_series(series.benchmark)) {
    if (stored.series != series) continue;
    const tracking::SeriesHistory all = series_history(history, stored, branch, kMostRuns);
    if (all.points.empty()) break;
    const tracking::HistoryPoint& first = all.points[all.changes.empty() ? 0 : all.changes.back()];
    return fmt::format("{}since {} ({})", all.changes.empty() ? "at least " : "",
                       tracking::short_commit(first.commit), branch);
  }
  return "by now";
}

/// Marks what the baseline's branch has by now without `after`. Where one of the two is built on
/// the other, a difference is theirs and not stale.
void look_for_stale(Comparison& comparison, const tracking::History& history, std::int64_t baseline,
                    const Side& after, const tracking::GitCheckout& git,
                    const tracking::Limits& limits) {
  const std::string branch = history.load(baseline).branch;
  if (branch.empty()) return;
  std::vector<std::int64_t> runs = history.runs(branch);
  const auto place = std::ranges::find(runs, baseline);
  if (place == runs.end()) return;
  for (auto run = runs.end(); run != place + 1;) {
    const Side newest = stored_baseline(history, *--run);
    if (newest.last().id == after.last().id) continue;
    if (newest.last().is_dirty()) continue;
    if (is_one_line(newest.last(), after.last(), git)) return;
    const auto since = [&](const tracking::Series& series) {
      return since_when(history, series, branch);
    };
    tracking::mark_stale(comparison, newest, after, since, limits);
    return;
  }
}

/// Returns a comparison of a side that has nothing before it.
Comparison first_of(const Side& after, const std::string& base, const tracking::History& history) {
  Comparison comparison{.before = "nothing", .after = after.name};
  comparison.warnings.push_back(fmt::format(
      "there is nothing to compare with: {} is of '{}' itself, and {} has no earlier run of it; "
      "run track on each of its commits, and compare a branch, or the next commit, with this one",
      after.name, base, history.path().string()));
  return comparison;
}

/// Returns the stored run that is the baseline; absent if it is a file or a folder, or if there is
/// none yet.
std::optional<std::int64_t> stored_one(const Side& after, const BaselineOptions& options,
                                       const tracking::History& history,
                                       const tracking::GitCheckout& git) {
  if (options.name.empty()) {
    const std::string commit(after.last().clean_commit());
    const std::string known = git.commit(commit.empty() ? "HEAD" : commit).value_or(commit);
    return baseline_run(history, git, known, options.base);
  }
  std::error_code ignored;
  if (std::filesystem::exists(options.name, ignored)) return std::nullopt;
  return stored_run(history, git, options.name);
}

}  // namespace

Side side_of(const std::string& word, const tracking::History* history,
             const tracking::GitCheckout& git) {
  std::error_code ignored;
  const bool is_file = std::filesystem::exists(word, ignored);
  if (history != nullptr && !is_file) {
    if (const auto run = stored_run(*history, git, word)) return stored_side(*history, *run);
    throw Error({.attempted = "compare " + word,
                 .value = "it is no file and no commit or branch in " + history->path().string(),
                 .accepted = "a file, a folder, or a stored run",
                 .hint = "run_experiment history --db " + history->path().string()});
  }
  return read_side(word, git);
}

Comparison compare_with_baseline(const Side& after, const BaselineOptions& options,
                                 const tracking::History* history,
                                 const tracking::GitCheckout& git) {
  const std::optional<std::int64_t> stored =
      history != nullptr ? stored_one(after, options, *history, git) : std::nullopt;
  if (!stored && options.name.empty() && history != nullptr) {
    return first_of(after, options.base, *history);
  }
  const Side before =
      stored ? stored_baseline(*history, *stored) : side_of(options.name, history, git);
  if (!options.anyway) tracking::require_comparable(before, after);
  Comparison comparison = tracking::compare_sides(before, after, options.limits);
  if (stored) look_for_stale(comparison, *history, *stored, after, git, options.limits);
  return comparison;
}

}  // namespace howard::cli
