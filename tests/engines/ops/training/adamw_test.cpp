// SPDX-License-Identifier: Apache-2.0
#include "engines/ops/training.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "tests/engines/ops/op_test.h"

namespace howard::ops {
namespace {

using AdamW = OpTest;

TEST_F(AdamW, UpdatesParameterAndMomentsInTheirPlaces) {
  const Tensor p = tensor({64, 96});
  const Tensor g = tensor({64, 96});
  const Moments moments{tensor({64, 96}), tensor({64, 96})};
  const Program program = adamw(p, g, moments, {.step = 3});
  ASSERT_EQ(program.inputs.size(), 4U);
  ASSERT_EQ(program.outputs.size(), 3U);
  EXPECT_EQ(program.inputs[1].buffer, g.buffer());
  EXPECT_EQ(program.outputs[0].buffer, p.buffer());
  EXPECT_EQ(program.outputs[1].buffer, moments.first.buffer());
  EXPECT_EQ(program.outputs[2].buffer, moments.second.buffer());
}

TEST_F(AdamW, OptionsTakeATensorEachInTheirOrder) {
  const Tensor p = tensor({64, 96});
  const Moments moments{tensor({64, 96}), tensor({64, 96}), tensor({64, 96}), tensor({64, 96})};
  const Program program = adamw(p, p, moments, {.amsgrad = true, .kahan = true});
  ASSERT_EQ(program.inputs.size(), 6U);
  ASSERT_EQ(program.outputs.size(), 5U);
  EXPECT_EQ(program.inputs[4].buffer, moments.largest->buffer());
  EXPECT_EQ(program.outputs[4].buffer, moments.compensation->buffer());
  EXPECT_THROW(adamw(p, p, moments, {.amsgrad = true}), Error);
  EXPECT_THROW(adamw(p, p, {p, p}, {.kahan = true}), Error);
  AdamWAttributes rounds;
  rounds.rounding_seed = 1;
  EXPECT_NO_THROW(adamw(p, p, {p, p}, rounds));
  const Tensor wide = tensor({64, 96}, DataType::float32);
  EXPECT_THROW(adamw(wide, wide, {wide, wide}, rounds), Error);
}

TEST_F(AdamW, ShapesMustBeTheParameters) {
  const Tensor p = tensor({64, 96});
  EXPECT_THROW(adamw(p, tensor({96, 64}), {p, p}, {}), Error);
  EXPECT_THROW(adamw(p, p, {tensor({64, 64}), p}, {}), Error);
  EXPECT_THROW(adamw(p, p, {p, indices({64, 96})}, {}), Error);
}

}  // namespace
}  // namespace howard::ops
