// SPDX-License-Identifier: Apache-2.0
#include "engines/autograd/tape.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "engines/autograd/functions/elementwise/activation.h"
#include "engines/autograd/functions/elementwise/arithmetic.h"
#include "engines/autograd/functions/rows/loss.h"
#include "engines/autograd/host_values.h"
#include "tests/engines/autograd/gradient_check.h"

namespace howard::autograd {
namespace {

using reference::ReferenceDevice;
using reference::Values;

const TensorSpec kMatrix{.shape = {3, 4}, .dtype = DataType::float32};

ops::Tensor random(ReferenceDevice& device, const TensorSpec& spec, unsigned seed = 1) {
  ops::Tensor tensor(device, spec);
  reference::fill_random(device, tensor, seed);
  return tensor;
}

const TapeOptions kFloat32{.compute = DataType::float32};

TEST(Tape, AValueThatIsUsedTwiceGetsTheSumOfItsGradients) {
  ReferenceDevice device;
  Parameter x{"x", random(device, kMatrix), {}};
  Parameter* parameters[] = {&x};
  reference::expect_gradients(
      device, parameters,
      [&](Tape& tape) {
        const Value value = tape.parameter(x);
        return mean(tape, add(tape, multiply(tape, value, value), value));
      },
      kFloat32);
}

TEST(Tape, TheFirstGradientIsTakenAsItIsAndLaterOnesAreAdded) {
  ReferenceDevice device;
  Parameter x{"x", random(device, kMatrix), {}};
  const auto run = [&] {
    Tape tape(device, kFloat32);
    const Value value = tape.parameter(x);
    device.clear();
    tape.backward(mean(tape, value));
  };
  run();
  const std::size_t first = device.programs().size();
  const Values once = device.values(*x.gradient);
  run();
  EXPECT_EQ(device.programs().size(), first + 1);
  EXPECT_EQ(device.programs().back().name, "add");
  EXPECT_DOUBLE_EQ(device.values(*x.gradient)[5], 2 * once[5]);
}

TEST(Tape, ALeafKeepsItsGradientAndAConstantHasNone) {
  ReferenceDevice device;
  Tape tape(device, kFloat32);
  const Value leaf = tape.leaf(random(device, kMatrix));
  const Value constant = tape.constant(random(device, kMatrix, 2));
  tape.backward(mean(tape, multiply(tape, leaf, constant)));
  EXPECT_DOUBLE_EQ(device.values(tape.gradient(leaf))[7],
                   device.values(tape.tensor(constant))[7] * double{1.0F / 12});
  EXPECT_FALSE(tape.needs_gradient(constant));
}

TEST(Tape, BackwardBeginsAtAnyValueWithAGradientOfItsShape) {
  ReferenceDevice device;
  Tape tape(device, kFloat32);
  const Value leaf = tape.leaf(random(device, kMatrix));
  const Value output = multiply(tape, leaf, leaf);
  const ops::Tensor gradient = random(device, kMatrix, 3);
  const ops::Tensor other = random(device, {.shape = {4, 3}, .dtype = DataType::float32});
  EXPECT_THROW(tape.backward(output, other), Error);
  tape.backward(output, gradient);
  EXPECT_DOUBLE_EQ(device.values(tape.gradient(leaf))[2],
                   2 * device.values(gradient)[2] * device.values(tape.tensor(leaf))[2]);
}

TEST(Tape, WhatTheBackwardPassHasLeftBehindIsFreed) {
  ReferenceDevice device;
  const ops::Tensor input = random(device, kMatrix);
  Parameter x{"x", random(device, kMatrix), {}};
  Tape tape(device, kFloat32);
  Value value = tape.constant(input);
  for (int i = 0; i < 5; ++i) value = multiply(tape, value, tape.parameter(x));
  const Value loss = mean(tape, value);
  EXPECT_EQ(device.live_buffers(), 2U + 5U + 1U);
  tape.backward(loss);
  EXPECT_EQ(device.live_buffers(), 3U) << "the input, the parameter and its gradient";
}

TEST(Tape, WithoutRecordingThereAreNoNodesAndTheSameValues) {
  ReferenceDevice device;
  Parameter x{"x", random(device, kMatrix), {}};
  TapeOptions options = kFloat32;
  options.records = false;
  Tape tape(device, options);
  EXPECT_FALSE(tape.needs_gradient(multiply(tape, tape.parameter(x), tape.parameter(x))));
}

TEST(Tape, ParametersAreCastToTheComputeTypeAndTheirGradientsHaveIt) {
  ReferenceDevice device;
  Parameter x{"x", random(device, kMatrix), {}};
  Tape tape(device, {.compute = DataType::bfloat16});
  const Value value = tape.parameter(x);
  EXPECT_EQ(tape.spec(value).dtype, DataType::bfloat16);
  tape.backward(mean(tape, value));
  EXPECT_EQ(x.gradient->spec().dtype, DataType::bfloat16);
  EXPECT_EQ(x.value.spec().dtype, DataType::float32);
}

TEST(Tape, AGradientHasTheDataTypeOfItsValue) {
  ReferenceDevice device;
  Tape tape(device);
  const Value prediction = tape.leaf(random(device, {.shape = {3, 4}}));
  const Value target = tape.constant(random(device, kMatrix, 2));
  const Value loss = mean_squared_error(tape, prediction, target);
  EXPECT_EQ(tape.spec(loss).dtype, DataType::float32);
  tape.backward(loss);
  EXPECT_EQ(tape.gradient(prediction).spec().dtype, DataType::bfloat16);
}

TEST(Tape, TheGradientOfTheLossScalesAllOthers) {
  ReferenceDevice device;
  Parameter x{"x", random(device, kMatrix), {}};
  Values gradients;
  for (const float share : {1.0F, 0.25F}) {
    Tape tape(device, kFloat32);
    const Value target = tape.constant(random(device, kMatrix, 2));
    tape.backward(mean_squared_error(tape, tape.parameter(x), target), share);
    gradients.push_back(device.values(*x.gradient)[4]);
    x.gradient.reset();
  }
  EXPECT_DOUBLE_EQ(gradients[1], gradients[0] / 4);
}

TEST(Tape, EachDropoutOfAStepHasASeedOfItsOwn) {
  ReferenceDevice device;
  Tape tape(device, {.compute = DataType::float32, .seed = 40});
  const Value x = tape.leaf(random(device, kMatrix));
  static_cast<void>(dropout(tape, dropout(tape, x, 0.5F), 0.5F));
  EXPECT_EQ(std::get<DropoutAttributes>(device.programs()[0].attributes).seed, 40U);
  EXPECT_EQ(std::get<DropoutAttributes>(device.programs()[1].attributes).seed, 41U);
}

TEST(HostValues, Bfloat16IsRoundedToNearestEven) {
  ReferenceDevice device;
  const ops::Tensor tensor(device, {.shape = {1, 2}});
  CommandQueue& queue = device.command_queue(0);
  // The first value is half way between 1 and the next bfloat16, 1 + 2^-7, and the second is a
  // little more.
  const std::vector<float> values{1.00390625F, 1.0040F};
  write_values(queue, tensor, values);
  EXPECT_EQ(read_values(queue, tensor), (std::vector<float>{1.0F, 1.0078125F}));
}

TEST(HostValues, AnotherNumberOfValuesOrKindIsAnError) {
  ReferenceDevice device;
  CommandQueue& queue = device.command_queue(0);
  const ops::Tensor tensor(device, kMatrix);
  const std::vector<float> five(5);
  const std::vector<std::uint32_t> indices(12);
  EXPECT_THROW(write_values(queue, tensor, five), Error);
  EXPECT_THROW(write_indices(queue, tensor, indices), Error);
}

}  // namespace
}  // namespace howard::autograd
