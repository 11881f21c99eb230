// SPDX-License-Identifier: Apache-2.0
#include "engines/chip/calibration/card_fit.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "tests/error_of.h"

namespace howard::calibration {
namespace {

using chip::Card;
using chip::CardKernel;

/// A call of a kind that takes 10 us on the emulator and `ratio` times as long on the card.
CardKernel call(const std::string& kind, int number, double ratio) {
  return {.words = {.op = kind, .in = fmt::format("{}", number), .out = {}, .told = {}, .grid = {}},
          .kind = kind,
          .time = SimTime::nanoseconds(std::llround(1e4 * ratio)),
          .built_in = SimTime::microseconds(10),
          .runs = 2,
          .error = 0.02};
}

std::vector<CardKernel> calls(const std::string& kind, const std::vector<double>& ratios) {
  std::vector<CardKernel> kernels;
  for (const double ratio : ratios) {
    kernels.push_back(call(kind, static_cast<int>(kernels.size()), ratio));
  }
  return kernels;
}

Card card_of(const std::string& name, std::vector<CardKernel> kernels) {
  return {.name = name,
          .chip = "wormhole_b0_n300",
          .software = "tt_metal_2025_12",
          .logs = {name + ".csv"},
          .kernels = std::move(kernels),
          .kinds = {}};
}

TEST(CardFit, AFactorIsTheMeanOfWhatCallsSayWithOneThatIsAsTheEmulatorSays) {
  const auto kinds = kinds_of(calls("norm", {2, 2, 2}));
  ASSERT_EQ(kinds.size(), 1U);
  EXPECT_EQ(kinds[0].factor, std::llround(1e4 * std::pow(2.0, 3.0 / 4)));
  EXPECT_EQ(kinds[0].calls, 3);
  EXPECT_NEAR(kinds[0].built_in_error, 0.5, 1e-12);
  EXPECT_NEAR(kinds[0].error, 1 - std::pow(2.0, 2.0 / 3) / 2, 1e-12) << "by the two others";
}

TEST(CardFit, WhereCallsDisagreeOrAreFewTheEmulatorStays) {
  EXPECT_TRUE(kinds_of(calls("norm", {2, 0.5, 1.5, 0.7})).empty());
  EXPECT_TRUE(kinds_of(calls("norm", {2, 2})).empty());
  EXPECT_TRUE(kinds_of(calls("norm", {1.01, 0.99, 1.02})).empty());
}

TEST(CardFit, EachCallIsKeptBackOnceAndSaidByTheOthers) {
  const auto found = unseen(calls("norm", {2, 2, 2, 2, 2, 2}));
  ASSERT_EQ(found.size(), 1U);
  ASSERT_EQ(found[0].error.size(), 6U);
  for (const double error : found[0].built_in) EXPECT_NEAR(error, 0.5, 1e-12);
  // Four calls say it of the two that are kept back.
  for (const double error : found[0].error) EXPECT_NEAR(error, 1 - std::pow(2.0, 0.8) / 2, 1e-4);
}

TEST(CardFit, TwoCardsAreOneByRuns) {
  Card first = card_of("first", {call("norm", 0, 1)});
  Card second = card_of("second", {call("norm", 0, 2), call("norm", 1, 3)});
  second.kernels[0].runs = 6;
  const Card both = merged(first, second);
  EXPECT_EQ(both.logs, (std::vector<std::string>{"first.csv", "second.csv"}));
  ASSERT_EQ(both.kernels.size(), 2U);
  EXPECT_EQ(both.kernels[0].runs, 8);
  EXPECT_EQ(both.kernels[0].time, SimTime::nanoseconds(17'500));
  second.software = "tt_metal_2026_07";
  EXPECT_NE(error_of([&] { static_cast<void>(merged(first, second)); }).find("tt_metal_2026_07"),
            std::string::npos);
}

}  // namespace
}  // namespace howard::calibration
