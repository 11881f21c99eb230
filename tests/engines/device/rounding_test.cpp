// SPDX-License-Identifier: Apache-2.0
#include "engines/device/rounding.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace howard {
namespace {

using Row = std::vector<float>;

Row rounded(Row values, DataType dtype, std::size_t width) {
  round_to(dtype, values, width);
  return values;
}

TEST(Rounding, IsToTheNearestThatTheTypeHolds) {
  EXPECT_EQ(rounded({1.005F}, DataType::bfloat16, 1), Row{1.0078125F});
  EXPECT_EQ(rounded({1.005F}, DataType::float32, 1), Row{1.005F});
  // 100 has the exponent 6: bfloat8_b has steps of 1 beside it, bfloat4_b of 16.
  const Row row{100, 0.3F, 1, -127.4F};
  EXPECT_EQ(rounded(row, DataType::bfloat8_b, 4), (Row{100, 0, 1, -127}));
  EXPECT_EQ(rounded(row, DataType::bfloat4_b, 4), (Row{96, 0, 0, -112}));
}

TEST(Rounding, SixteenNeighboursOfARowShareAnExponent) {
  Row two_blocks(32, 0.25F);
  two_blocks[0] = 128;
  const Row shared = rounded(two_blocks, DataType::bfloat8_b, 32);
  EXPECT_EQ(shared[15], 0);
  EXPECT_EQ(shared[16], 0.25F);
  // A block ends with its row.
  const Row rows = rounded({128, 0.25F, 0.25F, 0.25F}, DataType::bfloat8_b, 2);
  EXPECT_EQ(rows, (Row{128, 0, 0.25F, 0.25F}));
}

TEST(Rounding, KeepsWhatIsNotFinite) {
  const float infinity = std::numeric_limits<float>::infinity();
  const Row made = rounded({infinity, 3, std::nanf("")}, DataType::bfloat4_b, 3);
  EXPECT_EQ(made[0], infinity);
  EXPECT_EQ(made[1], 3);
  EXPECT_TRUE(std::isnan(made[2]));
}

}  // namespace
}  // namespace howard
