// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>

#include "tests/experiments/run_emulated.h"

namespace howard::experiments {
namespace {

using harness::PointResult;

std::vector<PointResult> points() {
  return run_emulated(*make_experiment("core_grid", built_in_box()));
}

TEST(CoreGridExperiment, BothPublishedRowsHaveTheirPoint) {
  int rows = 0;
  for (const PointResult& point : points()) {
    if (!point.reference) continue;
    ++rows;
    EXPECT_LT(std::abs(point.relative_error().value()), 0.15) << point.id();
  }
  EXPECT_EQ(rows, 2);
}

TEST(CoreGridExperiment, ThePublishedPartitionLosesAndDisjointPartsWin) {
  const auto all = points();
  for (const char* const traced : {"yes", "no"}) {
    const auto time = [&](const std::string& layout) {
      return seconds(all, "layout:" + layout + "/trace:" + traced);
    };
    EXPECT_GT(time("partitioned"), time("full_grid"));
    EXPECT_LT(time("disjoint"), time("full_grid"));
  }
}

TEST(CoreGridExperiment, ATraceSavesHostTimeOnly) {
  const auto all = points();
  const double traced = seconds(all, "full_grid/trace:yes");
  const double eager = seconds(all, "full_grid/trace:no");
  EXPECT_LT(traced, eager);
  EXPECT_LT(eager - traced, 0.1 * eager) << "the kernels bound both";
}

}  // namespace
}  // namespace howard::experiments
