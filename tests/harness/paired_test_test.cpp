// SPDX-License-Identifier: Apache-2.0
#include "harness/paired_test.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

namespace howard::harness {
namespace {

TEST(PairedTest, TheSignedRankPIsThatOfTheTables) {
  // Six differences of one sign: 2 / 2^6. With the smallest of the other sign: 4 / 2^6.
  const std::vector<double> up{1, 2, 3, 4, 5, 6};
  EXPECT_NEAR(signed_rank_shift(up, 0.05).p, 2.0 / 64, 1e-12);
  const std::vector<double> one_down{-1, 2, 3, 4, 5, 6};
  EXPECT_NEAR(signed_rank_shift(one_down, 0.05).p, 4.0 / 64, 1e-12);
  const std::vector<double> zeros{0, 0, 0, 0};
  EXPECT_EQ(signed_rank_shift(zeros, 0.05).p, 1);
  // With equal sizes only the number of signs counts: 2 (1 + 5) / 2^5.
  const std::vector<double> ties{1, 1, 1, 1, -1};
  EXPECT_NEAR(signed_rank_shift(ties, 0.05).p, 2 * 6.0 / 32, 1e-12);
}

TEST(PairedTest, TheShiftIsTheMedianOfMeansAndItsIntervalThatOfTheTables) {
  // For n = 10 and 5 % the tables give 8: the ninth of the 55 means from either end.
  std::vector<double> values(10);
  std::iota(values.begin(), values.end(), 1.0);
  const Shift shift = signed_rank_shift(values, 0.05);
  EXPECT_NEAR(shift.estimate, 5.5, 1e-12);
  std::vector<double> means;
  for (std::size_t i = 0; i < 10; ++i) {
    for (std::size_t j = i; j < 10; ++j) means.push_back((values[i] + values[j]) / 2);
  }
  std::sort(means.begin(), means.end());
  EXPECT_EQ(shift.interval[0], means[8]);
  EXPECT_EQ(shift.interval[1], means[55 - 9]);
  EXPECT_TRUE(std::isinf(signed_rank_shift(std::vector<double>{1, 2, 3}, 0.05).interval[1]));
}

TEST(PairedTest, FewestPairsReachTheirAlphaAndOneLessDoesNot) {
  for (const double alpha : {0.05, 0.01, 0.01 / 30}) {
    const std::size_t fewest = fewest_pairs(alpha);
    EXPECT_LE(2 * std::pow(0.5, static_cast<double>(fewest)), alpha);
    EXPECT_GT(2 * std::pow(0.5, static_cast<double>(fewest - 1)), alpha);
  }
}

TEST(PairedTest, AboveTwoHundredPairsTheNormalDistributionIsCloseToTheExactOne) {
  std::vector<double> values;
  for (int i = 0; i < 200; ++i) values.push_back((i % 9 < 4 ? -1.0 : 1.0) * (1 + i));
  const double exact = signed_rank_shift(values, 0.05).p;
  values.push_back(0);  // counts as no evidence, so that the sum is the same
  EXPECT_NEAR(signed_rank_shift(values, 0.05).p, exact, 1e-12);
  values.back() = 1e-9;
  EXPECT_NEAR(signed_rank_shift(values, 0.05).p, exact, 0.01);
}

TEST(PairedTest, StudentsTestOfOneAgainstManyIsThatOfTheTables) {
  // The variance of 1 to 5 is 2.5; 6 is 3 above the mean, with an error of sqrt(2.5 * 1.2).
  const std::vector<double> before{1, 2, 3, 4, 5};
  const std::vector<double> after{6};
  const Shift shift = student_shift(before, after, 0.05);
  EXPECT_EQ(shift.estimate, 3);
  EXPECT_NEAR(shift.half_width(), 2.7764 * std::sqrt(3.0), 1e-3);  // t of 97.5 % for 4
  EXPECT_NEAR(shift.p, 0.1583, 1e-3);
  EXPECT_TRUE(std::isinf(student_shift(after, after, 0.05).interval[1]));
}

TEST(PairedTest, OneDisturbedRunDoesNotHideAChange) {
  std::vector<double> before, after;
  for (int i = 0; i < 12; ++i) before.push_back(0.01 * (i % 3));
  before[5] = std::log(10);  // one run took ten times as long
  for (int i = 0; i < 3; ++i) after.push_back(std::log(3) + 0.01 * i);
  const Shift shift = student_shift(before, after, 0.05);
  EXPECT_LE(shift.p, 0.01) << "without care for outliers it is 0.03";
  EXPECT_NEAR(shift.estimate, std::log(3), 0.02);
  EXPECT_LT(shift.half_width(), 0.1);
  // A single run may be such an outlier itself: two of thirteen.
  EXPECT_NEAR(student_shift(before, std::vector{std::log(3)}, 0.05).p, 2.0 / 13, 1e-9);
  // So may one of three be, which is no change then.
  before[5] = 0;
  EXPECT_GT(student_shift(before, std::vector{0.0, 0.01, std::log(3)}, 0.05).p, 0.01);
}

TEST(PairedTest, TwoEqualValuesDoNotShowThatThereIsNoNoise) {
  const Shift three = student_shift(std::vector{0.0, 0.0}, std::vector{0.03}, 0.05);
  EXPECT_EQ(three.estimate, 0.03);
  EXPECT_EQ(three.p, 1);
  EXPECT_TRUE(std::isinf(three.interval[1]));
  const Shift four = student_shift(std::vector{0.0, 0.0}, std::vector{0.03, 0.03}, 0.05);
  EXPECT_EQ(four.p, 0) << "both sides repeat their value";
}

TEST(PairedTest, HolmMultipliesTheSmallestByTheirNumberAndStaysInOrder) {
  const std::vector<double> p{0.04, 0.001, 0.03, 0.9};
  const std::vector<double> adjusted = holm(p);
  EXPECT_NEAR(adjusted[1], 0.004, 1e-12);
  EXPECT_NEAR(adjusted[2], 0.09, 1e-12);
  EXPECT_NEAR(adjusted[0], 0.09, 1e-12) << "never below a smaller p";
  EXPECT_NEAR(adjusted[3], 0.9, 1e-12);
}

TEST(PairedTest, TheIntervalOfAShareFollowsClopperAndPearson) {
  EXPECT_NEAR(share_interval95(0, 200)[1], 0.0183, 1e-4);
  EXPECT_EQ(share_interval95(0, 200)[0], 0);
  EXPECT_NEAR(share_interval95(5, 10)[0], 0.1871, 1e-4);
  EXPECT_EQ(share_interval95(10, 10)[1], 1);
}

}  // namespace
}  // namespace howard::harness
