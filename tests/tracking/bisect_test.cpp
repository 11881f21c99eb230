// SPDX-License-Identifier: Apache-2.0
#include "harness/tracking/bisect.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "base/error.h"
#include "tests/tracking/made_run.h"

namespace howard::tracking {
namespace {

const Series kSeries = exact_row("a", 0).series;

std::optional<tracking::Run> nobody(const std::string&) { return std::nullopt; }

/// Returns what commits "0" to "99" have, of which the one called `first` is the first to be
/// slower.
RunOfCommit slower_from(int first, std::vector<std::string>& asked) {
  return [first, &asked](const std::string& commit) -> std::optional<tracking::Run> {
    asked.push_back(commit);
    tracking::Run run = run_with({exact_row("a", std::stoi(commit) < first ? 100 : 120)}, commit);
    run.constants = {{"noc.link", std::stoi(commit) < first ? "28 B/cycle" : "14 B/cycle"}};
    return run;
  };
}

std::vector<std::string> hundred() {
  std::vector<std::string> commits;
  for (int i = 0; i < 100; ++i) commits.push_back(std::to_string(i));
  return commits;
}

TEST(Bisect, TheFirstCommitThatMovedATimeIsFoundInAsManyStepsAsTheLogarithm) {
  for (const int first : {1, 2, 50, 98, 99}) {
    std::vector<std::string> asked;
    const auto found = find_first_moved(hundred(), kSeries, nobody, slower_from(first, asked));
    ASSERT_TRUE(found);
    EXPECT_EQ(found->first_moved, std::to_string(first));
    EXPECT_EQ(found->last_good, std::to_string(first - 1));
    EXPECT_EQ(found->after_ps, 120);
    EXPECT_LE(asked.size(), 9U);
    EXPECT_TRUE(found->unmeasured.empty());
    EXPECT_EQ(found->constants, std::vector<std::string>{"noc.link: 28 B/cycle -> 14 B/cycle"});
  }
}

TEST(Bisect, StoredRunsAreUsedAndTheGapBetweenThemIsSaid) {
  std::vector<std::string> asked;
  const RunOfCommit all = slower_from(50, asked);
  const RunOfCommit stored = [&](const std::string& commit) -> std::optional<tracking::Run> {
    return commit.size() == 1 || commit.ends_with("0") || commit == "99" ? all(commit)
                                                                         : std::nullopt;
  };
  const auto found = find_first_moved(hundred(), kSeries, stored, nobody);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->last_good, "40");
  EXPECT_EQ(found->first_moved, "50");
  EXPECT_EQ(found->unmeasured.size(), 9U);
  const auto closed = find_first_moved(hundred(), kSeries, stored, slower_from(47, asked));
  EXPECT_EQ(closed->first_moved, "47");
}

TEST(Bisect, ATimeThatHasNotMovedHasNoCommitAndOneThatIsMissingIsAnError) {
  std::vector<std::string> asked;
  EXPECT_FALSE(find_first_moved(hundred(), kSeries, nobody, slower_from(200, asked)));
  EXPECT_THROW(static_cast<void>(find_first_moved(hundred(), kSeries, nobody, nobody)), Error);
}

}  // namespace
}  // namespace howard::tracking
