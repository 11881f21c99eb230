// SPDX-License-Identifier: Apache-2.0
#include "engines/autograd/steps/buffer_plan.h"

#include <gtest/gtest.h>

#include <random>

#include "base/error.h"
#include "engines/autograd/calls.h"
#include "engines/autograd/steps/static_step.h"
#include "engines/autograd/steps/traced_step.h"
#include "engines/reference/reference_device.h"
#include "tests/engines/autograd/plan_check.h"

namespace howard::autograd {
namespace {

using ops::Tensor;
using reference::ReferenceDevice;

const TensorSpec kSpec{.shape = {64, 32}};

TEST(BufferPlan, ElementwiseResultsTakeThePlaceOfAnOperandThatIsNotNeededAnyMore) {
  ReferenceDevice device;
  const Tensor input(device, kSpec);
  StepRecorder recorder(device);
  const Calls calls(recorder);
  Tensor x = calls.multiply(input, 2);
  for (int i = 0; i < 5; ++i) x = calls.multiply(x, 2);
  EXPECT_EQ(plan_buffers(recorder).places.size(), 1U);
}

TEST(BufferPlan, AProductNeverTakesThePlaceOfAnOperand) {
  ReferenceDevice device;
  const Tensor square(device, {.shape = {32, 32}});
  StepRecorder recorder(device);
  const Calls calls(recorder);
  Tensor x = calls.matmul(square, square);
  for (int i = 0; i < 5; ++i) x = calls.matmul(x, square);
  EXPECT_EQ(plan_buffers(recorder).places.size(), 2U);
}

TEST(BufferPlan, ABroadcastOperandIsNotReplaced) {
  ReferenceDevice device;
  const Tensor row(device, {.shape = {1, 32}});
  const Tensor column(device, {.shape = {32, 1}});
  StepRecorder recorder(device);
  const Calls calls(recorder);
  const Tensor a = calls.multiply(row, 2);
  const Tensor b = calls.multiply(column, 2);
  const Tensor sum = calls.add(a, b);
  const BufferPlan plan = plan_buffers(recorder);
  EXPECT_NE(plan.place.at(a.buffer()), plan.place.at(sum.buffer()));
  EXPECT_NE(plan.place.at(b.buffer()), plan.place.at(sum.buffer()));
}

TEST(BufferPlan, OnlyEqualSizesShareAndViewsAreTheirBuffer) {
  ReferenceDevice device;
  const Tensor input(device, kSpec);
  StepRecorder recorder(device);
  const Calls calls(recorder);
  {
    const Tensor wide = calls.multiply(input, 2);
    const Tensor narrow = calls.reduce(Reduction::sum, Dimension::columns, wide);
    const Tensor view = calls.multiply(wide, 3).view({2, 32, 32});
    static_cast<void>(calls.multiply(view, 2));
    static_cast<void>(narrow);
  }
  const BufferPlan plan = plan_buffers(recorder);
  EXPECT_EQ(plan.places.size(), 2U);
  EXPECT_EQ(plan.unshared.value(), 3 * 4096 + 2 * 2048);
  EXPECT_EQ(plan.planned.value(), 4096 + 2 * 2048);
}

TEST(BufferPlan, WhatIsStillHeldAndWhatTheHostWroteSharesWithNobodyAfterwards) {
  ReferenceDevice device;
  StepRecorder recorder(device);
  const Calls calls(recorder);
  const Tensor held = calls.fill(1, kSpec);
  {
    const Tensor written(recorder, kSpec);
    recorder.command_queue(0).write_buffer(written.buffer(), std::vector<std::byte>(4096));
    static_cast<void>(calls.multiply(written, 2));
  }
  static_cast<void>(calls.fill(2, kSpec));
  EXPECT_EQ(plan_buffers(recorder).places.size(), 3U);
}

TEST(BufferPlan, APlaceThatIsReadInTheEndHasTheShapeOfItsLastTensor) {
  ReferenceDevice device;
  StepRecorder recorder(device);
  const Calls calls(recorder);
  static_cast<void>(calls.fill(1, kSpec));
  const Tensor held = calls.fill(2, {.shape = {32, 64}});
  const BufferPlan plan = plan_buffers(recorder);
  ASSERT_EQ(plan.places.size(), 1U);
  EXPECT_EQ(plan.places[plan.place.at(held.buffer())].shape.text(), "32x64");
}

/// The steps are random: each program reads two earlier tensors, some of which are dropped at once.
TEST(BufferPlan, NoTwoTensorsThatAreNeededShareInRandomSteps) {
  for (unsigned seed = 0; seed < 50; ++seed) {
    std::mt19937 random(seed);
    ReferenceDevice device;
    StepRecorder recorder(device);
    const Calls calls(recorder);
    const std::vector<TensorSpec> specs{kSpec, {.shape = {32, 64}}, {.shape = {32, 32}}};
    std::vector<Tensor> alive;
    for (const TensorSpec& spec : specs) alive.push_back(calls.fill(1, spec));
    for (int i = 0; i < 60; ++i) {
      const Tensor& a = alive[random() % alive.size()];
      const Tensor& b = alive[random() % alive.size()];
      const bool fits = a.spec().shape.columns() == b.spec().shape.rows();
      Tensor made = a.spec() == b.spec() ? calls.add(a, b)
                    : fits               ? calls.matmul(a, b)
                                         : calls.transpose(a);
      if (random() % 2 == 0 && alive.size() > 3) {
        alive[random() % alive.size()] = std::move(made);
      } else {
        alive.push_back(std::move(made));
      }
    }
    expect_no_sharing(recorder);
  }
}

TEST(StaticStep, RefusesScalarsThatChangeWhenTheyAreSaidNotTo) {
  ReferenceDevice device;
  const Tensor input(device, kSpec);
  const auto step = [&, seed = 1U](Device& on) mutable {
    return Calls(on).call(DropoutAttributes{.probability = 0.5F, .seed = ++seed}, {input});
  };
  EXPECT_THROW(StaticStep(device, step), Error);
  EXPECT_NO_THROW(StaticStep(device, step, Scalars::change_each_step));
}

TEST(TracedStep, RefusesAStepWhoseScalarsChange) {
  ReferenceDevice device;
  const Tensor input(device, kSpec);
  StaticStep step(
      device, [&](Device& on) { return Calls(on).multiply(input, 2); }, Scalars::change_each_step);
  EXPECT_THROW(TracedStep(device, step), Error);
}

TEST(StaticStep, TakesTheScalarsOfEachStep) {
  ReferenceDevice device;
  const Tensor input(device, kSpec);
  for (double& value : device.values(input)) value = 1;
  StaticStep step(
      device, [&, rate = 0.0F](Device& on) mutable { return Calls(on).multiply(input, rate += 1); },
      Scalars::change_each_step);
  for (const double expected : {1, 2, 3}) {
    step.run();
    EXPECT_EQ(device.values(step.loss())[0], expected);
  }
}

TEST(StaticStep, AShapeThatChangesIsAnError) {
  ReferenceDevice device;
  Tensor input(device, kSpec);
  StaticStep step(
      device, [&](Device& on) { return Calls(on).multiply(input, 2); }, Scalars::change_each_step);
  step.run();
  input = Tensor(device, {.shape = {32, 32}});
  EXPECT_THROW(step.run(), Error);
}

TEST(StepRecorder, RefusesWhatIsNoProgram) {
  ReferenceDevice device;
  const Tensor outside(device, kSpec);
  StepRecorder recorder(device);
  CommandQueue& queue = recorder.command_queue(0);
  std::vector<std::byte> bytes(4096);
  EXPECT_THROW(queue.finish(), Error);
  EXPECT_THROW(queue.read_buffer(outside.buffer(), bytes), Error);
  EXPECT_THROW(queue.write_buffer(outside.buffer(), bytes), Error);
  EXPECT_THROW(queue.record_event(), Error);
}

}  // namespace
}  // namespace howard::autograd
