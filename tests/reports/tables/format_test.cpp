// SPDX-License-Identifier: Apache-2.0
#include "reports/tables/format.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/text.h"

namespace howard::reports {
namespace {

std::vector<std::string> formatted(std::string_view unit, const std::vector<double>& values) {
  const Scale scale = fit_scale(unit, values);
  std::vector<std::string> texts{scale.unit};
  for (const double value : values) texts.push_back(format_number(value, scale));
  return texts;
}

using Texts = std::vector<std::string>;

TEST(Format, GivesAColumnOnePrefixAndOneNumberOfDecimals) {
  EXPECT_EQ(formatted("s", {88.82e-6, 156.76e-6, 411.08e-6, 10443.58e-6}),
            (Texts{"us", "88.82", "156.76", "411.08", "10443.58"}));
  EXPECT_EQ(formatted("FLOP/s", {0.047e12, 13.68e12, 69.51e12}),
            (Texts{"TFLOPS", "0.047", "13.680", "69.510"}));
  EXPECT_EQ(formatted("s", {0.323, 0.51}), (Texts{"ms", "323.0", "510.0"}));
}

TEST(Format, GivesWhatIsCountedNoPrefix) {
  EXPECT_EQ(formatted("chips", {0.9998, 0.0021}), (Texts{"chips", "1.000", "0.002"}));
  EXPECT_EQ(formatted("layers", {2, 16000}), (Texts{"layers", "2", "16000"}));
  EXPECT_EQ(format_quantity(764, "count"), "764 count");
  EXPECT_EQ(format_quantity(0.5, "1/s"), "0.500 1/s");
}

TEST(Format, ShowsRatiosAsPercent) {
  EXPECT_EQ(formatted("1", {0.937, 0.029, 1}), (Texts{"%", "93.7", "2.9", "100.0"}));
}

TEST(Format, WritesZeroAsZero) {
  EXPECT_EQ(formatted("s", {0}), (Texts{"s", "0"}));
  EXPECT_EQ(formatted("s", {0, 2e-6}), (Texts{"us", "0.000", "2.000"}));
  EXPECT_EQ(formatted("s", {-0.0, 2e-6}), (Texts{"us", "0.000", "2.000"}));
}

TEST(Format, NeverShowsASmallNumberAsZero) {
  EXPECT_EQ(formatted("s", {1e-12, 1, 1}), (Texts{"s", "1e-12", "1.000", "1.000"}));
  EXPECT_EQ(formatted("1", {0.0003}), (Texts{"%", "0.03"}));
}

TEST(Format, KeepsHugeAndTinyNumbersReadable) {
  EXPECT_EQ(format_quantity(1e30, "FLOP/s"), "1e+15 PFLOPS");
  EXPECT_EQ(format_quantity(5e-12, "s"), "5.000 ps");
  EXPECT_EQ(format_quantity(7200, "s"), "7200 s");
  EXPECT_EQ(format_quantity(288e9, "B/s"), "288.0 GB/s");
  EXPECT_EQ(format_quantity(-2e-3, "s"), "-2.000 ms");
}

TEST(Format, SignsErrorsUnlessTheyRoundToNothing) {
  EXPECT_EQ(format_error(0.0417), "+4.2");
  EXPECT_EQ(format_error(-0.003), "-0.3");
  EXPECT_EQ(format_error(0), "0.0");
  EXPECT_EQ(format_error(-0.0004), "0.0");
  EXPECT_EQ(format_error(0.0004), "0.0");
  EXPECT_EQ(format_error(4.29), "+429.0");
}

TEST(Format, ExactNumbersReadBackTheSame) {
  for (const double value : {0.1, 88.82e-6, 1e300, 5e-324, -0.0, 123456789.123456789}) {
    EXPECT_EQ(parse_number(format_exact(value)), value);
  }
}

}  // namespace
}  // namespace howard::reports
