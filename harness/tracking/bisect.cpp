// SPDX-License-Identifier: Apache-2.0
#include "harness/tracking/bisect.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/error.h"
#include "harness/tracking/comparison/explanation.h"

namespace howard::tracking {
namespace {

/// Looks runs up and remembers them.
class KnownRuns {
 public:
  KnownRuns(const std::vector<std::string>& commits, const Series& series)
      : commits_(&commits), series_(&series) {}

  /// Returns the picoseconds at a commit that was looked up; absent if it has none.
  std::optional<std::int64_t> time(std::size_t at) const {
    const auto known = runs_.find(at);
    if (known == runs_.end()) return std::nullopt;
    for (const Row& row : known->second.rows) {
      if (row.series == *series_) return row.picoseconds;
    }
    return std::nullopt;
  }
  void look_up(std::size_t at, const RunOfCommit& source) {
    if (auto run = source((*commits_)[at])) runs_.insert_or_assign(at, std::move(*run));
  }
  const Run& run(std::size_t at) const { return runs_.at(at); }

  std::int64_t require(std::size_t at) const {
    if (const auto found = time(at)) return *found;
    throw Error({.attempted = fmt::format("bisect {} of {}", series_->metric, series_->benchmark),
                 .value = fmt::format("commit {} has no such time", (*commits_)[at].substr(0, 12)),
                 .accepted = "two commits that have it",
                 .hint = "--run LINE, which measures a commit"});
  }

 private:
  const std::vector<std::string>* commits_;
  const Series* series_;
  std::map<std::size_t, Run> runs_;
};

}  // namespace

std::optional<BisectFinding> find_first_moved(const std::vector<std::string>& commits,
                                              const Series& series, const RunOfCommit& stored,
                                              const RunOfCommit& measure) {
  BisectFinding finding;
  if (commits.size() < 2) return std::nullopt;
  KnownRuns known(commits, series);
  const std::size_t last = commits.size() - 1;
  for (std::size_t i = 0; i <= last; ++i) known.look_up(i, stored);
  for (const std::size_t end : {std::size_t{0}, last}) {
    if (known.time(end)) continue;
    known.look_up(end, measure);
    ++finding.measured;
  }
  finding.before_ps = known.require(0);
  if (known.require(last) == finding.before_ps) return std::nullopt;
  std::size_t good = 0, moved = last;
  for (std::size_t i = 1; i <= last; ++i) {
    const auto time = known.time(i);
    if (!time) continue;
    if (*time != finding.before_ps) {
      moved = i;
      break;
    }
    good = i;
  }
  while (moved - good > 1) {
    const std::size_t middle = (good + moved) / 2;
    known.look_up(middle, measure);
    const auto time = known.time(middle);
    if (!time) break;
    ++finding.measured;
    (*time == finding.before_ps ? good : moved) = middle;
  }
  finding.last_good = commits[good];
  finding.first_moved = commits[moved];
  finding.after_ps = known.require(moved);
  finding.unmeasured.assign(commits.begin() + static_cast<std::ptrdiff_t>(good) + 1,
                            commits.begin() + static_cast<std::ptrdiff_t>(moved));
  const Explainer explainer(known.run(good), known.run(moved));
  finding.explanation = explainer.explain(series);
  finding.constants = explainer.constants();
  return finding;
}

}  // namespace howard::tracking
