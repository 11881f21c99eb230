// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>

#include "tests/experiments/run_emulated.h"

namespace howard::experiments {
namespace {

using harness::PointResult;

class TwoQueues : public ::testing::Test {
 protected:
  static double time(const std::string& size, const std::string& layout) {
    static const std::vector<PointResult> points =
        run_emulated(*make_experiment("two_queues", built_in_box()));
    const double result =
        seconds(points, "shape:" + size + "x" + size + "x" + size + "/layout:" + layout);
    EXPECT_GT(result, 0) << size << " " << layout;
    return result;
  }
};

TEST_F(TwoQueues, EveryPublishedRowHasItsPoint) {
  int rows = 0;
  for (const PointResult& point : run_emulated(*make_experiment("two_queues", built_in_box()))) {
    if (!point.reference) continue;
    ++rows;
    if (point.reference->status == "artefact") continue;
    EXPECT_LT(std::abs(point.relative_error().value()), 0.15) << point.id();
  }
  EXPECT_EQ(rows, 12);
}

TEST_F(TwoQueues, ThePublishedSecondQueueIsTheFirstOneAgain) {
  for (const char* const size : {"256", "512", "1024", "2048"}) {
    EXPECT_EQ(time(size, "half_2cq"), time(size, "half_1cq"));
  }
}

TEST_F(TwoQueues, RealQueuesBeatOneQueueOnHalfTheCoresAndNeverDoubleItsSpeed) {
  for (const char* const size : {"512", "1024", "2048"}) {
    EXPECT_LT(time(size, "parallel_2cq"), time(size, "half_1cq"));
    EXPECT_GT(time(size, "parallel_2cq"), 0.5 * time(size, "half_1cq"));
  }
}

TEST_F(TwoQueues, TwoHalvesAreAheadOfTheWholeGridAlsoWhereTheReportSawALoss) {
  EXPECT_LT(time("2048", "parallel_2cq"), time("2048", "full_1cq"));
  EXPECT_GT(time("2048", "half_1cq"), time("2048", "full_1cq")) << "one queue on half the cores";
}

}  // namespace
}  // namespace howard::experiments
