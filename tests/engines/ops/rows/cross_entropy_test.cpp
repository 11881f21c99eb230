// SPDX-License-Identifier: Apache-2.0
#include "engines/ops/rows.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "tests/engines/ops/op_test.h"

namespace howard::ops {
namespace {

using CrossEntropy = OpTest;

TEST_F(CrossEntropy, GivesALossForEachPosition) {
  const TensorSpec positions{{2, 32}, DataType::uint32, Layout::row_major};
  EXPECT_EQ(cross_entropy_output({{2, 32, 96}}, positions).shape, (Shape{2, 32, 1}));
  EXPECT_THROW(cross_entropy_output({{2, 64, 96}}, positions), Error);
  EXPECT_THROW(cross_entropy_output({{2, 32, 96}}, {{2, 32}}), Error) << "targets are indices";
  EXPECT_THROW(cross_entropy(tensor({2, 32, 96}), indices({2, 32}), tensor({2, 32, 96})), Error);
}

TEST_F(CrossEntropy, BackwardGivesTheGradientOfTheLogits) {
  const Tensor logits = tensor({2, 32, 96});
  const Program program =
      cross_entropy_backward(logits, indices({2, 32}), 0.5F, tensor({2, 32, 96}));
  EXPECT_EQ(std::get<CrossEntropyBackwardAttributes>(program.attributes).scale, 0.5F);
  EXPECT_THROW(cross_entropy_backward(logits, indices({2, 32}), 1.0F, tensor({2, 32, 1})), Error);
}

}  // namespace
}  // namespace howard::ops
