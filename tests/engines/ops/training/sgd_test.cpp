// SPDX-License-Identifier: Apache-2.0
#include "engines/ops/training.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "tests/engines/ops/op_test.h"

namespace howard::ops {
namespace {

using SgdOp = OpTest;

TEST_F(SgdOp, UpdatesParameterAndBufferInTheirPlaces) {
  const Tensor p = tensor({64, 96}), g = tensor({64, 96}), buffer = tensor({64, 96});
  const Program program = sgd(p, g, buffer, {.momentum = 0.9F});
  ASSERT_EQ(program.inputs.size(), 3U);
  ASSERT_EQ(program.outputs.size(), 2U);
  EXPECT_EQ(program.inputs[1].buffer, g.buffer());
  EXPECT_EQ(program.outputs[0].buffer, p.buffer());
  EXPECT_EQ(program.outputs[1].buffer, buffer.buffer());
  EXPECT_EQ(sgd(p, g, {}, {}).outputs.size(), 1U);
}

TEST_F(SgdOp, RefusesOtherShapesAndABufferThatNobodyNeeds) {
  const Tensor p = tensor({64, 96});
  EXPECT_THROW(sgd(p, tensor({96, 64}), {}, {}), Error);
  EXPECT_THROW(sgd(p, indices({64, 96}), {}, {}), Error);
  EXPECT_THROW(sgd(p, p, tensor({64, 64}), {.momentum = 0.9F}), Error);
  EXPECT_THROW(sgd(p, p, p, {}), Error);
  EXPECT_THROW(sgd(p, p, {}, {.momentum = 0.9F}), Error);
}

}  // namespace
}  // namespace howard::ops
