// SPDX-License-Identifier: Apache-2.0
// These tests cover softmax and layernorm, forwards and backwards, which work along the columns of
// each row.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "base/error.h"
#include "tests/engines/host/host_calls.h"

namespace howard::host {
namespace {

const std::array kShapes{Shape{1},      Shape{5, 1},         Shape{3, 7},
                         Shape{33, 31}, Shape{2, 3, 40, 70}, Shape{2, 100, 384},
                         Shape{4, 9000}};

/// Returns a row of `values` as float64.
std::vector<double> row_of(const Values& values, std::int64_t row, std::int64_t columns) {
  const auto first = values.begin() + row * columns;
  return {first, first + columns};
}

std::vector<double> softmax(std::vector<double> row) {
  double largest = row[0];
  for (const double x : row) largest = std::max(largest, x);
  double sum = 0;
  for (double& x : row) sum += x = std::exp(x - largest);
  for (double& x : row) x /= sum;
  return row;
}

TEST(HostRows, SoftmaxIsThatOfFloat64) {
  for (const DataType dtype : kRealTypes) {
    for (const Shape& shape : kShapes) {
      SCOPED_TRACE(shape.text());
      const std::int64_t columns = shape.columns();
      const Given x = random(shape, dtype, 1, -20, 20);
      const Values y = run(SoftmaxAttributes{}, {x}, {x.spec})[0];
      std::vector<double> row;
      expect_close(y, dtype, [&](std::int64_t i) -> Expected {
        if (i % columns == 0) row = softmax(row_of(x.values, i / columns, columns));
        // x - largest is up to 40 and rounds by half an ulp; the sum of positive terms is bounded
        // as in HostReduce.
        const double value = row[at(i % columns)];
        return {value, (40 + 32 + static_cast<double>(columns) / 32) * kFloatRounding * value};
      });
      EXPECT_TRUE(same_bits(run(SoftmaxAttributes{}, {x}, {x.spec}, {0})[0], y)) << "in place";
    }
  }
}

TEST(HostRows, SoftmaxOfLargeNumbersDoesNotOverflow) {
  const Given x{{{1, 3}, DataType::float32}, {3e38F, 3e38F, -3e38F}};
  EXPECT_EQ(run(SoftmaxAttributes{}, {x}, {x.spec})[0], (Values{0.5F, 0.5F, 0.0F}));
}

TEST(HostRows, SoftmaxBackwardIsThatOfFloat64) {
  for (const DataType dtype : kRealTypes) {
    for (const Shape& shape : kShapes) {
      SCOPED_TRACE(shape.text());
      const std::int64_t columns = shape.columns();
      const Given y = random(shape, dtype, 1, 0, 1);
      const Given dy = random(shape, dtype, 2);
      const Values dx = run(SoftmaxBackwardAttributes{}, {y, dy}, {y.spec})[0];
      double sum = 0;
      double magnitude = 0;
      expect_close(dx, dtype, [&](std::int64_t i) -> Expected {
        if (i % columns == 0) {
          sum = magnitude = 0;
          for (std::int64_t j = i; j < i + columns; ++j) {
            const double term =
                static_cast<double>(y.values[at(j)]) * static_cast<double>(dy.values[at(j)]);
            sum += term;
            magnitude += std::abs(term);
          }
        }
        const auto own = static_cast<double>(y.values[at(i)]);
        const double chain = 8 + static_cast<double>(columns) / 32;
        return {own * (static_cast<double>(dy.values[at(i)]) - sum),
                chain * kFloatRounding * own * (magnitude + 1)};
      });
      EXPECT_TRUE(same_bits(run(SoftmaxBackwardAttributes{}, {y, dy}, {y.spec}, {0})[0], dx));
      EXPECT_TRUE(same_bits(run(SoftmaxBackwardAttributes{}, {y, dy}, {y.spec}, {1})[0], dx));
    }
  }
}

struct Statistics {
  double mean = 0;
  double rstd = 0;
};

Statistics statistics(const std::vector<double>& row, double epsilon) {
  const auto n = static_cast<double>(row.size());
  Statistics result;
  for (const double x : row) result.mean += x / n;
  double variance = 0;
  for (const double x : row) variance += (x - result.mean) * (x - result.mean) / n;
  result.rstd = 1 / std::sqrt(variance + epsilon);
  return result;
}

constexpr float kEpsilon = 1e-5F;

TEST(HostRows, LayernormAndItsStatisticsAreThoseOfFloat64) {
  for (const DataType dtype : kRealTypes) {
    for (const Shape& shape : kShapes) {
      SCOPED_TRACE(shape.text());
      const std::int64_t columns = shape.columns();
      const Given x = random(shape, dtype, 1, 1, 3);
      const Given gamma = random({columns}, dtype, 2);
      const Given beta = random({columns}, dtype, 3);
      const TensorSpec statistic{shape.with_columns(1), dtype};
      const LayernormAttributes attributes{.epsilon = kEpsilon};
      const auto scaled = run(TtmlLayernormAttributes{.epsilon = kEpsilon}, {x, gamma, beta},
                              {x.spec, statistic, statistic});
      const Values plain = run(attributes, {x}, {x.spec}, {0})[0];
      const double chain = (16 + static_cast<double>(columns) / 32) * kFloatRounding;
      const auto of_row = [&](std::int64_t row) {
        return statistics(row_of(x.values, row, columns), static_cast<double>(kEpsilon));
      };
      // The values are 1 to 3, so an error of the mean is one of x - mean, and 3 times as large at
      // most.
      const auto normal = [&](std::int64_t i) -> Expected {
        const auto [mean, rstd] = of_row(i / columns);
        const double value = (static_cast<double>(x.values[at(i)]) - mean) * rstd;
        return {value, chain * (3 * rstd + 3 * std::abs(value))};
      };
      expect_close(plain, dtype, normal);
      expect_close(scaled[0], dtype, [&](std::int64_t i) -> Expected {
        const auto [value, error] = normal(i);
        const auto factor = static_cast<double>(gamma.values[at(i % columns)]);
        const auto shift = static_cast<double>(beta.values[at(i % columns)]);
        return {value * factor + shift, error * std::abs(factor) + 2 * kFloatRounding};
      });
      expect_close(scaled[1], dtype, [&](std::int64_t row) -> Expected {
        return {of_row(row).mean, 3 * chain};
      });
      expect_close(scaled[2], dtype, [&](std::int64_t row) -> Expected {
        const double rstd = of_row(row).rstd;
        return {rstd, 3 * chain * rstd};
      });
    }
  }
}

struct BackwardRow {
  std::vector<double> normal, incoming;  ///< (x - mean) rstd and dy gamma; floats hold the rest.
  double rstd = 0, sum = 0, product = 0;
};

TEST(HostRows, LayernormBackwardIsThatOfFloat64) {
  for (const DataType dtype : kRealTypes) {
    for (const Shape& shape :
         {Shape{3, 7}, Shape{33, 31}, Shape{2, 3, 40, 70}, Shape{2, 100, 384}}) {
      SCOPED_TRACE(shape.text());
      const std::int64_t columns = shape.columns();
      const Given x = random(shape, dtype, 1, 1, 3);
      const Given gamma = random({columns}, dtype, 2);
      const Given dy = random(shape, dtype, 3);
      const Given mean = random(shape.with_columns(1), dtype, 4, 1.9F, 2.1F);
      const Given rstd = random(shape.with_columns(1), dtype, 5, 1.5F, 2);
      const auto results =
          run(LayernormBackwardAttributes{}, {x, gamma, mean, rstd, dy}, {x.spec, x.spec, x.spec});
      BackwardRow row;
      const auto value = [](const Given& given, std::int64_t i) {
        return static_cast<double>(given.values[at(i)]);
      };
      expect_close(results[0], dtype, [&](std::int64_t i) -> Expected {
        const std::int64_t r = i / columns;
        if (i % columns == 0) {
          row = {};
          row.rstd = value(rstd, r);
          for (std::int64_t j = 0; j < columns; ++j) {
            row.normal.push_back((value(x, i + j) - value(mean, r)) * row.rstd);
            row.incoming.push_back(value(dy, i + j) * value(gamma, j));
            row.sum += row.incoming.back() / static_cast<double>(columns);
            row.product += row.incoming.back() * row.normal.back() / static_cast<double>(columns);
          }
        }
        const std::size_t j = at(i % columns);
        return {row.rstd * (row.incoming[j] - row.sum - row.normal[j] * row.product),
                // The numbers go up to 2, and the sums are bounded as above.
                (32 + static_cast<double>(columns) / 32) * kFloatRounding * 8};
      });
      expect_close(results[1], dtype, [&](std::int64_t i) -> Expected {
        const std::int64_t r = i / columns;
        const double result = value(dy, i) * (value(x, i) - value(mean, r)) * value(rstd, r);
        return {result, 8 * kFloatRounding};
      });
      EXPECT_TRUE(same_bits(results[2], dy.values)) << "beta's component is dy";
      const auto in_place = run(LayernormBackwardAttributes{}, {x, gamma, mean, rstd, dy},
                                {x.spec, x.spec, x.spec}, {4, 0});
      EXPECT_TRUE(same_bits(in_place[0], results[0]));
      EXPECT_TRUE(same_bits(in_place[1], results[1]));
    }
  }
}

TEST(HostRows, OperandsThatDoNotFitAreErrors) {
  HostDevice device;
  const Given x = random({4, 6}, DataType::float32, 1);
  const Given narrow = random({4, 6}, DataType::bfloat16, 1);
  const Given row = random({6}, DataType::float32, 1);
  const Given short_row = random({5}, DataType::float32, 1);
  const TensorSpec statistic{{4, 1}, DataType::float32};
  EXPECT_THROW(run_on(device, SoftmaxAttributes{}, {x}, {narrow.spec}), Error);
  EXPECT_THROW(run_on(device, SoftmaxAttributes{}, {x}, {row.spec}), Error);
  EXPECT_THROW(run_on(device, SoftmaxBackwardAttributes{}, {x, row}, {x.spec}), Error);
  EXPECT_THROW(run_on(device, LayernormAttributes{}, {x, row}, {x.spec}), Error);
  EXPECT_THROW(run_on(device, TtmlLayernormAttributes{}, {x, row, short_row},
                      {x.spec, statistic, statistic}),
               Error);
  EXPECT_THROW(
      run_on(device, TtmlLayernormAttributes{}, {x, row, row}, {x.spec, row.spec, statistic}),
      Error);
  EXPECT_THROW(run_on(device, LayernormBackwardAttributes{}, {x, row, row, row, x},
                      {x.spec, x.spec, x.spec}),
               Error);
  EXPECT_THROW(run_on(device, LayernormBackwardAttributes{},
                      {x, row, {statistic, Values(4)}, {statistic, Values(4)}, x},
                      {x.spec, x.spec, x.spec}, {0, 0}),
               Error)
      << "two results in one place";
}

}  // namespace
}  // namespace howard::host
