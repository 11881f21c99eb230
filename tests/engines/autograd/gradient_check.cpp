// SPDX-License-Identifier: Apache-2.0
#include "tests/engines/autograd/gradient_check.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

namespace howard::reference {
namespace {

using autograd::Parameter;
using autograd::Tape;
using autograd::Value;

double largest(const Values& values) {
  double result = 0;
  for (const double value : values) result = std::max(result, std::abs(value));
  return result;
}

}  // namespace

void fill_random(ReferenceDevice& device, const ops::Tensor& tensor, unsigned seed, double scale) {
  std::mt19937 generator(seed);
  std::normal_distribution<double> distribution(0, scale);
  for (double& value : device.values(tensor)) value = distribution(generator);
}

void expect_gradients(ReferenceDevice& device, std::span<Parameter* const> parameters,
                      const std::function<Value(Tape&)>& loss,
                      const autograd::TapeOptions& options) {
  const auto forward = [&] {
    autograd::TapeOptions only_forward = options;
    only_forward.records = false;
    Tape tape(device, only_forward);
    return device.values(tape.tensor(loss(tape)))[0];
  };
  Tape tape(device, options);
  tape.backward(loss(tape));
  for (Parameter* parameter : parameters) {
    ASSERT_TRUE(parameter->gradient) << parameter->name;
    const Values gradient = device.values(*parameter->gradient);
    parameter->gradient.reset();
    Values& values = device.values(parameter->value);
    ASSERT_EQ(gradient.size(), values.size()) << parameter->name;
    const double tolerance = 1e-6 * largest(gradient) + 1e-9;
    constexpr double kStep = 1e-5;
    for (std::size_t i = 0; i < values.size(); ++i) {
      const double value = values[i];
      values[i] = value + kStep;
      const double above = forward();
      values[i] = value - kStep;
      const double below = forward();
      values[i] = value;
      ASSERT_NEAR(gradient[i], (above - below) / (2 * kStep), tolerance)
          << parameter->name << " element " << i;
    }
  }
}

}  // namespace howard::reference
