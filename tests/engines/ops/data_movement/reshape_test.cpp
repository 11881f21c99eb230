// SPDX-License-Identifier: Apache-2.0
#include "engines/ops/data_movement.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "tests/engines/ops/op_test.h"

namespace howard::ops {
namespace {

using Reshape = OpTest;

TEST_F(Reshape, KeepsTheNumberOfElements) {
  EXPECT_NO_THROW(reshape(tensor({32, 256, 384}), tensor({32, 256, 6, 64})));
  EXPECT_THROW(reshape(tensor({32, 256, 384}), tensor({32, 256, 6, 32})), Error);
  EXPECT_THROW(reshape(tensor({64, 96}), tensor({96, 64}, DataType::float32)), Error);
  EXPECT_THROW(reshape(tensor({64, 96}), row_major({96, 64})), Error);
}

TEST_F(Reshape, LayoutsChangeBothWays) {
  EXPECT_EQ(to_layout(row_major({64, 96}), tensor({64, 96})).name, "tilize");
  EXPECT_EQ(to_layout(tensor({64, 96}), row_major({64, 96})).name, "untilize");
  EXPECT_THROW(to_layout(tensor({64, 96}), tensor({64, 96})), Error);
  EXPECT_THROW(to_layout(row_major({64, 96}), row_major({64, 96})), Error);
  EXPECT_THROW(to_layout(row_major({64, 96}), tensor({96, 64})), Error);
}

}  // namespace
}  // namespace howard::ops
