// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"
#include "experiments/all.h"
#include "experiments/workloads/mesh_step.h"
#include "tests/experiments/run_emulated.h"

namespace howard::experiments {
namespace {

using harness::PointResult;

TEST(MeshShapes, AreReadAndOthersRefused) {
  EXPECT_EQ(mesh_text(parse_mesh("2x4")), "2x4x1");
  EXPECT_EQ(parse_mesh("2x4x3").chips(), 24);
  for (const char* const bad : {"", "0x1x1", "2x", "axb", "1x1x1x1", "-1x1x1", "64x64x1"}) {
    EXPECT_THROW(parse_mesh(bad), Error) << bad;
  }
}

class ParallelSteps : public ::testing::Test {
 protected:
  static PointResult point(const std::string& mesh, std::vector<harness::AxisOverride> more = {}) {
    more.push_back({"mesh", {mesh}});
    // The smallest whose parts chips can share.
    more.push_back({"model", {parse_mesh(mesh).tp == 1 ? "nanollama3" : "tinyllama"}});
    const auto points = run_emulated(*parallel(built_in_box()), more);
    EXPECT_EQ(points.size(), 1U);
    return points.front();
  }
  static double metric(const PointResult& point, const std::string& name) {
    const harness::Metric* const found = point.find_metric(name);
    EXPECT_NE(found, nullptr) << name << ": " << point.skipped.value_or("");
    return found == nullptr ? 0 : found->value;
  }
};

TEST_F(ParallelSteps, PartsAddUpToTheStep) {
  for (const char* const mesh : {"1x1x1", "2x1x1", "1x2x1", "1x1x2", "2x2x2"}) {
    const PointResult step = point(mesh);
    double sum = 0;
    for (const char* const part : {"compute_time", "exchange_time", "bubble_time", "host_time"}) {
      EXPECT_GE(metric(step, part), 0) << mesh << " " << part;
      sum += metric(step, part);
    }
    EXPECT_NEAR(sum, metric(step, "time"), 1e-11) << mesh;
  }
}

TEST_F(ParallelSteps, OneChipExchangesNothingAndWaitsForNobody) {
  const PointResult alone = point("1x1x1");
  EXPECT_EQ(metric(alone, "exchange_time"), 0);
  EXPECT_EQ(metric(alone, "bubble_time"), 0);
  EXPECT_GT(metric(point("2x1x1"), "exchange_time"), 0);
  EXPECT_GT(metric(point("1x2x1"), "exchange_time"), 0);
}

TEST_F(ParallelSteps, DataParallelChipsExchangeTheGradientsOnceForAnUpdate) {
  const double once = metric(point("2x1x1", {{"micro_batches", {"1"}}}), "exchange_time");
  const double often = metric(point("2x1x1", {{"micro_batches", {"8"}}}), "exchange_time");
  EXPECT_EQ(once, often);
  // 34 million gradients of 2 bytes, half of each sum on the way there and half on the way back.
  EXPECT_GT(once, 34.3e6 * 2 / 7.42e9);
  EXPECT_LT(once, 2 * 34.3e6 * 2 / 7.42e9);
}

TEST_F(ParallelSteps, TensorParallelChipsExchangeInEachMicroBatch) {
  const double once = metric(point("1x2x1", {{"micro_batches", {"1"}}}), "exchange_time");
  const double often = metric(point("1x2x1", {{"micro_batches", {"8"}}}), "exchange_time");
  EXPECT_NEAR(often / once, 8, 1e-9);
}

TEST_F(ParallelSteps, ALossOfDividedLogitsExchangesLess) {
  const PointResult gathered = point("1x2x1");
  const PointResult sharded = point("1x2x1", {{"loss", {"sharded"}}});
  EXPECT_LT(metric(sharded, "exchange_time"), 0.97 * metric(gathered, "exchange_time"));
}

TEST_F(ParallelSteps, StagesWaitLessInBetterSchedules) {
  const auto of = [](const std::string& schedule) {
    return point("1x1x2", {{"schedule", {schedule}}, {"micro_batches", {"8"}}});
  };
  const PointResult ttml = of("ttml");
  const PointResult gpipe = of("gpipe");
  const PointResult interleaved = of("1f1b");
  // Two stages of TTML wait for half of the time, with the head's stage working longer.
  EXPECT_NEAR(metric(ttml, "bubble_time") / metric(ttml, "time"), 0.5, 0.03);
  EXPECT_LT(metric(gpipe, "time"), 0.8 * metric(ttml, "time"));
  EXPECT_LT(metric(interleaved, "time"), 0.8 * metric(ttml, "time"));
  EXPECT_LT(metric(interleaved, "memory"), metric(gpipe, "memory"));
  const PointResult linked = point("1x1x2", {{"socket", {"fabric"}}});
  EXPECT_LT(metric(linked, "exchange_time"), metric(point("1x1x2"), "exchange_time"));
}

TEST_F(ParallelSteps, WhatAMeshDoesNotDivideIsSaid) {
  EXPECT_EQ(point("1x3x1").skipped, "32 heads cannot be divided by 3 chips");
  EXPECT_EQ(point("1x8x1").skipped, "4 groups of heads cannot be divided by 8 chips");
  EXPECT_EQ(point("3x1x1").skipped, "8 sequences cannot be divided by 3 groups of chips");
  EXPECT_EQ(point("1x1x7").skipped, "6 blocks cannot be divided by 7 stages");
  EXPECT_EQ(point("2x1x1", {{"schedule", {"gpipe"}}}).skipped, "one stage has no schedule");
}

}  // namespace
}  // namespace howard::experiments
