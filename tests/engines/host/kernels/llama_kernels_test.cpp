// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "base/error.h"
#include "tests/engines/host/host_calls.h"

namespace howard::host {
namespace {

double element(const Given& given, std::int64_t i) {
  return static_cast<double>(given.values[at(i)]);
}

double root_of(const Given& x, std::int64_t row, std::int64_t columns, double epsilon) {
  double squares = 0;
  for (std::int64_t i = 0; i < columns; ++i) squares += std::pow(element(x, row * columns + i), 2);
  return std::sqrt(squares / static_cast<double>(columns) + epsilon);
}

TEST(HostRmsNorm, IsScaledByTheRootOfTheMeanSquare) {
  for (const DataType dtype : kRealTypes) {
    const Given x = random({5, 67}, dtype, 1, -3, 3);
    const Given gamma = random({67}, dtype, 2);
    const auto out =
        run(TtmlRmsNormAttributes{.epsilon = 0.25F}, {x, gamma}, {x.spec, {{5, 1}, dtype}});
    expect_close(out[0], dtype, [&](std::int64_t i) -> Expected {
      const double root = root_of(x, i / 67, 67, 0.25);
      return {element(x, i) * element(gamma, i % 67) / root, 1e-5};
    });
    expect_close(out[1], dtype, [&](std::int64_t row) -> Expected {
      return {root_of(x, row, 67, 0.25), 1e-5};
    });
    const Values plain = run(RmsNormAttributes{.epsilon = 0.25F}, {x}, {x.spec})[0];
    expect_close(plain, dtype, [&](std::int64_t i) -> Expected {
      return {element(x, i) / root_of(x, i / 67, 67, 0.25), 1e-5};
    });
  }
}

TEST(HostSwiglu, IsTheGatedProductOfFloat64) {
  constexpr std::int64_t kRows = 2 * 5, kWidth = 67, kHidden = 35;
  for (const DataType dtype : kRealTypes) {
    const Given x = random({2, 1, 5, kWidth}, dtype, 1);
    const Given gate = random({kHidden, kWidth}, dtype, 2);
    const Given down = random({kWidth, kHidden}, dtype, 3);
    const Given up = random({kHidden, kWidth}, dtype, 4);
    const auto product = [&](const Given& weight, std::int64_t row, std::int64_t j) {
      double sum = 0;
      for (std::int64_t i = 0; i < kWidth; ++i) {
        sum += element(x, row * kWidth + i) * element(weight, j * kWidth + i);
      }
      return sum;
    };
    std::vector<double> hidden;
    for (std::int64_t i = 0; i < kRows * kHidden; ++i) {
      const double g = product(gate, i / kHidden, i % kHidden);
      hidden.push_back(g / (1 + std::exp(-g)) * product(up, i / kHidden, i % kHidden));
    }
    // What lies between the products is rounded to the data type three times.
    const double rounding = dtype == DataType::bfloat16 ? 3 * 0x1p-8 : 1e-6;
    const auto out = run(SwigluAttributes{}, {x, gate, down, up}, {x.spec})[0];
    expect_close(out, dtype, [&](std::int64_t i) -> Expected {
      double sum = 0, all = 0;
      for (std::int64_t j = 0; j < kHidden; ++j) {
        const double term =
            hidden[at(i / kWidth * kHidden + j)] * element(down, i % kWidth * kHidden + j);
        sum += term;
        all += std::abs(term);
      }
      return {sum, rounding * all};
    });
  }
}

TEST(HostSwiglu, SlopesAreThoseOfFloat64AndMayLieWhereTheirOperandsDo) {
  for (const DataType dtype : {DataType::float32, DataType::bfloat16}) {
    const Given gate = random({4, 35}, dtype, 1, -4, 4);
    const Given up = random({4, 35}, dtype, 2, -2, 2);
    const Given dy = random({4, 35}, dtype, 3, -2, 2);
    const double rounding = dtype == DataType::bfloat16 ? 0x1p-7 : 1e-5;
    const auto out = run(SwigluBackwardAttributes{}, {gate, up, dy}, {gate.spec, up.spec});
    const auto open = [&](std::int64_t i) { return 1 / (1 + std::exp(-element(gate, i))); };
    expect_close(out[0], dtype, [&](std::int64_t i) -> Expected {
      const double slope = open(i) * (1 + element(gate, i) * (1 - open(i)));
      return {element(dy, i) * element(up, i) * slope, rounding * 4};
    });
    expect_close(out[1], dtype, [&](std::int64_t i) -> Expected {
      return {element(dy, i) * element(gate, i) * open(i), rounding * 4};
    });
  }
}

TEST(HostSwiglu, RefusesWeightsThatDoNotFit) {
  HostDevice device;
  const auto matrix = [](const Shape& shape) { return random(shape, DataType::float32, 1); };
  const Given x = matrix({4, 6}), wide = matrix({8, 6}), narrow = matrix({6, 8});
  const auto refuses = [&](const std::vector<Given>& inputs) {
    EXPECT_THROW(run_on(device, SwigluAttributes{}, inputs, {x.spec}), Error);
  };
  refuses({x, wide, narrow});
  refuses({x, wide, wide, wide});
  refuses({x, wide, narrow, narrow});
  refuses({x, wide, narrow, random({8, 6}, DataType::bfloat16, 1)});
}

TEST(HostRmsNorm, BackwardIsThatOfFloat64) {
  const Given x = random({4, 35}, DataType::float32, 1, -2, 2);
  const Given gamma = random({35}, DataType::float32, 2);
  const Given dy = random({4, 35}, DataType::float32, 3);
  Given root{{{4, 1}, DataType::float32}, Values(4)};
  for (std::int64_t row = 0; row < 4; ++row) {
    root.values[at(row)] = static_cast<float>(root_of(x, row, 35, 1e-5));
  }
  const auto out = run(RmsNormBackwardAttributes{}, {x, gamma, root, dy}, {x.spec, x.spec});
  const auto scaled = [&](std::int64_t i) { return element(dy, i) * element(gamma, i % 35); };
  expect_close(out[0], DataType::float32, [&](std::int64_t i) -> Expected {
    const std::int64_t row = i / 35;
    const double r = element(root, row);
    double sum = 0;
    for (std::int64_t k = 0; k < 35; ++k) sum += scaled(row * 35 + k) * element(x, row * 35 + k);
    return {scaled(i) / r - element(x, i) * sum / (35 * r * r * r), 1e-5};
  });
  expect_close(out[1], DataType::float32, [&](std::int64_t i) -> Expected {
    return {element(dy, i) * element(x, i) / element(root, i / 35), 1e-5};
  });
}

TEST(HostRotaryEmbedding, TurnsPairsOrHalves) {
  const Given x{{{1, 2, 2, 4}, DataType::float32},
                {1, 2, 3, 4, 1, 2, 3, 4, 5, 6, 7, 8, 5, 6, 7, 8}};
  // The first place is not turned; the second by a right angle, whose sine is 1.
  const Given cosines{{{2, 4}, DataType::float32}, {1, 1, 1, 1, 0, 0, 0, 0}};
  const Given sines{{{2, 4}, DataType::float32}, {0, 0, 0, 0, 1, 1, 1, 1}};
  const auto turned = [&](RotaryStyle style) {
    return run(RotaryEmbeddingAttributes{.style = style}, {x, cosines, sines}, {x.spec})[0];
  };
  EXPECT_EQ(turned(RotaryStyle::pairs),
            (Values{1, 2, 3, 4, -2, 1, -4, 3, 5, 6, 7, 8, -6, 5, -8, 7}));
  EXPECT_EQ(turned(RotaryStyle::halves),
            (Values{1, 2, 3, 4, -3, -4, 1, 2, 5, 6, 7, 8, -7, -8, 5, 6}));
}

TEST(HostRotaryEmbedding, TablesMayBeLongerButNotShorter) {
  HostDevice device;
  const Given x = random({1, 3, 5, 8}, DataType::bfloat16, 1);
  const Given longer = random({9, 8}, DataType::bfloat16, 2);
  const Given shorter = random({4, 8}, DataType::bfloat16, 2);
  const RotaryEmbeddingAttributes attributes{};
  EXPECT_NO_THROW(run_on(device, attributes, {x, longer, longer}, {x.spec}));
  EXPECT_THROW(run_on(device, attributes, {x, shorter, shorter}, {x.spec}), Error);
}

TEST(HostSilu, AndItsSlopeAreThoseOfFloat64) {
  const Given x = random({3, 513}, DataType::float32, 1, -30, 30);
  const Given dy = random({3, 513}, DataType::float32, 2);
  const auto sigmoid = [](double v) { return 1 / (1 + std::exp(-v)); };
  const auto of = [](Eltwise function) {
    return EltwiseAttributes{.function = function, .scalar = {}};
  };
  expect_close(run(of(Eltwise::sigmoid), {x}, {x.spec})[0], DataType::float32,
               [&](std::int64_t i) -> Expected {
                 const double value = sigmoid(element(x, i));
                 return {value, 5e-7 * value};
               });
  expect_close(run(of(Eltwise::silu), {x}, {x.spec})[0], DataType::float32,
               [&](std::int64_t i) -> Expected {
                 const double value = element(x, i) * sigmoid(element(x, i));
                 return {value, 6e-7 * std::abs(value)};
               });
  expect_close(run(of(Eltwise::silu_backward), {x, dy}, {x.spec})[0], DataType::float32,
               [&](std::int64_t i) -> Expected {
                 const double v = element(x, i);
                 const double s = sigmoid(v);
                 return {element(dy, i) * s * (1 + v * (1 - s)), 2e-6 * (1 + std::abs(v) * s)};
               });
}

TEST(HostSilu, OfInfinitiesIsNoNan) {
  const float infinity = std::numeric_limits<float>::infinity();
  const Given x{{{1, 4}, DataType::float32}, {infinity, -infinity, 200, -200}};
  const EltwiseAttributes silu{.function = Eltwise::silu, .scalar = {}};
  EXPECT_EQ(run(silu, {x}, {x.spec})[0], (Values{infinity, 0, 200, 0}));
}

}  // namespace
}  // namespace howard::host
