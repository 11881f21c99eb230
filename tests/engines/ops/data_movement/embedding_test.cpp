// SPDX-License-Identifier: Apache-2.0
#include "engines/ops/data_movement.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "tests/engines/ops/op_test.h"

namespace howard::ops {
namespace {

using Embedding = OpTest;

TEST_F(Embedding, GivesARowOfTheTableForEachIndex) {
  const TensorSpec table{{96, 384}, DataType::bfloat16, Layout::row_major};
  const TensorSpec words{{32, 256}, DataType::uint32, Layout::row_major};
  const TensorSpec out = embedding_output(words, table);
  EXPECT_EQ(out.shape, (Shape{32, 256, 384}));
  EXPECT_EQ(out.layout, Layout::tile);
  EXPECT_THROW(embedding_output({{32, 256}}, table), Error) << "indices are no real numbers";
  EXPECT_THROW(embedding_output(words, {{96, 384}}), Error) << "tables are row-major";
  EXPECT_THROW(embedding(indices({1, 32}), row_major({96, 64}), tensor({32, 64, 64})), Error);
}

TEST_F(Embedding, BackwardGivesTheGradientOfTheTableInTiles) {
  const Tensor words = indices({2, 32});
  EXPECT_NO_THROW(embedding_backward(words, tensor({2, 32, 64}), tensor({96, 64})));
  EXPECT_THROW(embedding_backward(words, tensor({2, 32, 32}), tensor({96, 64})), Error);
  EXPECT_THROW(embedding_backward(words, tensor({3, 32, 64}), tensor({96, 64})), Error);
}

}  // namespace
}  // namespace howard::ops
