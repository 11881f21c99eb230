// SPDX-License-Identifier: Apache-2.0
#include "engines/autograd/functions/rows/loss.h"

#include <gtest/gtest.h>

#include <cmath>

#include "engines/autograd/functions/attention/model_parts.h"
#include "engines/autograd/functions/elementwise/activation.h"
#include "engines/autograd/functions/elementwise/arithmetic.h"
#include "engines/autograd/functions/elementwise/elementwise.h"
#include "tests/engines/autograd/gradient_check.h"

namespace howard::autograd {
namespace {

using reference::ReferenceDevice;

/// Has logits [2, 1, 3, 5] as a parameter, and targets.
class Losses : public testing::Test {
 protected:
  Losses() : targets_(device_, {{2, 3}, DataType::uint32, Layout::row_major}) {
    reference::fill_random(device_, logits_.value, 1);
    auto& targets = device_.values(targets_);
    for (std::size_t i = 0; i < targets.size(); ++i) targets[i] = static_cast<double>(i * 7 % 5);
  }

  double number(const Value& value, Tape& tape) { return device_.values(tape.tensor(value))[0]; }

  template <class Loss>
  void expect_gradients(const Loss& loss) {
    Parameter* all[] = {&logits_};
    reference::expect_gradients(device_, all, loss, kOptions);
  }

  static constexpr TapeOptions kOptions{.compute = DataType::float32};

  ReferenceDevice device_;
  Parameter logits_{"logits", {device_, {.shape = {2, 1, 3, 5}, .dtype = DataType::float32}}, {}};
  ops::Tensor targets_;
};

TEST_F(Losses, TheNllOfLogarithmsIsTheCrossEntropy) {
  Tape tape(device_, kOptions);
  const Value logits = tape.parameter(logits_);
  const Value targets = tape.constant(targets_);
  const Value logarithms = elementwise(tape, softmax(tape, logits), Eltwise::log);
  EXPECT_NEAR(number(mean_nll(tape, logarithms, targets), tape),
              number(mean_cross_entropy(tape, logits, targets), tape), 1e-9);
}

TEST_F(Losses, GradientsOfTheNllAreDifferences) {
  expect_gradients([&](Tape& tape) {
    const Value logarithms =
        elementwise(tape, softmax(tape, tape.parameter(logits_)), Eltwise::log);
    return mean_nll(tape, logarithms, tape.constant(targets_));
  });
}

/// Returns a mask of positions that are counted, once, twice or not at all.
ops::Tensor mask(ReferenceDevice& device) {
  const ops::Tensor weights(device, {{2, 1, 3, 1}, DataType::float32});
  device.values(weights) = {1, 0, 2, 0, 1, 0};
  return weights;
}

TEST_F(Losses, MaskedLossesCountTheirPositionsAlone) {
  expect_gradients([&](Tape& tape) {
    const Value losses =
        cross_entropy_of_positions(tape, tape.parameter(logits_), tape.constant(targets_));
    return mean(tape, multiply(tape, losses, tape.constant(mask(device_))));
  });
  expect_gradients([&](Tape& tape) {
    const Value losses = nll_of_positions(tape, tape.parameter(logits_), tape.constant(targets_));
    return mean(tape, multiply(tape, losses, tape.constant(mask(device_))));
  });
  Tape tape(device_, kOptions);
  const Value losses =
      cross_entropy_of_positions(tape, tape.parameter(logits_), tape.constant(targets_));
  EXPECT_EQ(tape.spec(losses).shape.elements(), 6);
  tape.backward(mean(tape, multiply(tape, losses, tape.constant(mask(device_)))));
  const auto& gradient = device_.values(*logits_.gradient);
  for (std::size_t i = 5; i < 10; ++i) EXPECT_EQ(gradient[i], 0) << "a masked position";
  logits_.gradient.reset();
}

}  // namespace
}  // namespace howard::autograd
