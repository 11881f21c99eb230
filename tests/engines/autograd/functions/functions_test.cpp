// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <array>
#include <deque>
#include <vector>

#include "base/error.h"
#include "engines/autograd/functions/attention/attention.h"
#include "engines/autograd/functions/attention/grouped_attention.h"
#include "engines/autograd/functions/elementwise/activation.h"
#include "engines/autograd/functions/elementwise/arithmetic.h"
#include "engines/autograd/functions/matmul/linear.h"
#include "engines/autograd/functions/matmul/swiglu.h"
#include "engines/autograd/functions/rows/loss.h"
#include "engines/autograd/functions/rows/rms_norm.h"
#include "engines/autograd/functions/rows/routing.h"
#include "engines/autograd/host_values.h"
#include "tests/engines/autograd/gradient_check.h"

namespace howard::autograd {
namespace {

using reference::ReferenceDevice;

/// Has parameters with random numbers, and a loss that weighs each element of a value differently.
class Functions : public testing::Test {
 protected:
  Parameter& parameter(const Shape& shape) {
    const TensorSpec spec{.shape = shape, .dtype = DataType::float32};
    Parameter& added = parameters_.emplace_back(Parameter{"", {device_, spec}, {}});
    added.name = "parameter " + std::to_string(parameters_.size());
    reference::fill_random(device_, added.value, seed_++);
    return added;
  }

  template <class Function>
  void expect_gradients(const Function& function) {
    std::vector<Parameter*> all;
    for (Parameter& each : parameters_) all.push_back(&each);
    const unsigned seed = seed_++;
    reference::expect_gradients(device_, all,
                                [&](Tape& tape) {
                                  const Value output = function(tape);
                                  const ops::Tensor weights(device_, tape.spec(output));
                                  reference::fill_random(device_, weights, seed);
                                  return mean(tape, multiply(tape, output, tape.constant(weights)));
                                },
                                {.compute = DataType::float32, .seed = 7});
  }

  /// Expects equal values of two functions of the parameters.
  template <class One, class Other>
  void expect_same(const One& one, const Other& other) {
    Tape tape(device_, {.compute = DataType::float32});
    const auto values = device_.values(tape.tensor(one(tape)));
    const auto others = device_.values(tape.tensor(other(tape)));
    ASSERT_EQ(values.size(), others.size());
    for (std::size_t i = 0; i < values.size(); ++i) EXPECT_NEAR(values[i], others[i], 1e-12);
  }

  ReferenceDevice device_;
  std::deque<Parameter> parameters_;
  unsigned seed_ = 1;
};

TEST_F(Functions, AddOfMatricesAndOfARow) {
  Parameter& a = parameter({3, 4});
  Parameter& b = parameter({3, 4});
  Parameter& row = parameter({1, 4});
  expect_gradients([&](Tape& tape) {
    return add(tape, add(tape, tape.parameter(a), tape.parameter(b)), tape.parameter(row));
  });
}

TEST_F(Functions, SubtractInBothOperands) {
  Parameter& a = parameter({3, 4});
  Parameter& b = parameter({3, 4});
  expect_gradients(
      [&](Tape& tape) { return subtract(tape, tape.parameter(a), tape.parameter(b)); });
}

TEST_F(Functions, FunctionsOfTwoValuesSumTheGradientsOfWhatTheyBroadcast) {
  Parameter& whole = parameter({2, 3, 4, 5});
  const auto broadcasts = {Shape{1, 1, 1, 1}, Shape{2, 1, 1, 5}, Shape{1, 3, 4, 1},
                           Shape{1, 3, 1, 5}, Shape{1, 1, 4, 5}, Shape{2, 1, 4, 5}};
  for (const Shape& shape : broadcasts) {
    Parameter& part = parameter(shape);
    for (const auto function : {add, subtract, multiply, minimum, maximum}) {
      expect_gradients(
          [&](Tape& tape) { return function(tape, tape.parameter(part), tape.parameter(whole)); });
    }
    parameters_.pop_back();
  }
}

TEST_F(Functions, QuotientsAndMultiples) {
  Parameter& a = parameter({3, 4});
  Parameter& b = parameter({3, 4});
  expect_gradients([&](Tape& tape) {
    const Value above = exp(tape, tape.parameter(b));
    return divide(tape, scale(tape, tape.parameter(a), 3), above);
  });
  EXPECT_THROW(expect_gradients([&](Tape& tape) {
                 return divide(tape, tape.parameter(a), mean(tape, tape.parameter(b)));
               }),
               Error);
}

TEST_F(Functions, ClippedNumbersHaveNoGradientOutsideOfTheLimits) {
  Parameter& a = parameter({8, 8});
  expect_gradients([&](Tape& tape) { return clip(tape, tape.parameter(a), -0.5F, 1); });
}

TEST_F(Functions, LogarithmsOfASoftmax) {
  Parameter& a = parameter({2, 3, 5});
  expect_gradients([&](Tape& tape) { return log_softmax(tape, tape.parameter(a)); });
}

TEST_F(Functions, PolynomialNorm) {
  Parameter& a = parameter({2, 3, 6});
  expect_gradients([&](Tape& tape) {
    return polynomial_norm(tape, tape.parameter(a), {0.5F, 0.25F, 2}, 0.125F, 1e-2F);
  });
}

TEST_F(Functions, ProductsOfTransposedBatches) {
  for (const int form : {0, 1, 2, 3, 4, 5, 6, 7}) {
    const bool left = (form & 1) != 0, right = (form & 2) != 0;
    const std::int64_t batch = (form & 4) != 0 ? 2 : 1;
    Parameter& a = parameter(left ? Shape{2, 3, 5, 4} : Shape{2, 3, 4, 5});
    const std::int64_t heads = batch == 1 ? 1 : 3;
    Parameter& b = parameter(right ? Shape{batch, heads, 6, 5} : Shape{batch, heads, 5, 6});
    expect_gradients([&](Tape& tape) {
      return product(tape, tape.parameter(a), tape.parameter(b), left, right);
    });
    parameters_.clear();
  }
}

TEST_F(Functions, MatmulAndTranspose) {
  Parameter& a = parameter({3, 4});
  Parameter& b = parameter({5, 4});
  expect_gradients([&](Tape& tape) {
    return matmul(tape, tape.parameter(a), transpose(tape, tape.parameter(b)));
  });
}

TEST_F(Functions, BothKindsOfRelu) {
  Parameter& a = parameter({5, 4});
  expect_gradients([&](Tape& tape) { return relu(tape, tape.parameter(a)); });
  expect_gradients([&](Tape& tape) { return masked_relu(tape, tape.parameter(a)); });
}

TEST_F(Functions, GeluAndDropout) {
  Parameter& a = parameter({5, 4});
  expect_gradients(
      [&](Tape& tape) { return dropout(tape, gelu(tape, tape.parameter(a), false), 0.4F); });
}

TEST_F(Functions, Silu) {
  Parameter& a = parameter({3, 5});
  for (const bool composed : {false, true}) {
    expect_gradients([&](Tape& tape) { return silu(tape, tape.parameter(a), composed); });
  }
}

TEST_F(Functions, RmsNorm) {
  Parameter& x = parameter({2, 3, 6});
  Parameter& gamma = parameter({1, 6});
  expect_gradients(
      [&](Tape& tape) { return rms_norm(tape, tape.parameter(x), tape.parameter(gamma), 1e-2F); });
}

TEST_F(Functions, RmsNormOfSingleCallsIsThatOfOneProgram) {
  Parameter& x = parameter({2, 3, 6});
  Parameter& gamma = parameter({1, 6});
  const auto norm = [&](auto* function) {
    return [&, function](Tape& tape) {
      return function(tape, tape.parameter(x), tape.parameter(gamma), 1e-2F);
    };
  };
  expect_gradients(norm(composed_rms_norm));
  expect_same(norm(composed_rms_norm), norm(rms_norm));
}

TEST_F(Functions, SwigluOfOneProgramIsThatOfSingleCalls) {
  Parameter& x = parameter({2, 1, 3, 4});
  Parameter& gate = parameter({6, 4});
  Parameter& down = parameter({4, 6});
  Parameter& up = parameter({6, 4});
  const auto fused = [&](Tape& tape) {
    return fused_swiglu(tape, tape.parameter(x),
                        {tape.parameter(gate), tape.parameter(down), tape.parameter(up)});
  };
  expect_gradients(fused);
  expect_same(fused, [&](Tape& tape) {
    const Value opened = silu(tape, project(tape, tape.parameter(x), tape.parameter(gate)));
    const Value raised = project(tape, tape.parameter(x), tape.parameter(up));
    return project(tape, multiply(tape, opened, raised), tape.parameter(down));
  });
}

TEST_F(Functions, RotaryEmbedding) {
  Parameter& x = parameter({2, 3, 2, 4});
  const auto table = [&](std::vector<float> values) {
    const ops::Tensor tensor(device_, {.shape = {2, 4}, .dtype = DataType::float32});
    write_values(device_.command_queue(0), tensor, values);
    return tensor;
  };
  // Both columns of a point have the same angle.
  const ops::Tensor cosines = table({1, 1, 1, 1, 0.6F, 0.6F, 0.8F, 0.8F});
  const ops::Tensor sines = table({0, 0, 0, 0, 0.8F, 0.8F, 0.6F, 0.6F});
  const ops::Tensor negative = table({0, 0, 0, 0, -0.8F, -0.8F, -0.6F, -0.6F});
  expect_gradients([&](Tape& tape) {
    const RotaryTables tables{tape.constant(cosines), tape.constant(sines),
                              tape.constant(negative)};
    return rotary_embedding(tape, tape.parameter(x), tables, RotaryStyle::pairs);
  });
}

TEST_F(Functions, FusedAttentionUnderAMaskIsThatOfSmallCalls) {
  Parameter& q = parameter({2, 4, 3, 5});
  Parameter& k = parameter({2, 2, 3, 5});
  Parameter& v = parameter({2, 2, 3, 5});
  const ops::Tensor mask(device_, {.shape = {1, 1, 3, 3}, .dtype = DataType::float32});
  device_.values(mask) = {1, 0, 1, 0, 1, 0, 1, 1, 1};
  const auto fused = [&](Tape& tape) {
    return fused_attention(tape, tape.parameter(q), tape.parameter(k), tape.parameter(v),
                           tape.constant(mask));
  };
  expect_gradients(fused);
  expect_same(fused, [&](Tape& tape) {
    const GroupedHeads heads{tape.parameter(q), tape.parameter(k), tape.parameter(v)};
    return grouped_attention(tape, heads, tape.constant(mask));
  });
}

TEST_F(Functions, CausalAttentionAlsoWhereHeadsShareKeysAndValues) {
  for (const std::int64_t groups : {4, 2, 1}) {
    Parameter& q = parameter({2, 4, 3, 5});
    Parameter& k = parameter({2, groups, 3, 5});
    Parameter& v = parameter({2, groups, 3, 5});
    expect_gradients([&](Tape& tape) {
      return fused_attention(tape, tape.parameter(q), tape.parameter(k), tape.parameter(v));
    });
    parameters_.clear();
  }
}

TEST_F(Functions, LinearsOfABatchSumTheGradientsOfItsRows) {
  Parameter& x = parameter({2, 3, 4});
  Parameter& weight = parameter({5, 4});
  Parameter& bias = parameter({1, 5});
  const auto layer = [&](Tape& tape) {
    return LinearValues{tape.parameter(weight), tape.parameter(bias)};
  };
  expect_gradients([&](Tape& tape) { return linear(tape, tape.parameter(x), layer(tape)); });
  expect_gradients([&](Tape& tape) { return fused_linear(tape, tape.parameter(x), layer(tape)); });
}

TEST_F(Functions, ProjectionWithoutBias) {
  Parameter& x = parameter({2, 1, 3, 4});
  Parameter& weight = parameter({5, 4});
  expect_gradients(
      [&](Tape& tape) { return project(tape, tape.parameter(x), tape.parameter(weight)); });
}

TEST_F(Functions, ComposedLinearOfAMatrix) {
  Parameter& x = parameter({3, 4});
  Parameter& weight = parameter({5, 4});
  Parameter& bias = parameter({1, 5});
  expect_gradients([&](Tape& tape) {
    return composed_linear(tape, tape.parameter(x), {tape.parameter(weight), tape.parameter(bias)});
  });
}

TEST_F(Functions, LinearsWithGrownWeightsAreOneForEachMatrix) {
  Parameter& x = parameter({2, 3, 4});
  Parameter& weight = parameter({2, 5, 4});
  Parameter& bias = parameter({3, 5});
  expect_gradients([&](Tape& tape) {
    return linear(tape, tape.parameter(x), {tape.parameter(weight), tape.parameter(bias)},
                  WeightGradient::rows_of_each_matrix);
  });
}

TEST_F(Functions, ThreeLinearsAddTheGradientsOfTheirInput) {
  Parameter& x = parameter({2, 3, 4});
  std::array<Parameter*, 3> weights{};
  std::array<Parameter*, 3> biases{};
  for (std::size_t i = 0; i < 3; ++i) {
    weights[i] = &parameter({4, 4});
    biases[i] = &parameter({1, 4});
  }
  expect_gradients([&](Tape& tape) {
    std::array<LinearValues, 3> layers;
    for (std::size_t i = 0; i < 3; ++i) {
      layers[i] = {tape.parameter(*weights[i]), tape.parameter(*biases[i])};
    }
    const Value first = three_linears(tape, tape.parameter(x), layers, WeightGradient::rows);
    return multiply(tape, multiply(tape, first, first.next()), first.next(2));
  });
}

TEST_F(Functions, AnOutputThatNothingUsesHasNoGradient) {
  Parameter& x = parameter({2, 3, 4});
  Parameter& weight = parameter({4, 4});
  Parameter& unused = parameter({4, 4});
  Parameter& bias = parameter({1, 4});
  expect_gradients([&](Tape& tape) {
    const Value row = tape.parameter(bias);
    const LinearValues idle{tape.parameter(unused), row};
    return three_linears(tape, tape.parameter(x), {idle, {tape.parameter(weight), row}, idle},
                         WeightGradient::rows)
        .next();
  });
}

TEST_F(Functions, MeanSquaredErrorAsOneFunctionAndByOps) {
  Parameter& x = parameter({3, 4});
  const ops::Tensor target(device_, {.shape = {3, 4}, .dtype = DataType::float32});
  reference::fill_random(device_, target, 99);
  Parameter* all[] = {&x};
  const TapeOptions options{.compute = DataType::float32};
  reference::expect_gradients(
      device_, all,
      [&](Tape& tape) {
        return mean_squared_error(tape, tape.parameter(x), tape.constant(target));
      },
      options);
  reference::expect_gradients(
      device_, all,
      [&](Tape& tape) {
        return composed_mean_squared_error(tape, tape.parameter(x), tape.constant(target));
      },
      options);
}

}  // namespace
}  // namespace howard::autograd
