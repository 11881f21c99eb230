// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <string>

#include "tests/experiments/run_emulated.h"

namespace howard::experiments {
namespace {

using harness::PointResult;

const std::vector<PointResult>& gaps() {
  static const auto points = run_emulated(*make_experiment("dispatch_gaps", built_in_box()));
  return points;
}
const std::vector<PointResult>& cores() {
  static const auto points = run_emulated(*make_experiment("dispatch_cores", built_in_box()));
  return points;
}

TEST(DispatchGaps, TheCoreGridRunHas764GapsBetween768Programs) {
  EXPECT_EQ(published_without_point("dispatch_gaps", gaps()), "");
  for (const char* const profiled : {"yes", "no"}) {
    const PointResult& point = find(gaps(), std::string("workload:core_grid/profiled:") + profiled);
    EXPECT_EQ(point.find_metric("dispatches")->value, 764);
    EXPECT_EQ(*point.find_detail("programs"), "768");
  }
}

TEST(DispatchGaps, TheProfilerMakesTheGapsThatItMeasures) {
  const PointResult& with = find(gaps(), "workload:core_grid/profiled:yes");
  const PointResult& without = find(gaps(), "workload:core_grid/profiled:no");
  EXPECT_GT(with.find_metric("gap_share")->value, 0.75);
  EXPECT_LT(without.find_metric("gap_share")->value, 0.25);
  EXPECT_EQ(with.find_detail("causes")->rfind("profiler ", 0), 0U);
  EXPECT_EQ(without.find_detail("causes")->find("profiler"), std::string::npos);
}

TEST(DispatchGaps, CausesAddUpToTheIdleTime) {
  SimTime of_all;
  for (const PointResult& point : gaps()) {
    SimTime sum;
    for (const harness::Metric& metric : point.metrics) {
      const bool cause = metric.name.starts_with("idle.");
      if (cause) sum += *metric.virtual_time;
    }
    of_all += sum;
    EXPECT_EQ(sum, *point.find_metric("idle_time")->virtual_time) << point.id();
  }
  EXPECT_GT(of_all, SimTime());
}

double gain(const std::string& workload, const std::string& size) {
  return find(cores(), "workload:" + workload + "/size:" + size + "/dispatch:eth")
      .find_metric("gain")
      ->value;
}

TEST(DispatchCores, EthPaysAt4096BecauseOfTheBlockAndHardlyElsewhere) {
  EXPECT_GT(gain("matmul", "4096"), 4.5);
  for (const char* const size : {"512", "1024", "2048", "4032"}) {
    EXPECT_LT(gain("matmul", size), 1.3) << size;
  }
  const PointResult& cliff = find(cores(), "workload:matmul/size:4096/dispatch:worker");
  EXPECT_NE(cliff.find_detail("slowest_product")->find("block 19x1"), std::string::npos);
}

TEST(DispatchCores, AProductThatNeedsNoMoreCoresGainsNothing) {
  EXPECT_LT(gain("matmul", "384"), 1.01);
}

TEST(DispatchCores, PointsThatDoNotFitAreLeftOutWithoutFailing) {
  const PointResult& wide = find(cores(), "workload:gpt2/size:4096");
  EXPECT_TRUE(wide.skipped.has_value());
  for (const PointResult& point : cores()) EXPECT_FALSE(point.failed) << point.id();
}

}  // namespace
}  // namespace howard::experiments
