// SPDX-License-Identifier: Apache-2.0
#include "harness/tracking/comparison/pairs.h"

#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <string>

#include "base/error.h"
#include "tests/error_of.h"
#include "tests/tracking/made_run.h"

namespace howard::tracking {
namespace {

constexpr int kRows = 30;

/// Returns a suite whose rows have a noise of some 2 % from process to process, are now and then
/// half as slow again, and drift with the machine. `factor` slows the first row.
Source noisy_suite(std::shared_ptr<std::mt19937_64> random, double factor) {
  return [random = std::move(random), factor] {
    const auto uniform = [&] { return static_cast<double>((*random)() >> 11) * 0x1p-53; };
    const double machine = 1 + 0.05 * uniform();
    tracking::Run run = run_with({});
    for (int i = 0; i < kRows; ++i) {
      double sum = 0;
      for (int j = 0; j < 12; ++j) sum += uniform();
      const double outlier = uniform() < 0.05 ? 1.5 : 1;
      const double value = 1e-3 * machine * (1 + 0.02 * (sum - 6)) * outlier;
      run.rows.push_back(sampled_row("row" + std::to_string(i), i == 0 ? value * factor : value));
    }
    return run;
  };
}

TEST(Pairs, ASuiteWithoutAChangeRaisesAFalseAlarmInOnePercentAtMost) {
  const auto random = std::make_shared<std::mt19937_64>(1);
  int alarms = 0;
  for (std::uint64_t i = 0; i < 200; ++i) {
    const Comparison found =
        compare_pairs("A", noisy_suite(random, 1), "B", noisy_suite(random, 1), {}, {.seed = i});
    alarms += found.count(Verdict::slower) + found.count(Verdict::faster) > 0 ? 1 : 0;
  }
  // 1 % is promised; more than 5 of 200 would have a probability of 2 %.
  EXPECT_LE(alarms, 5);
}

TEST(Pairs, FivePercentAreFoundOrTheRunsThatWouldFindThemAreSaid) {
  const auto random = std::make_shared<std::mt19937_64>(2);
  int found = 0, ambiguous = 0;
  constexpr int kTrials = 60;
  for (std::uint64_t i = 0; i < kTrials; ++i) {
    const Comparison comparison =
        compare_pairs("A", noisy_suite(random, 1), "B", noisy_suite(random, 1.05), {}, {.seed = i});
    const JudgedRow& row = comparison.rows.front();
    found += row.verdict == Verdict::slower ? 1 : 0;
    ambiguous += row.verdict == Verdict::ambiguous && row.needed.value_or(0) > 15 ? 1 : 0;
  }
  EXPECT_GE(found + ambiguous, kTrials * 95 / 100);
  EXPECT_GT(found, kTrials / 3);
}

TEST(Pairs, WhenAllRowsAreSlowerAllAreFoundAndTheReaderIsToldToLookForOneCause) {
  const auto suite = [](double factor) {
    const auto random = std::make_shared<std::mt19937_64>(3);
    const Source plain = noisy_suite(random, 1);
    return [plain, factor] {
      tracking::Run run = plain();
      for (Row& row : run.rows) row.value *= factor;
      return run;
    };
  };
  const Comparison found = compare_pairs("A", suite(1), "B", suite(1.3), {}, {});
  EXPECT_EQ(found.count(Verdict::slower), static_cast<std::size_t>(kRows));
  ASSERT_EQ(found.warnings.size(), 1U);
  EXPECT_NE(found.warnings.front().find("compiler"), std::string::npos);
}

TEST(Pairs, ExactTimesNeedOnePairOnly) {
  int runs = 0;
  const auto source = [&](std::int64_t picoseconds) {
    return [&runs, picoseconds] {
      ++runs;
      return run_with({exact_row("a", picoseconds)});
    };
  };
  const Comparison found = compare_pairs("A", source(10), "B", source(11), {}, {});
  EXPECT_EQ(runs, 2);
  EXPECT_EQ(found.rows.front().verdict, Verdict::slower);
}

TEST(Pairs, ABenchmarkThatFailsInOneProcessOfTheSecondSideHasFailed) {
  int runs = 0;
  const Source good = [] { return run_with({sampled_row("a", 1), sampled_row("b", 1)}); };
  const Source bad = [&runs] {
    if (++runs == 4) {
      return run_with({sampled_row("a", 1), words_row("b", "", "it crashed", Kind::failed)});
    }
    return run_with({sampled_row("a", 1), sampled_row("b", 1)});
  };
  const Comparison found = compare_pairs("A", good, "B", bad, {}, {});
  EXPECT_EQ(found.count(Verdict::failed), 1U);
  EXPECT_EQ(found.count(Verdict::missing), 0U);
}

TEST(Pairs, ACommandThatCrashesIsNamedWithItsEndAndItsLastWords) {
  const std::string crash =
      error_of(command_source("echo first >&2; echo 'no such table' >&2; kill -SEGV $$", {}));
  EXPECT_NE(crash.find("signal 11"), std::string::npos) << crash;
  EXPECT_NE(crash.find("it said: no such table"), std::string::npos) << crash;
  EXPECT_NE(error_of(command_source("echo words", {})).find("of another kind"), std::string::npos);
  EXPECT_NE(error_of(command_source("sleep 20", {.limit = 0.2})).find("longer than 0.2 s"),
            std::string::npos);
  EXPECT_NE(error_of(command_source("sleep 20", {.stop = [] { return true; }})).find("interrupted"),
            std::string::npos);
}

TEST(Pairs, ACommandMayWriteToAFileOrBeTimedAsAWhole) {
  const std::string json =
      R"({"context": {}, "benchmarks": [{"name": "x", "real_time": 2, "time_unit": "us"}]})";
  const tracking::Run run = command_source("echo '" + json + "' > {out}; echo chatter", {})();
  ASSERT_EQ(run.rows.size(), 1U);
  EXPECT_DOUBLE_EQ(run.rows.front().value, 2e-6);
  const tracking::Run whole = command_source("echo chatter", {.whole = true})();
  ASSERT_EQ(whole.rows.size(), 1U);
  EXPECT_GT(whole.rows.front().value, 0);
}

}  // namespace
}  // namespace howard::tracking
