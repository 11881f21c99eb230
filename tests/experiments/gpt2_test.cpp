// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "tests/experiments/run_emulated.h"

namespace howard::experiments {
namespace {

using harness::PointResult;

const std::vector<PointResult>& full() {
  static const auto points = run_emulated(*gpt2_full(built_in_box()));
  return points;
}
const std::vector<PointResult>& trace() {
  static const auto points = run_emulated(*gpt2_trace(built_in_box()));
  return points;
}

std::string point(const std::string& engine, const std::string& variant, const std::string& layers,
                  const std::string& dispatch) {
  return "engine:" + engine + "/variant:" + variant + "/layers:" + layers +
         "/dim:384/batch:32/dispatch:" + dispatch;
}

TEST(Gpt2Experiments, EveryPublishedRowHasItsPoint) {
  EXPECT_EQ(published_without_point("gpt2_full", full()), "");
  EXPECT_EQ(published_without_point("gpt2_trace", trace()), "");
}

TEST(Gpt2Experiments, ATraceGainsNothingBecauseTheHostIsFasterThanTheKernels) {
  for (const char* const variant : {"as_published", "corrected"}) {
    const PointResult& eager = find(trace(), point("static", variant, "6", "worker"));
    const double time = eager.find_metric("time")->value;
    EXPECT_NEAR(seconds(trace(), point("traced", variant, "6", "worker")), time, 0.01 * time);
    EXPECT_LT(eager.find_metric("host_time")->value, 0.2 * time);
    EXPECT_EQ(*eager.find_detail("bound_by"), "kernels: matmul");
  }
}

TEST(Gpt2Experiments, AStepIs900CallsAnd975LaunchesAndItsTimeIsInProportionToTheLayers) {
  const PointResult& six = find(trace(), point("static", "as_published", "6", "worker"));
  EXPECT_EQ(*six.find_detail("calls"), "900");
  EXPECT_EQ(*six.find_detail("launches"), "975");
  const auto time = [](const char* layers) {
    return seconds(trace(), point("static", "as_published", layers, "worker"));
  };
  EXPECT_NEAR(time("6") - time("3"), 3 * (time("2") - time("1")), 0.02 * time("6"));
}

TEST(Gpt2Experiments, SummedGradientsAreFasterThanThirtyTwoCopiesOfEachWeight) {
  EXPECT_LT(seconds(trace(), point("static", "corrected", "6", "worker")),
            seconds(trace(), point("static", "as_published", "6", "worker")));
}

TEST(Gpt2Experiments, TheKindsOfKernelsAreNamedWithTheirShares) {
  const PointResult& six = find(trace(), point("static", "as_published", "6", "worker"));
  EXPECT_EQ(six.find_detail("kernels")->rfind("matmul ", 0), 0U) << *six.find_detail("kernels");
  EXPECT_NE(six.find_detail("kernels")->find("(147, "), std::string::npos);
}

TEST(Gpt2Experiments, TtmlIsItsOwnListOfLaunchesAndSaysThatItsPublishedTimeIsALiteral) {
  const PointResult& ttml = find(full(), "engine:ttml/variant:as_published");
  EXPECT_EQ(*ttml.find_detail("launches"), "1690");
  ASSERT_EQ(ttml.warnings.size(), 1U);
  EXPECT_NE(ttml.warnings[0].find("literal"), std::string::npos);
  const PointResult& corrected = find(full(), "engine:ttml/variant:corrected");
  EXPECT_TRUE(corrected.skipped.has_value());
  EXPECT_FALSE(corrected.failed);
}

TEST(Gpt2Experiments, AWidthThatIsNoWholeNumberOfHeadsSkipsThePoint) {
  const auto points = run_emulated(*gpt2_trace(built_in_box()),
                                   {{"dim", {"100"}}, {"layers", {"1"}}, {"engine", {"static"}}});
  for (const PointResult& each : points) {
    EXPECT_TRUE(each.failed);
    EXPECT_NE(each.skipped->find("multiple of 64"), std::string::npos);
  }
}

TEST(Gpt2Experiments, TheHostTrainsBothModels) {
  const auto expect_falling = [](const std::vector<PointResult>& points) {
    EXPECT_FALSE(points.empty());
    for (const PointResult& each : points) {
      ASSERT_EQ(each.skipped, std::nullopt) << each.id();
      ASSERT_NE(each.find_metric("loss"), nullptr) << each.id();
      EXPECT_NE(each.find_detail("loss")->find(", falls"), std::string::npos)
          << each.id() << ": " << *each.find_detail("loss");
    }
  };
  expect_falling(
      run_host(*gpt2_trace(built_in_box()), {{"engine", {"static", "traced", "traced_fused"}},
                                             {"dim", {"64"}},
                                             {"layers", {"1"}},
                                             {"batch", {"1"}}}));
  expect_falling(run_host(
      *gpt2_full(built_in_box()),
      {{"engine", {"ttml"}}, {"variant", {"as_published"}}, {"layers", {"1"}}, {"batch", {"1"}}}));
}

}  // namespace
}  // namespace howard::experiments
