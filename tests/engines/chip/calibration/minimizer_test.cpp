// SPDX-License-Identifier: Apache-2.0
#include "engines/chip/calibration/minimizer.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"

namespace howard::calibration {
namespace {

using Point = std::vector<double>;

double bowl(const Point& x) {
  double sum = 0;
  for (std::size_t i = 0; i < x.size(); ++i) sum += std::pow(x[i] - 0.3 - 0.1 * double(i), 2);
  return sum;
}

TEST(Minimizer, FindsTheBottomOfABowl) {
  for (const std::size_t size : {1U, 2U, 5U}) {
    const Point found = minimise_in_unit_box(bowl, Point(size, 0.9), 0.1, 2000);
    EXPECT_LT(bowl(found), 1e-7) << size;
  }
}

TEST(Minimizer, FindsTheBottomOfAKink) {
  const auto kink = [](const Point& x) { return std::abs(x[0] - 0.6) + 2 * std::abs(x[1] - x[0]); };
  const Point found = minimise_in_unit_box(kink, {0.1, 0.9}, 0.1, 3000);
  EXPECT_NEAR(found[0], 0.6, 1e-3);
  EXPECT_NEAR(found[1], 0.6, 1e-3);
}

TEST(Minimizer, StopsAtTheWalls) {
  const auto slope = [](const Point& x) { return x[0] - x[1]; };
  const Point found = minimise_in_unit_box(slope, {0.5, 0.5}, 0.1, 1000);
  EXPECT_NEAR(found[0], 0, 1e-3);
  EXPECT_NEAR(found[1], 1, 1e-3);
  EXPECT_GE(found[0], 0);
  EXPECT_LE(found[1], 1);
}

TEST(Minimizer, KeepsItsBudgetAndIsNeverWorseThanTheStart) {
  int calls = 0;
  const auto counted = [&](const Point& x) {
    ++calls;
    return bowl(x);
  };
  const Point start{0.31, 0.41, 0.51};
  for (const int budget : {1, 2, 3, 40}) {
    calls = 0;
    const Point found = minimise_in_unit_box(counted, start, 0.1, budget);
    EXPECT_LE(calls, budget + 1) << "the start besides";
    EXPECT_LE(bowl(found), bowl(start));
  }
  EXPECT_EQ(minimise_in_unit_box(bowl, start, 0.1, 0), start);
  EXPECT_TRUE(minimise_in_unit_box(bowl, {}, 0.1, 100).empty());
}

TEST(Minimizer, AnErrorOfTheObjectiveComesThrough) {
  const auto fails = [calls = 0](const Point& x) mutable {
    if (++calls > 3) {
      throw Error({.attempted = "evaluate", .value = "x"});
    }
    return bowl(x);
  };
  EXPECT_THROW(minimise_in_unit_box(fails, {0.5, 0.5}, 0.1, 100), Error);
}

}  // namespace
}  // namespace howard::calibration
