// SPDX-License-Identifier: Apache-2.0
#include "engines/chip/calibration/error_summary.h"

#include <gtest/gtest.h>

#include <vector>

namespace howard::calibration {
namespace {

TEST(ErrorSummary, IsOfTheSizesOfOneQuantitysErrors) {
  std::vector<Residual> residuals;
  for (std::size_t i = 1; i <= 10; ++i) {
    const double error = (i % 2 == 0 ? 0.01 : -0.01) * static_cast<double>(i);
    residuals.push_back({.table = 1, .row = i, .quantity = 0, .error = error});
    residuals.push_back({.table = 1, .row = i, .quantity = 1, .error = 7});
    residuals.push_back({.table = 0, .row = i, .quantity = 0, .error = 9});
  }
  const ErrorSummary errors = summarise(residuals, 1, 0);
  EXPECT_EQ(errors.rows, 10U);
  EXPECT_DOUBLE_EQ(errors.median, 0.055);
  EXPECT_DOUBLE_EQ(errors.mean, 0.055);
  EXPECT_DOUBLE_EQ(errors.p90, 0.09);
  EXPECT_DOUBLE_EQ(errors.worst, 0.10);
}

TEST(ErrorSummary, OfTwoErrorsHasTheirMeanAsMedian) {
  const ErrorSummary errors = summarise({-0.3, 0.1});
  EXPECT_EQ(errors.rows, 2U);
  EXPECT_DOUBLE_EQ(errors.median, 0.2);
  EXPECT_DOUBLE_EQ(errors.mean, 0.2);
  EXPECT_DOUBLE_EQ(errors.p90, 0.3);
}

TEST(ErrorSummary, OfNothingIsZeroAndOfOneRowIsThatRow) {
  EXPECT_EQ(summarise({}, 0, 0).rows, 0U);
  const std::vector<Residual> one{{.error = -0.2}};
  EXPECT_EQ(summarise(one, 0, 0).median, 0.2);
  EXPECT_EQ(summarise(one, 0, 0).p90, 0.2);
}

}  // namespace
}  // namespace howard::calibration
