// SPDX-License-Identifier: Apache-2.0
#include "profiler/formats/csv/decimal.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <string>
#include <string_view>

#include "base/text.h"

#include <cstdint>
#include <limits>

namespace howard::profiler {
namespace {

TEST(ParseScaled, KeepsEveryDigitThatFits) {
  EXPECT_EQ(parse_scaled("12", 0), 12);
  EXPECT_EQ(parse_scaled("-0.25", 3), -250);
  EXPECT_EQ(parse_scaled("1416840435992.000001", 6), 1'416'840'435'992'000'001);
  EXPECT_EQ(parse_scaled("9223372036854775807", 0), std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(parse_scaled("1e3", 0), 1000);
  EXPECT_EQ(parse_scaled("1.5E-2", 3), 15);
  EXPECT_EQ(parse_scaled("+7.", 1), 70);
  EXPECT_EQ(parse_scaled(".5", 1), 5);
}

TEST(ParseScaled, RoundsToTheNearestHalvesAwayFromZero) {
  EXPECT_EQ(parse_scaled("0.5", 0), 1);
  EXPECT_EQ(parse_scaled("-0.5", 0), -1);
  EXPECT_EQ(parse_scaled("0.4999999999999999999999", 0), 0);
  EXPECT_EQ(parse_scaled("9.5", 0), 10);
  EXPECT_EQ(parse_scaled("0.05", 0), 0);
  EXPECT_EQ(parse_scaled("5e-900", 0), 0);
}

TEST(ParseScaled, RefusesWhatIsNoNumberOrDoesNotFit) {
  for (const char* const text : {"", "-", ".", "e5", "1x", "1 ", " 1", "1e", "1e+", "0x1", "nan",
                                 "inf", "1.2.3", "--1", "1e99999999999"}) {
    EXPECT_EQ(parse_scaled(text, 0), std::nullopt) << text;
  }
  EXPECT_EQ(parse_scaled("9223372036854775808", 0), std::nullopt);
  EXPECT_EQ(parse_scaled("1e19", 0), std::nullopt);
  EXPECT_EQ(parse_scaled("1", 19), std::nullopt);
  EXPECT_EQ(parse_scaled("0e999", 0), 0);
}

TEST(Decimal, DigitsAreOneToSixteenAndNothingElse) {
  std::int64_t number = 0;
  for (const std::string_view text : {"", "-1", "+1", " 1", "1 ", "1.", "1e3", "0x1", "/", ":",
                                      "12345678\xb1", "1234567a12345678", "12345678123456789"}) {
    EXPECT_FALSE(parse_digits(text, number)) << text;
  }
  std::mt19937_64 random(1);
  for (int i = 0; i < 100'000; ++i) {
    std::string text;
    for (auto left = 1 + random() % 16; left > 0; --left) {
      text += static_cast<char>('0' + random() % 10);
    }
    ASSERT_TRUE(parse_digits(text, number)) << text;
    ASSERT_EQ(number, parse_integer(text)) << text;
    const char byte = static_cast<char>(random());
    text[random() % text.size()] = byte;
    ASSERT_EQ(parse_digits(text, number), byte >= '0' && byte <= '9') << text;
  }
}

}  // namespace
}  // namespace howard::profiler
