// SPDX-License-Identifier: Apache-2.0
#include "reports/published/claims.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/error.h"
#include "reports/tables/terminal_table.h"
#include "tests/error_of.h"

namespace howard::reports {
namespace {

using harness::ExperimentResult;
using harness::PointResult;

/// Returns points "config:NAME" with these times.
ExperimentResult run_of(const std::vector<std::pair<std::string, double>>& times) {
  ExperimentResult result{.experiment = "e"};
  for (const auto& [config, seconds] : times) {
    PointResult point{.parameters = {{"config", config}, {"other", "x"}}};
    point.metrics = {{.name = "time", .value = seconds, .unit = "s"}};
    result.points.push_back(std::move(point));
  }
  return result;
}

PointMetric time_of(const std::string& config) {
  return {.experiment = "e", .parameters = {{"config", config}}, .metric = "time"};
}

/// Returns the claim "a is twice as slow as b", with a doubt that holds if c takes at most as long
/// as b.
Claim claim(ClaimVerdict verdict) {
  return {.name = "2x",
          .says = "b is faster",
          .published = 2,
          .measured = {time_of("a"), time_of("b")},
          .doubts = {{.verdict = verdict,
                      .because = "c is as fast",
                      .measured = {time_of("c"), time_of("b")},
                      .least = {},
                      .most = 1}}};
}

ClaimVerdict verdict_of(const Claim& claim, const ExperimentResult& result) {
  return judge(claim, {&result, 1}).verdict;
}

TEST(Claims, ANumberThatAgreesIsConfirmed) {
  const Claim asked = claim(ClaimVerdict::another_cause);
  EXPECT_EQ(verdict_of(asked, run_of({{"a", 2}, {"b", 1}, {"c", 5}})), ClaimVerdict::confirmed);
  EXPECT_EQ(verdict_of(asked, run_of({{"a", 2.5}, {"b", 1}, {"c", 5}})), ClaimVerdict::confirmed);
  EXPECT_EQ(verdict_of(asked, run_of({{"a", 2.6}, {"b", 1}, {"c", 5}})),
            ClaimVerdict::not_reproduced);
  EXPECT_EQ(verdict_of(asked, run_of({{"a", 1.5}, {"b", 1}, {"c", 5}})),
            ClaimVerdict::not_reproduced);
  EXPECT_EQ(verdict_of(asked, run_of({{"a", 0.5}, {"b", 1}, {"c", 5}})),
            ClaimVerdict::not_reproduced);
}

TEST(Claims, NoDifferenceIsNotAGainHoweverCloseTheNumbers) {
  Claim asked = claim(ClaimVerdict::another_cause);
  asked.published = 1.2;
  EXPECT_EQ(verdict_of(asked, run_of({{"a", 1.12}, {"b", 1}, {"c", 5}})), ClaimVerdict::confirmed);
  EXPECT_EQ(verdict_of(asked, run_of({{"a", 1.08}, {"b", 1}, {"c", 5}})),
            ClaimVerdict::not_reproduced);
}

TEST(Claims, ADoubtThatHoldsChangesTheVerdict) {
  const ExperimentResult doubtful = run_of({{"a", 2}, {"b", 1}, {"c", 1}});
  EXPECT_EQ(verdict_of(claim(ClaimVerdict::another_cause), doubtful), ClaimVerdict::another_cause);
  EXPECT_EQ(verdict_of(claim(ClaimVerdict::artefact), doubtful), ClaimVerdict::artefact);
  EXPECT_EQ(judge(claim(ClaimVerdict::artefact), {&doubtful, 1}).because, "c is as fast");
}

TEST(Claims, ACauseOfANumberThatIsNotThereExplainsNothing) {
  const ExperimentResult other = run_of({{"a", 1}, {"b", 1}, {"c", 1}});
  EXPECT_EQ(verdict_of(claim(ClaimVerdict::another_cause), other), ClaimVerdict::not_reproduced);
  EXPECT_EQ(verdict_of(claim(ClaimVerdict::artefact), other), ClaimVerdict::artefact);
}

TEST(Claims, WithoutItsPointsAClaimIsNotRun) {
  const ExperimentResult result = run_of({{"a", 2}, {"c", 1}});
  const JudgedClaim judged = judge(claim(ClaimVerdict::artefact), {&result, 1});
  EXPECT_EQ(judged.verdict, ClaimVerdict::not_run);
  EXPECT_FALSE(judged.value.has_value());
  EXPECT_TRUE(judged.evidence.empty());
}

TEST(Claims, ADoubtWithoutItsPointsIsSaidAndDecidesNothing) {
  const ExperimentResult result = run_of({{"a", 2}, {"b", 1}});
  const JudgedClaim judged = judge(claim(ClaimVerdict::artefact), {&result, 1});
  EXPECT_EQ(judged.verdict, ClaimVerdict::confirmed);
  ASSERT_EQ(judged.evidence.size(), 2U);
  EXPECT_EQ(judged.evidence[1], "the run lacks the points that would say whether c is as fast");
}

TEST(Claims, TheEvidenceIsThePointsAndTheirTimes) {
  const ExperimentResult result = run_of({{"a", 2e-3}, {"b", 1e-3}, {"c", 5e-3}});
  const JudgedClaim judged = judge(claim(ClaimVerdict::artefact), {&result, 1});
  ASSERT_EQ(judged.evidence.size(), 2U);
  EXPECT_EQ(judged.evidence[0],
            "time 2.000 ms at e/emulated/config:a/other:x / time 1.000 ms at "
            "e/emulated/config:b/other:x = 2");
}

TEST(Claims, WhatNoDeviceHereMeasuresIsTakenAsPublished) {
  ExperimentResult result = run_of({{"a", 7}, {"b", 1}, {"c", 5}});
  PointResult& point = result.points[0];
  point.metrics.clear();
  point.skipped = "runs on another machine";
  point.reference = {{.metric = "time", .value = 2, .unit = "s"}};
  const JudgedClaim judged = judge(claim(ClaimVerdict::artefact), {&result, 1});
  EXPECT_EQ(judged.verdict, ClaimVerdict::half) << "the report's own figure confirms nothing";
  EXPECT_NE(judged.because.find("only the emulated half ran: e/"), std::string::npos);
  EXPECT_NE(judged.evidence[0].find("as published"), std::string::npos);
  point.failed = true;
  EXPECT_EQ(verdict_of(claim(ClaimVerdict::artefact), result), ClaimVerdict::not_run);
}

TEST(Claims, HostPointsAreNoEvidence) {
  ExperimentResult result = run_of({{"a", 2}, {"b", 1}, {"c", 5}});
  result.points[0].backend = harness::Backend::host;
  EXPECT_EQ(verdict_of(claim(ClaimVerdict::artefact), result), ClaimVerdict::not_run);
}

TEST(Claims, AnotherChipIsNoEvidence) {
  ExperimentResult result = run_of({{"a", 2}, {"b", 1}, {"c", 5}});
  EXPECT_TRUE(can_judge({&result, 1}));
  result.context.published_chip = false;
  EXPECT_FALSE(can_judge({&result, 1}));
  EXPECT_EQ(verdict_of(claim(ClaimVerdict::artefact), result), ClaimVerdict::not_run);
}

TEST(Claims, TheReportsSummaryIsAllThere) {
  std::vector<std::string> names;
  for (const Claim& one : report_claims()) {
    names.push_back(one.name);
    EXPECT_GT(one.published, 0) << one.name;
  }
  for (const char* const name : {"11x", "1.71x", "1.0x", "1.58x", "5.29x", "83 %"}) {
    EXPECT_NE(std::ranges::find(names, name), names.end()) << name;
  }
}

TEST(Claims, TheTableHasARowForEachAndTheEvidenceBelow) {
  const ExperimentResult result = run_of({{"a", 2}, {"b", 1}, {"c", 1}});
  const std::vector<Claim> claims{claim(ClaimVerdict::artefact)};
  const std::string text = terminal_table(claims_table(claims, {&result, 1}), {});
  for (const char* const part :
       {"2.00x", "artefact", "b is faster", "2x: artefact: c is as fast", "config:a"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  }
}

TEST(Claims, ABadFileIsAnErrorWithItsPlace) {
  const auto error_of = [](const std::string& text) -> std::string {
    return howard::error_of([&] { parse_claims(text, "c.json"); });
  };
  const auto file = [](const std::string& published, const std::string& doubt) {
    const std::string point = R"({"experiment": "e", "params": {}, "metric": "time"})";
    return R"({"schema": "howard.claims/1", "claims": [{"name": "n", "says": "s", "published": )" +
           published + R"(, "value": )" + point + R"(, "doubts": [{"because": "b", "value": )" +
           point + doubt + "}]}]}";
  };
  const std::string good = R"(, "verdict": "artefact", "at_most": 1)";
  EXPECT_EQ(error_of(file("2", good)), "");
  EXPECT_NE(error_of(file("-2", good)).find("/claims/0/published: -2"), std::string::npos);
  EXPECT_NE(error_of(file("2", R"(, "verdict": "artefact")")).find("/claims/0/doubts/0"),
            std::string::npos);
  EXPECT_NE(error_of(file("2", good + R"(, "at_least": 1)")).find("one of"), std::string::npos);
  EXPECT_NE(error_of(file("2", R"(, "verdict": "wrong", "at_most": 1)")).find("\"wrong\""),
            std::string::npos);
  EXPECT_NE(error_of("{").find("c.json"), std::string::npos);
}

}  // namespace
}  // namespace howard::reports
