// SPDX-License-Identifier: Apache-2.0
#include "engines/ops/data_movement.h"

#include <gtest/gtest.h>

#include <vector>

#include "base/error.h"
#include "tests/engines/ops/op_test.h"

namespace howard::ops {
namespace {

using Heads = OpTest;

TEST_F(Heads, SplitGivesThreeTensorsByHeads) {
  EXPECT_EQ(split_heads_output({{32, 1, 256, 1152}}, 6).shape, (Shape{32, 6, 256, 64}));
  const Tensor q = tensor({2, 3, 64, 32});
  const Tensor k = tensor({2, 3, 64, 32});
  const Program program = split_heads(tensor({2, 1, 64, 288}), 3, q, k, q);
  ASSERT_EQ(program.outputs.size(), 3U);
  EXPECT_EQ(program.outputs[1].buffer, k.buffer());
  EXPECT_THROW(split_heads_output({{2, 1, 64, 288}}, 5), Error) << "288 is not 3 x 5 x d";
  EXPECT_THROW(split_heads_output({{2, 3, 64, 288}}, 3), Error) << "split already";
  EXPECT_THROW(split_heads_output({{2, 1, 64, 288}}, 0), Error);
  EXPECT_THROW(split_heads(tensor({2, 1, 64, 288}), 3, q, k, tensor({2, 3, 64, 64})), Error);
}

TEST_F(Heads, ConcatHeadsIsTheWayBack) {
  EXPECT_EQ(results_of(ConcatHeadsAttributes{}, std::array{TensorSpec{{32, 6, 256, 64}}})[0].shape,
            (Shape{32, 1, 256, 384}));
  EXPECT_THROW(concat_heads(tensor({2, 3, 64, 32}), tensor({2, 1, 64, 32})), Error);
  EXPECT_NO_THROW(concat_heads(tensor({2, 3, 64, 32}), tensor({2, 1, 64, 96})));
}

TEST_F(Heads, ConcatAddsColumns) {
  const std::vector<Tensor> parts{tensor({2, 64, 32}), tensor({2, 64, 96})};
  EXPECT_EQ(concat(parts, tensor({2, 64, 128})).inputs.size(), 2U);
  EXPECT_THROW(concat(parts, tensor({2, 64, 96})), Error);
  const std::vector<Tensor> uneven{tensor({2, 64, 32}), tensor({2, 32, 96})};
  EXPECT_THROW(concat(uneven, tensor({2, 64, 128})), Error);
}

}  // namespace
}  // namespace howard::ops
