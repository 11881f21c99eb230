// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <array>

#include "base/error.h"
#include "engines/ops/catalogue.h"

namespace howard::ops {
namespace {

Program parse(std::string_view text) { return parse_program(text, DataType::bfloat16); }

TEST(ProgramText, AProductWithItsAttributes) {
  const Program program = parse("matmul:transpose_a:fidelity=HiFi4:fp32_accumulation 64x128 64x32");
  const auto& attributes = std::get<MatmulAttributes>(program.attributes);
  EXPECT_TRUE(attributes.transpose_a);
  EXPECT_FALSE(attributes.transpose_b);
  EXPECT_EQ(attributes.compute.fidelity, MathFidelity::hifi4);
  EXPECT_EQ(attributes.compute.fp32_accumulation, true);
  EXPECT_EQ(program.outputs[0].spec.shape, (Shape{128, 32}));
}

TEST(ProgramText, ElementwiseOpsWithOneTensorTwoOrAScalar) {
  EXPECT_EQ(parse("exp 32x64").inputs.size(), 1U);
  const Program add = parse("add 64x32 1x32");
  EXPECT_EQ(add.inputs.size(), 2U);
  EXPECT_EQ(add.outputs[0].spec.shape, (Shape{64, 32}));
  EXPECT_TRUE(std::get<EltwiseAttributes>(parse("multiply:scalar=2 64x32").attributes).scalar);
}

TEST(ProgramText, ReductionsAndTranspositions) {
  const Program mean = parse("mean_rows 64x32");
  EXPECT_EQ(std::get<ReduceAttributes>(mean.attributes).reduction, Reduction::mean);
  EXPECT_EQ(mean.outputs[0].spec.shape, (Shape{1, 32}));
  EXPECT_EQ(parse("transpose 20x32x64").outputs[0].spec.shape, (Shape{20, 64, 32}));
}

TEST(ProgramText, OpsOverRowsAndOpsThatMoveData) {
  EXPECT_TRUE(std::holds_alternative<SoftmaxAttributes>(parse("softmax 20x32x32").attributes));
  EXPECT_TRUE(std::holds_alternative<LayernormAttributes>(parse("layernorm 19x64").attributes));
  EXPECT_EQ(parse("transpose_heads 19x20x64").outputs[0].spec.shape, (Shape{20, 19, 64}));
  EXPECT_EQ(parse("reshape 19x1280 19x20x64").outputs[0].spec.shape, (Shape{19, 20, 64}));
  const Program tilize = parse("tilize 19x1280 row_major");
  EXPECT_EQ(tilize.inputs[0].spec.layout, Layout::row_major);
  EXPECT_EQ(tilize.outputs[0].spec.layout, Layout::tile);
}

TEST(ProgramText, AFieldStandsBesideNumbersThatAreLeftOut) {
  const auto order = [](std::string_view text) {
    return std::get<PermuteAttributes>(parse(text).attributes).order;
  };
  EXPECT_EQ(order("permute:order=3,1,0,2 2x3x4x5"), (std::array{3, 1, 0, 2}));
  EXPECT_EQ(order("permute:3:1:0:2 2x3x4x5"), (std::array{3, 1, 0, 2}));
  EXPECT_EQ(order("permute 2x3x4x5"), (std::array{0, 1, 3, 2}));
  const auto scale = [](std::string_view text) {
    return std::get<AttentionAttributes>(parse(text).attributes).scale;
  };
  EXPECT_EQ(scale("attention:scale=0.25 1x2x32x64 1x2x32x64 1x2x32x64"), 0.25F);
  EXPECT_EQ(scale("attention 1x2x32x64 1x2x32x64 1x2x32x64"), 0.125F);
}

TEST(ProgramText, NonsenseIsAnError) {
  for (const char* const text :
       {"", "dance 32x32", "exp", "exp 32x0", "exp 32xy", "exp 32x32 32x32", "add 32x32",
        "matmul 32x32", "matmul 32x64 32x64", "exp:fp32 32x32", "exp 32x32 fp32", "tilize 19x1280",
        "matmul:fidelity=HiFi9 32x32 32x32", "add 3x3 4x4 "}) {
    EXPECT_THROW(parse(text), Error) << text;
  }
}

}  // namespace
}  // namespace howard::ops
