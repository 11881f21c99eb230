// SPDX-License-Identifier: Apache-2.0
#include "engines/ops/data_movement.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "tests/engines/ops/op_test.h"

namespace howard::ops {
namespace {

using Transpose = OpTest;

TEST_F(Transpose, SwapsRowsAndColumns) {
  EXPECT_EQ(transpose(tensor({2, 64, 96}), tensor({2, 96, 64})).name, "transpose");
  EXPECT_THROW(transpose(tensor({2, 64, 96}), tensor({2, 64, 96})), Error);
}

TEST_F(Transpose, SwapsHeadsAndRows) {
  const TransposeAttributes op{.swap = Swap::heads_rows};
  const TensorSpec out = results_of(op, std::array{TensorSpec{{32, 256, 6, 64}}})[0];
  EXPECT_EQ(out.shape, (Shape{32, 6, 256, 64}));
  EXPECT_NO_THROW(transpose(tensor({2, 64, 6, 64}), tensor({2, 6, 64, 64}), Swap::heads_rows));
  EXPECT_THROW(transpose(tensor({2, 64, 6, 64}), tensor({2, 64, 64, 6}), Swap::heads_rows), Error);
}

}  // namespace
}  // namespace howard::ops
