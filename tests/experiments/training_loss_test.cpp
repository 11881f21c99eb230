// SPDX-License-Identifier: Apache-2.0
#include "experiments/cases/training_loss.h"

#include <gtest/gtest.h>

#include <limits>

namespace howard::experiments {
namespace {

TEST(TrainingLoss, IsAMetricAndHowItCameThere) {
  harness::PointResult point;
  describe_loss(0.25, 0.125, point);
  ASSERT_NE(point.find_metric("loss"), nullptr);
  EXPECT_EQ(point.find_metric("loss")->value, 0.125);
  EXPECT_EQ(*point.find_detail("loss"), "0.25 to 0.125, falls");
}

TEST(TrainingLoss, OneThatIsNotFiniteIsNoMetric) {
  for (const double last :
       {std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()}) {
    harness::PointResult point;
    describe_loss(0.25, last, point);
    EXPECT_TRUE(point.metrics.empty());
    EXPECT_EQ(*point.find_detail("loss"), "0.25, then diverges");
  }
}

}  // namespace
}  // namespace howard::experiments
