// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/experiments/run_emulated.h"

namespace howard::experiments {
namespace {

using Axes = std::vector<harness::AxisOverride>;

std::vector<harness::PointResult> passes(const Axes& axes) {
  return run_emulated(*make_experiment("vision", built_in_box()), axes);
}

double metric(const harness::PointResult& point, const char* name) {
  const harness::Metric* const found = point.find_metric(name);
  EXPECT_NE(found, nullptr) << point.id() << ": " << point.skipped.value_or(name);
  return found == nullptr ? 0 : found->value;
}

TEST(Vision, APassTakesItsKernelsAndASecondQueueHidesItsInputs) {
  const auto points = passes({});
  ASSERT_GE(points.size(), 8U) << "four models, each with two queues and one";
  for (std::size_t i = 0; i < points.size(); i += 2) {
    const harness::PointResult &two = points[i], &one = points[i + 1];
    double parts = 0;
    for (const harness::Metric& part : two.metrics) {
      if (part.name.starts_with("kernel_time.")) parts += part.value;
    }
    EXPECT_NEAR(parts, metric(two, "kernel_time"), 1e-9) << two.id();
    EXPECT_GT(metric(two, "time"), parts) << two.id();
    EXPECT_EQ(metric(two, "kernel_time"), metric(one, "kernel_time")) << one.id();
    if (one.id().find("vgg-unet") != std::string::npos) {
      EXPECT_EQ(metric(one, "time"), metric(two, "time")) << "its host waits for each result";
    } else {
      EXPECT_GT(metric(one, "time"), metric(two, "time")) << one.id();
    }
    EXPECT_GT(metric(one, "trace_bytes"), 0) << one.id();
    EXPECT_LT(metric(one, "trace_bytes"), metric(one, "trace_region")) << one.id();
  }
}

TEST(Vision, EachOfSeveralChipsHasABatch) {
  const auto points =
      passes({{"model", {"resnet-50"}}, {"machine", {"n150", "n300", "t3k"}}, {"queues", {"2"}}});
  ASSERT_EQ(points.size(), 3U);
  const double one = metric(points[0], "samples_per_second");
  EXPECT_NEAR(metric(points[1], "samples_per_second"), 2 * one, 0.2 * one);
  EXPECT_NEAR(metric(points[2], "samples_per_second"), 8 * one, 0.8 * one);
  EXPECT_DOUBLE_EQ(metric(points[0], "samples_per_second") * metric(points[0], "time"), 16);
}

TEST(Vision, AConstantSetToItsOwnValueChangesNoPass) {
  const Axes axes{{"model", {"resnet-50"}}};
  const auto usual = passes(axes);
  const auto box = std::make_shared<const DevBox>(
      chip::load_constants({.profiles = {}, .settings = {"noc.link=28B/cycle"}}),
      host::HostOptions{}, 1);
  const auto set = run_emulated(*make_experiment("vision", box), axes);
  ASSERT_EQ(set.size(), usual.size());
  for (std::size_t i = 0; i < set.size(); ++i) {
    EXPECT_EQ(metric(set[i], "time"), metric(usual[i], "time")) << set[i].id();
  }
}

TEST(Vision, EveryPublishedRowHasAPoint) {
  EXPECT_EQ(published_without_point("vision", passes({{"machine", {"n150", "n300", "t3k"}}})), "");
}

TEST(Vision, AModelRunsOnALargerChipWhoseOtherCoresAreIdle) {
  const auto points = passes({{"model", {"vit-base"}}, {"machine", {"n150", "p150", "p300x2"}}});
  ASSERT_EQ(points.size(), 6U);
  const auto rate = [&](std::size_t i) { return metric(points[i], "samples_per_second"); };
  EXPECT_GT(rate(2), rate(0)) << "its clock is faster";
  EXPECT_GT(rate(4), 3 * rate(2)) << "four chips";
  EXPECT_TRUE(points[0].warnings.empty());
  ASSERT_FALSE(points[2].warnings.empty());
  EXPECT_NE(points[2].warnings.back().find("idle"), std::string::npos);
}

TEST(Vision, SpeechIsAnEncoderAndTokensOfADecoder) {
  const auto of = [](const char* model) {
    const auto points = passes({{"model", {model}}, {"queues", {"2"}}});
    return metric(points.at(0), "time");
  };
  const double whisper = of("whisper-decoder"), distil = of("distil-whisper-decoder");
  EXPECT_GT(whisper, 5 * distil) << "32 layers and two, and the same head";
  EXPECT_LT(whisper, 16 * distil);
  EXPECT_GT(of("whisper-encoder"), whisper) << "1500 places";
}

TEST(Vision, TextsAreEmbeddedByTheEncodersThatTheyShare) {
  const auto rate = [](const char* model) {
    return metric(passes({{"model", {model}}, {"queues", {"2"}}}).at(0), "samples_per_second");
  };
  EXPECT_NEAR(rate("bge-large"), rate("bert-large"), 0.02 * rate("bert-large"));
  EXPECT_GT(rate("sentence-bert"), 2 * rate("bge-large")) << "half of the layers, and narrower";
}

}  // namespace
}  // namespace howard::experiments
