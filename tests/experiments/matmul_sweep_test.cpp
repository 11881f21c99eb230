// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "base/error.h"
#include "engines/chip/profiles/profile.h"
#include "experiments/laboratory/devbox.h"
#include "harness/runner.h"
#include "reports/published/reference.h"
#include "tests/experiments/run_emulated.h"

namespace howard::experiments {
namespace {

using harness::AxisOverride;
using harness::Backend;
using harness::PlanOptions;
using harness::PointResult;

class MatmulSweep : public ::testing::Test {
 protected:
  std::vector<PointResult> run(const PlanOptions& options) const {
    return harness::run_points(*sweep_, harness::plan_points(*sweep_, options),
                               {.repetitions = 2, .min_time = 0.001});
  }

  std::vector<PointResult> emulate(std::vector<AxisOverride> overrides = {}) const {
    return run({.backends = {Backend::emulated}, .overrides = std::move(overrides)});
  }

  static double seconds(const std::vector<PointResult>& points, const std::string& id) {
    const auto point = std::ranges::find(points, id, &PointResult::id);
    return point == points.end() ? std::nan("") : point->find_metric("time")->value;
  }

  std::shared_ptr<const DevBox> box_ =
      std::make_shared<const DevBox>(chip::load_profiles(), host::HostOptions{}, 1);
  std::unique_ptr<harness::Experiment> sweep_ = make_experiment("matmul_sweep", box_);
};

std::string id(int n, const std::string& dispatch) {
  return fmt::format(
      "emulated/shape:{0}x{0}x{0}/dispatch:{1}/dtype:bfloat16/fidelity:default/grid:default/"
      "sync:each",
      n, dispatch);
}

TEST_F(MatmulSweep, EveryPublishedRowHasAPointAndItsError) {
  harness::ExperimentResult result{.experiment = "matmul_sweep", .points = emulate()};
  reports::attach_references(result);
  ASSERT_EQ(result.points.size(), 12U);
  for (const PointResult& point : result.points) {
    ASSERT_TRUE(point.reference.has_value()) << point.id();
    // This is a sanity bound, far above the errors that the documentation states, for a unit or a
    // row that is mixed up.
    EXPECT_LT(std::abs(point.relative_error().value()), 0.5) << point.id();
  }
}

TEST_F(MatmulSweep, TheCliffAt4096ComesOutOfThePlanner) {
  const auto points = emulate({{"shape", {"2048x2048x2048", "4096x4096x4096"}}});
  const double ratio = seconds(points, id(4096, "worker")) / seconds(points, id(4096, "eth"));
  EXPECT_GT(ratio, 4.5);
  EXPECT_LT(ratio, 6.0);
  EXPECT_LT(seconds(points, id(2048, "worker")) / seconds(points, id(2048, "eth")), 1.3);
}

TEST_F(MatmulSweep, WeightsAndResultMayHaveTypesOfTheirOwn) {
  const auto time = [&](std::vector<AxisOverride> overrides) {
    overrides.push_back({"shape", {"32x2048x8192"}});
    overrides.push_back({"dispatch", {"worker"}});
    const std::vector<PointResult> points = emulate(std::move(overrides));
    EXPECT_EQ(points.size(), 1U);
    return points.front().find_metric("kernel_time")->value;
  };
  const double plain = time({});
  const double narrow_weights = time({{"weights", {"bfloat8_b"}}});
  EXPECT_LT(narrow_weights, plain) << "its time is that of reading the weights";
  EXPECT_LT(time({{"weights", {"bfloat4_b"}}}), narrow_weights);
  EXPECT_GT(time({{"output", {"float32"}}}), plain);
}

TEST_F(MatmulSweep, SmallProductsAreBoundByTheHostAndLargeOnesAreNot) {
  const auto points =
      emulate({{"shape", {"128x128x128", "4096x4096x4096"}}, {"dispatch", {"worker"}}});
  EXPECT_EQ(*points[0].find_detail("bound_by"), "dispatch");
  EXPECT_EQ(*points[1].find_detail("bound_by"), "in0 reads");
}

TEST_F(MatmulSweep, WithoutAFinishAfterEachTheHostHidesBehindTheDevice) {
  const auto points =
      emulate({{"shape", {"1024x1024x1024"}}, {"dispatch", {"worker"}}, {"sync", {"each", "end"}}});
  const double kernel = points[1].find_metric("kernel_time")->value;
  EXPECT_GT(points[0].find_metric("time")->value, kernel + 50e-6);
  EXPECT_LT(points[1].find_metric("time")->value, kernel + 5e-6);
}

TEST_F(MatmulSweep, ThroughputCountsTheUnpaddedProductAndPaddingIsWarnedOf) {
  const auto points = emulate({{"shape", {"100x100x100"}}, {"dispatch", {"worker"}}});
  const PointResult& point = points[0];
  EXPECT_DOUBLE_EQ(point.find_metric("throughput")->value, 2e6 / point.find_metric("time")->value);
  ASSERT_EQ(point.warnings.size(), 1U);
  EXPECT_NE(point.warnings[0].find("the device computes 128x128x128"), std::string::npos);
  EXPECT_TRUE(emulate({{"shape", {"128x128x128"}}})[0].warnings.empty());
}

TEST_F(MatmulSweep, AProductBeyondDramIsSkippedWithItsReasonAndTheOthersRun) {
  const auto points =
      emulate({{"shape", {"100000x100000x100000", "128x128x128"}}, {"dispatch", {"worker"}}});
  EXPECT_TRUE(points[0].failed);
  EXPECT_NE(points[0].skipped->find("DRAM of wormhole_b0_n300"), std::string::npos);
  EXPECT_FALSE(points[1].skipped.has_value());
}

TEST_F(MatmulSweep, TheHostComputesTheSameProducts) {
  const auto points = run(
      {.backends = {Backend::host},
       .overrides = {{"shape", {"64x96x32"}}, {"dtype", {"bfloat16", "float32", "bfloat8_b"}}}});
  ASSERT_EQ(points.size(), 3U);
  for (int i = 0; i < 2; ++i) {
    const PointResult& point = points[static_cast<std::size_t>(i)];
    EXPECT_EQ(point.skipped, std::nullopt);
    EXPECT_EQ(point.find_metric("time")->samples.size(), 2U);
    EXPECT_GT(point.find_metric("throughput")->value, 0);
  }
  EXPECT_TRUE(points[2].skipped.has_value());
  EXPECT_FALSE(points[2].failed) << "a block format does not apply to the host; nothing is wrong";
}

}  // namespace
}  // namespace howard::experiments
