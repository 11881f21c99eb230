// SPDX-License-Identifier: Apache-2.0
#include "engines/ops/rows.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "tests/engines/ops/op_test.h"

namespace howard::ops {
namespace {

class Layernorm : public OpTest {
 protected:
  Tensor x_ = tensor({2, 64, 96});
  LayernormScale scale_{tensor({96}), tensor({96})};
  LayernormStatistics statistics_{tensor({2, 64, 1}), tensor({2, 64, 1})};
};

TEST_F(Layernorm, AloneGivesTheResultOnly) {
  EXPECT_EQ(layernorm(x_, 1e-5F, x_).outputs.size(), 1U);
  EXPECT_THROW(layernorm(x_, 1e-5F, tensor({2, 96, 64})), Error);
}

TEST_F(Layernorm, WithScaleAndStatisticsInTheOrderOfTheAttributes) {
  const Program program = layernorm(x_, scale_, 1e-5F, x_, statistics_);
  ASSERT_EQ(program.inputs.size(), 3U);
  EXPECT_EQ(program.inputs[1].buffer, scale_.gamma.buffer());
  EXPECT_EQ(program.inputs[2].buffer, scale_.beta.buffer());
  ASSERT_EQ(program.outputs.size(), 3U);
  EXPECT_EQ(program.outputs[1].buffer, statistics_.mean.buffer());
  EXPECT_EQ(program.outputs[2].buffer, statistics_.rstd.buffer());
}

TEST_F(Layernorm, ScaleIsARowAndStatisticsAreColumns) {
  const LayernormScale narrow{tensor({64}), tensor({96})};
  EXPECT_THROW(layernorm(x_, narrow, 1e-5F, x_, statistics_), Error);
  const LayernormStatistics wide{tensor({2, 64, 1}), tensor({2, 64, 96})};
  EXPECT_THROW(layernorm(x_, scale_, 1e-5F, x_, wide), Error);
}

TEST_F(Layernorm, BackwardGivesComponentsAsLargeAsItsInput) {
  const LayernormComponents components{tensor({2, 64, 96}), tensor({2, 64, 96})};
  const Program program =
      layernorm_backward(x_, scale_.gamma, statistics_, x_, tensor({2, 64, 96}), components);
  EXPECT_EQ(program.inputs.size(), 5U);
  ASSERT_EQ(program.outputs.size(), 3U);
  EXPECT_EQ(program.outputs[2].buffer, components.beta.buffer());
  const LayernormComponents rows{tensor({96}), tensor({96})};
  EXPECT_THROW(layernorm_backward(x_, scale_.gamma, statistics_, x_, x_, rows), Error);
}

}  // namespace
}  // namespace howard::ops
