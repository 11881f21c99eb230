// SPDX-License-Identifier: Apache-2.0
#include "engines/device/bfloat16.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace howard {
namespace {

TEST(Bfloat16, EveryValueRoundTrips) {
  for (std::uint32_t bits = 0; bits < 65536; ++bits) {
    const auto half = static_cast<std::uint16_t>(bits);
    const float value = from_bfloat16(half);
    if (std::isnan(value)) {
      EXPECT_TRUE(std::isnan(from_bfloat16(to_bfloat16(value))));
    } else {
      EXPECT_EQ(to_bfloat16(value), half);
    }
  }
}

TEST(Bfloat16, RoundsToNearestAndTiesToEven) {
  const float ulp = 0x1p-7F;  // the ulp of bfloat16 at 1
  EXPECT_EQ(from_bfloat16(to_bfloat16(1 + ulp / 2)), 1.0F) << "a tie: 1 is even";
  EXPECT_EQ(from_bfloat16(to_bfloat16(1 + 3 * ulp / 2)), 1 + 2 * ulp) << "a tie: up to even";
  EXPECT_EQ(from_bfloat16(to_bfloat16(1 + ulp * 0.51F)), 1 + ulp);
  EXPECT_EQ(from_bfloat16(to_bfloat16(-1 - ulp * 0.51F)), -1 - ulp);
}

TEST(Bfloat16, BeyondTheLargestIsInfinityAndNanStaysNan) {
  EXPECT_TRUE(std::isinf(from_bfloat16(to_bfloat16(std::numeric_limits<float>::max()))));
  EXPECT_TRUE(std::isnan(from_bfloat16(to_bfloat16(std::numeric_limits<float>::signaling_NaN()))));
  EXPECT_TRUE(std::isnan(from_bfloat16(to_bfloat16(std::bit_cast<float>(0x7f80'0001U)))))
      << "whose upper half alone would read as infinity";
}

}  // namespace
}  // namespace howard
