// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "base/error.h"
#include "tests/engines/host/host_calls.h"

namespace howard::host {
namespace {

Shape reduced(const Shape& shape, Dimension dimension) {
  switch (dimension) {
    case Dimension::columns:
      return shape.with_columns(1);
    case Dimension::rows:
      return shape.with_rows(1);
    case Dimension::batch:
      return {shape.rows(), shape.columns()};
    case Dimension::all:
      break;
  }
  return {1};
}

/// Returns the element of the result into which element i of `shape` goes.
std::int64_t target(std::int64_t i, const Shape& shape, Dimension dimension) {
  const std::int64_t matrix = shape.rows() * shape.columns();
  switch (dimension) {
    case Dimension::columns:
      return i / shape.columns();
    case Dimension::rows:
      return i / matrix * shape.columns() + i % shape.columns();
    case Dimension::batch:
      return i % matrix;
    case Dimension::all:
      break;
  }
  return 0;
}

struct Reference {
  double sum = 0;
  double magnitude = 0;
  double largest = -std::numeric_limits<double>::infinity();
  std::int64_t terms = 0;
};

std::vector<Reference> reference(const Given& x, Dimension dimension) {
  std::vector<Reference> results(at(reduced(x.spec.shape, dimension).elements()));
  for (std::int64_t i = 0; i < size_of(x.values); ++i) {
    const auto value = static_cast<double>(x.values[at(i)]);
    Reference& result = results[at(target(i, x.spec.shape, dimension))];
    result.sum += value;
    result.magnitude += std::abs(value);
    result.largest = std::max(result.largest, value);
    ++result.terms;
  }
  return results;
}

/// No sum here has a chain of more additions: along a row there are 8192 / 32 in a lane, 5 of the
/// lanes and 2^18 / 8192 of pieces; down the rows there are 128 and 3000 / 128.
constexpr double kChain = 300;

const std::array kShapes{Shape{1},           Shape{7},           Shape{33, 31},
                         Shape{2, 3, 5, 70}, Shape{3, 300, 257}, Shape{3000, 40},
                         Shape{1, 70001},    Shape{200, 3, 40},  Shape{130, 2, 300}};

TEST(HostReduce, SumsMeansAndMaximaAreThoseOfFloat64) {
  for (const DataType dtype : kRealTypes) {
    for (const Shape& shape : kShapes) {
      const Given x = random(shape, dtype, 1, -1, 2);
      for (const Dimension dimension :
           {Dimension::columns, Dimension::rows, Dimension::batch, Dimension::all}) {
        SCOPED_TRACE(shape.text() + " along " + std::to_string(static_cast<int>(dimension)));
        const std::vector<Reference> results = reference(x, dimension);
        const TensorSpec out{reduced(shape, dimension), dtype};
        const auto apply = [&](Reduction reduction) {
          return run(ReduceAttributes{.reduction = reduction, .dimension = dimension}, {x},
                     {out})[0];
        };
        expect_close(apply(Reduction::sum), dtype, [&](std::int64_t i) -> Expected {
          const Reference& r = results[at(i)];
          return {r.sum,
                  std::min(kChain, static_cast<double>(r.terms)) * kFloatRounding * r.magnitude};
        });
        expect_close(apply(Reduction::mean), dtype, [&](std::int64_t i) -> Expected {
          const Reference& r = results[at(i)];
          const auto terms = static_cast<double>(r.terms);
          return {r.sum / terms,
                  (std::min(kChain, terms) + 1) * kFloatRounding * r.magnitude / terms};
        });
        expect_close(apply(Reduction::max), dtype, [&](std::int64_t i) -> Expected {
          return {results[at(i)].largest, 0};
        });
      }
    }
  }
}

TEST(HostReduce, ALongSumKeepsItsSmallTerms) {
  // If 2^20 times 0.1 are added one after the other in float32, the sum is off by 1 %.
  const Given column{{{1 << 20, 2}, DataType::float32}, Values(std::size_t{2} << 20, 0.1F)};
  const double exact = static_cast<double>(0.1F) * (1 << 20);
  const Values sums = run(ReduceAttributes{.dimension = Dimension::rows}, {column},
                          {{{1, 2}, DataType::float32}})[0];
  for (const float sum : sums) EXPECT_NEAR(sum, exact, exact * 1e-4);
  const Values all =
      run(ReduceAttributes{.dimension = Dimension::all}, {column}, {{{1}, DataType::float32}})[0];
  EXPECT_NEAR(all[0], 2 * exact, 2 * exact * 1e-5);
}

TEST(HostReduce, ANanComesThrough) {
  Given x = random({5, 100}, DataType::float32, 1);
  x.values[120] = std::numeric_limits<float>::quiet_NaN();
  for (const Reduction reduction : {Reduction::sum, Reduction::mean, Reduction::max}) {
    const Values out =
        run(ReduceAttributes{.reduction = reduction, .dimension = Dimension::columns}, {x},
            {{{5, 1}, DataType::float32}})[0];
    EXPECT_TRUE(std::isnan(out[1])) << name_of(reduction);
    EXPECT_FALSE(std::isnan(out[0])) << name_of(reduction);
  }
}

TEST(HostReduce, OperandsThatDoNotFitAreErrors) {
  HostDevice device;
  const Given x = random({4, 6}, DataType::float32, 1);
  const ReduceAttributes rows{.dimension = Dimension::rows};
  EXPECT_THROW(run_on(device, rows, {x}, {{{4, 1}, DataType::float32}}), Error) << "shape";
  EXPECT_THROW(run_on(device, rows, {x}, {{{1, 6}, DataType::uint32}}), Error) << "type";
  EXPECT_THROW(run_on(device, rows, {x, x}, {{{1, 6}, DataType::float32}}), Error);
  const Given row = random({1, 6}, DataType::float32, 1);
  EXPECT_THROW(run_on(device, rows, {row}, {row.spec}, {0}), Error) << "in place";
}

}  // namespace
}  // namespace howard::host
