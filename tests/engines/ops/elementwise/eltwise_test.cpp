// SPDX-License-Identifier: Apache-2.0
#include "engines/ops/elementwise.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "engines/chip/emulated_chip.h"

namespace howard::ops {
namespace {

class EltwiseOp : public ::testing::Test {
 protected:
  Tensor tensor(const Shape& shape) { return {device_, {shape}}; }
  chip::EmulatedChip device_{chip::load_profiles()};
};

TEST_F(EltwiseOp, BroadcastsWhereADimensionIsOne) {
  const auto output = [](const Shape& a, const Shape& b) {
    return eltwise_output(Eltwise::add, {a}, {b}).shape;
  };
  EXPECT_EQ(output({64, 32}, {64, 32}), (Shape{64, 32}));
  EXPECT_EQ(output({64, 32}, {1, 32}), (Shape{64, 32}));
  EXPECT_EQ(output({64, 1}, {1, 32}), (Shape{64, 32})) << "both sides at once";
  EXPECT_EQ(output({32}, {4, 8, 64, 32}), (Shape{4, 8, 64, 32}));
  EXPECT_THROW(output({64, 32}, {64, 31}), Error);
  EXPECT_THROW(output({2, 64, 32}, {3, 64, 32}), Error);
}

TEST_F(EltwiseOp, Bfloat16WithFloat32GivesFloat32AndOtherTypesDoNotMix) {
  const auto output = [](DataType a, DataType b) {
    return eltwise_output(Eltwise::add, {{64, 32}, a}, {{64, 32}, b}).dtype;
  };
  EXPECT_EQ(output(DataType::bfloat16, DataType::float32), DataType::float32);
  EXPECT_EQ(output(DataType::float32, DataType::bfloat16), DataType::float32);
  EXPECT_THROW(output(DataType::bfloat8_b, DataType::bfloat16), Error);
  EXPECT_THROW(output(DataType::uint32, DataType::uint32), Error);
  EXPECT_THROW(
      eltwise_output(Eltwise::add, {{64, 32}}, {{64, 32}, DataType::bfloat16, Layout::row_major}),
      Error)
      << "two layouts";
}

TEST_F(EltwiseOp, TheNumberOfValuesMustBeTheFunctions) {
  const Tensor x = tensor({64, 32});
  EXPECT_THROW(eltwise(Eltwise::relu, x, x, x), Error);
  EXPECT_THROW(eltwise(Eltwise::relu, x, 1.0F, x), Error);
  EXPECT_THROW(eltwise(Eltwise::add, x, x), Error);
  EXPECT_NO_THROW(eltwise(Eltwise::relu, x, x));
}

TEST_F(EltwiseOp, TheOutputMustHaveTheResultsShape) {
  const Tensor x = tensor({64, 32});
  const Tensor row = tensor({1, 32});
  EXPECT_NO_THROW(eltwise(Eltwise::add, row, x, x));
  EXPECT_THROW(eltwise(Eltwise::add, row, x, row), Error);
  EXPECT_THROW(eltwise(Eltwise::exp, x, row), Error);
}

TEST_F(EltwiseOp, ProgramsAreNamedByWhatTheyCompute) {
  const Tensor x = tensor({64, 32});
  EXPECT_EQ(eltwise(Eltwise::gelu, x, x).name, "gelu");
  EXPECT_EQ(eltwise(Eltwise::subtract, x, 2.0F, x).name, "subtract");
  EXPECT_EQ(fill(2.0F, x).name, "fill");
  EXPECT_EQ(fill(2.0F, x).inputs.size(), 0U);
}

TEST(EltwiseFunction, AritiesFollowTheNames) {
  EXPECT_EQ(arity_of(Eltwise::add), 2);
  EXPECT_EQ(arity_of(Eltwise::multiply), 2);
  EXPECT_EQ(arity_of(Eltwise::relu), 1);
  EXPECT_EQ(arity_of(Eltwise::reciprocal), 1);
  EXPECT_EQ(arity_of(Eltwise::fill), 0);
  EXPECT_EQ(name_of(Eltwise::add), "add");
  EXPECT_EQ(name_of(Eltwise::square), "square");
  EXPECT_EQ(name_of(Eltwise::reciprocal), "reciprocal");
}

}  // namespace
}  // namespace howard::ops
