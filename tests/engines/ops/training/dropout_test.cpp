// SPDX-License-Identifier: Apache-2.0
#include "engines/ops/training.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "tests/engines/ops/op_test.h"

namespace howard::ops {
namespace {

using Dropout = OpTest;

TEST_F(Dropout, KeepsTheShapeAndTakesAProbabilityBelowOne) {
  const Tensor x = tensor({64, 96});
  const Program program = dropout(x, 0.2F, 7, x);
  EXPECT_EQ(std::get<DropoutAttributes>(program.attributes),
            (DropoutAttributes{.probability = 0.2F, .seed = 7}));
  EXPECT_NO_THROW(dropout(x, 0.0F, 7, x));
  EXPECT_THROW(dropout(x, 1.0F, 7, x), Error);
  EXPECT_THROW(dropout(x, -0.1F, 7, x), Error);
  EXPECT_THROW(dropout(x, 0.2F, 7, tensor({64, 64})), Error);
}

}  // namespace
}  // namespace howard::ops
