// SPDX-License-Identifier: Apache-2.0
#include "engines/ops/rows.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "tests/engines/ops/op_test.h"

namespace howard::ops {
namespace {

using Softmax = OpTest;

TEST_F(Softmax, KeepsTheShape) {
  const Tensor x = tensor({2, 64, 96});
  const Tensor y = tensor({2, 64, 96});
  const Program forward = softmax(x, y);
  EXPECT_EQ(forward.inputs[0].buffer, x.buffer());
  EXPECT_EQ(forward.outputs[0].buffer, y.buffer());
  EXPECT_THROW(softmax(x, tensor({2, 96, 64})), Error);
  EXPECT_THROW(softmax(indices({64, 64}), indices({64, 64})), Error);
}

TEST_F(Softmax, BackwardTakesTheResultAndItsGradient) {
  const Tensor y = tensor({64, 96});
  const Tensor dy = tensor({64, 96});
  const Program backward = softmax_backward(y, dy, tensor({64, 96}));
  EXPECT_EQ(backward.inputs[0].buffer, y.buffer());
  EXPECT_EQ(backward.inputs[1].buffer, dy.buffer());
  EXPECT_THROW(softmax_backward(y, tensor({64, 64}), y), Error);
  EXPECT_THROW(softmax_backward(y, dy, tensor({64, 64})), Error);
}

}  // namespace
}  // namespace howard::ops
