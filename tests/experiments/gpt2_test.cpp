// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "tests/experiments/run_emulated.h"

namespace howard::experiments {
namespace {

using harness::PointResult;

const std::vector<PointResult>& full() {
  static const auto points = run_emulated(*make_experiment("gpt2_full", built_in_box()));
  return points;
}
const std::vector<PointResult>& trace() {
  static const auto points = run_emulated(*make_experiment("gpt2_trace", built_in_box()));
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
  const auto points = run_emulated(*make_experiment("gpt2_trace", built_in_box()),
                                   {{"dim", {"100"}}, {"layers", {"1"}}, {"engine", {"static"}}});
  for (const PointResult& each : points) {
    EXPECT_TRUE(each.failed);
    EXPECT_NE(each.skipped->find("multiple of 64"), std::string::npos);
  }
}

/// The time of a small step of `engine` with one more thing said.
double small_step(const std::string& engine, const harness::AxisOverride& changed) {
  const auto points =
      run_emulated(*make_experiment("gpt2_full", built_in_box()), {{"engine", {engine}},
                                                                   {"variant", {"as_published"}},
                                                                   {"layers", {"1"}},
                                                                   {"batch", {"2"}},
                                                                   changed});
  EXPECT_EQ(points.size(), 1U);
  EXPECT_EQ(points[0].skipped, std::nullopt) << *points[0].skipped;
  return points[0].find_metric("kernel_time")->value;
}

TEST(Gpt2Experiments, SizesThatUsersChangeCount) {
  for (const char* const engine : {"ttml", "static"}) {
    const double plain = small_step(engine, {"sequence", {"256"}});
    EXPECT_EQ(small_step(engine, {"heads", {"6"}}), plain) << "what it is anyway";
    EXPECT_EQ(small_step(engine, {"ffn", {"1536"}}), plain);
    EXPECT_GT(small_step(engine, {"sequence", {"512"}}), plain);
    EXPECT_GT(small_step(engine, {"dim", {"768"}}), plain);
    EXPECT_GT(small_step(engine, {"ffn", {"3072"}}), plain);
    EXPECT_GT(small_step(engine, {"vocabulary", {"4096"}}), plain);
    EXPECT_NE(small_step(engine, {"heads", {"12"}}), plain);
  }
}

TEST(Gpt2Experiments, TtmlHasItsVariants) {
  const double plain = small_step("ttml", {"gelu_backward", {"fused"}});
  EXPECT_GT(small_step("ttml", {"gelu_backward", {"composite"}}), plain);
  EXPECT_NE(small_step("ttml", {"layernorm", {"composite"}}), plain);
  EXPECT_LT(small_step("ttml", {"optimizer", {"moreh"}}), plain) << "one program for seventeen";
  EXPECT_EQ(small_step("ttml", {"attention", {"composite"}}), plain);
  EXPECT_NE(small_step("ttml", {"attention", {"fused"}}), plain);
  const auto other = run_emulated(*make_experiment("gpt2_full", built_in_box()),
                                  {{"engine", {"static"}}, {"layernorm", {"composite"}}});
  for (const PointResult& each : other) EXPECT_TRUE(each.skipped.has_value()) << each.id();
}

TEST(Gpt2Experiments, APointOfOtherSizesHasNoPublishedFigure) {
  for (const auto& point : run_emulated(
           *make_experiment("gpt2_full", built_in_box()),
           {{"engine", {"static"}}, {"variant", {"as_published"}}, {"vocabulary", {"512"}}})) {
    EXPECT_FALSE(point.reference.has_value()) << point.id();
  }
  const auto heads = run_emulated(*make_experiment("gpt2_full", built_in_box()),
                                  {{"heads", {"7"}}, {"layers", {"1"}}});
  for (const PointResult& each : heads) {
    if (each.parameters.front().second == "static") {
      EXPECT_NE(each.skipped->find("heads that divide"), std::string::npos);
    }
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
  expect_falling(run_host(*make_experiment("gpt2_trace", built_in_box()),
                          {{"engine", {"static", "traced", "traced_fused"}},
                           {"dim", {"64"}},
                           {"layers", {"1"}},
                           {"batch", {"1"}}}));
  expect_falling(run_host(
      *make_experiment("gpt2_full", built_in_box()),
      {{"engine", {"ttml"}}, {"variant", {"as_published"}}, {"layers", {"1"}}, {"batch", {"1"}}}));
}

}  // namespace
}  // namespace howard::experiments
