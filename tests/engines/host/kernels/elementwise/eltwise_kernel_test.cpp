// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>

#include "base/error.h"
#include "tests/engines/host/host_calls.h"

namespace howard::host {
namespace {

double normal_below(double x) { return 0.5 * std::erfc(-x / std::sqrt(2.0)); }

double gelu_slope(double x) {
  return normal_below(x) + x * std::exp(-x * x / 2) / std::sqrt(2 * std::acos(-1.0));
}

struct Function {
  Eltwise function;
  double (*reference)(double);
  double error;  ///< The relative error of the kernel in float32.
  float low, high;
};

const std::array kUnary{
    Function{Eltwise::relu, [](double x) { return std::max(x, 0.0); }, 0, -2, 2},
    Function{Eltwise::gtz, [](double x) { return x > 0 ? 1.0 : 0.0; }, 0, -2, 2},
    Function{Eltwise::square, [](double x) { return x * x; }, 0, -9, 9},
    Function{Eltwise::exp, [](double x) { return std::exp(x); }, 2e-7, -80, 80},
    Function{Eltwise::erf, [](double x) { return std::erf(x); }, 4e-7, -5, 5},
    Function{Eltwise::gelu, [](double x) { return x * normal_below(x); }, 1e-6, -12, 6},
    Function{Eltwise::sqrt, [](double x) { return std::sqrt(x); }, 0, 0, 50},
    Function{Eltwise::rsqrt, [](double x) { return 1 / std::sqrt(x); }, 2e-7, 0.1F, 50},
    Function{Eltwise::reciprocal, [](double x) { return 1 / x; }, 0, 0.1F, 50},
    Function{Eltwise::cast, [](double x) { return x; }, 0, -50, 50}};

/// The shapes have one element, less and more than a vector, and enough for several threads.
const std::array kShapes{Shape{1}, Shape{3, 5}, Shape{33, 31}, Shape{2, 3, 65, 257}};

TEST(HostEltwise, FunctionsOfOneValueAreThoseOfFloat64) {
  for (const Function& f : kUnary) {
    for (const DataType dtype : kRealTypes) {
      for (const Shape& shape : kShapes) {
        SCOPED_TRACE(std::string(name_of(f.function)) + " " + shape.text());
        const Given x = random(shape, dtype, 1, f.low, f.high);
        const EltwiseAttributes attributes{.function = f.function, .scalar = {}};
        const Values out = run(attributes, {x}, {x.spec})[0];
        expect_close(out, dtype, [&](std::int64_t i) -> Expected {
          const double value = f.reference(static_cast<double>(x.values[at(i)]));
          return {value, f.error * std::abs(value)};
        });
        EXPECT_TRUE(same_bits(run(attributes, {x}, {x.spec}, {0})[0], out)) << "in place";
      }
    }
  }
}

TEST(HostEltwise, CastsRoundToNearestEven) {
  // These are halfway between two bfloat16 numbers: 1 + 2^-8 rounds to the even 1, and 1 + 3 * 2^-8
  // to 1 + 2^-6.
  const Given x{{{1, 4}, DataType::float32}, {1.00390625F, 1.01171875F, -1.00390625F, 3.0F}};
  const TensorSpec narrow{{1, 4}, DataType::bfloat16};
  const EltwiseAttributes cast{.function = Eltwise::cast, .scalar = {}};
  const Values out = run(cast, {x}, {narrow})[0];
  EXPECT_EQ(out, (Values{1.0F, 1.015625F, -1.0F, 3.0F}));
  EXPECT_EQ(run(cast, {{narrow, out}}, {x.spec})[0], out);
}

TEST(HostEltwise, SpecialValuesPassAsInFloat64) {
  const float infinity = std::numeric_limits<float>::infinity();
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const Given x{{{1, 5}, DataType::float32}, {infinity, -infinity, nan, 1000.0F, -1000.0F}};
  const auto apply = [&](Eltwise function) {
    return run(EltwiseAttributes{.function = function, .scalar = {}}, {x}, {x.spec})[0];
  };
  const Values exp = apply(Eltwise::exp);
  EXPECT_EQ(exp[0], infinity);
  EXPECT_EQ(exp[1], 0);
  EXPECT_TRUE(std::isnan(exp[2]));
  EXPECT_EQ(exp[3], infinity);
  EXPECT_EQ(exp[4], 0);
  const Values gelu = apply(Eltwise::gelu);
  EXPECT_EQ(gelu[0], infinity);
  EXPECT_EQ(gelu[1], 0);
  EXPECT_TRUE(std::isnan(gelu[2]));
  EXPECT_EQ(gelu[3], 1000);
  EXPECT_EQ(gelu[4], 0);
  const Values erf = apply(Eltwise::erf);
  EXPECT_EQ(erf[0], 1);
  EXPECT_EQ(erf[1], -1);
  EXPECT_TRUE(std::isnan(erf[2]));
  EXPECT_TRUE(std::isnan(apply(Eltwise::relu)[2]));
}

double combine(Eltwise function, double x, double y) {
  if (function == Eltwise::add) return x + y;
  return function == Eltwise::subtract ? x - y : x * y;
}

/// Returns the element of `shape` that belongs to element i of `out`.
std::int64_t source(std::int64_t i, const Shape& out, const Shape& shape) {
  const std::int64_t column = i % out.columns();
  const std::int64_t row = i / out.columns() % out.rows();
  const std::int64_t head = i / out.columns() / out.rows() % out.heads();
  const std::int64_t batch = i / out.columns() / out.rows() / out.heads();
  const auto in = [](std::int64_t position, std::int64_t size) { return size == 1 ? 0 : position; };
  return ((in(batch, shape.outer()) * shape.heads() + in(head, shape.heads())) * shape.rows() +
          in(row, shape.rows())) *
             shape.columns() +
         in(column, shape.columns());
}

TEST(HostEltwise, TwoTensorsBroadcastAlongAnyDimension) {
  struct Pair {
    Shape a, b;
  };
  const std::array pairs{Pair{{33, 31}, {33, 31}},
                         Pair{{33, 31}, {31}},
                         Pair{{33, 31}, {33, 1}},
                         Pair{{1, 31}, {33, 1}},
                         Pair{{2, 3, 5, 7}, {2, 1, 5, 1}},
                         Pair{{2, 3, 5, 7}, {3, 1, 7}},
                         Pair{{1, 3, 1, 7}, {2, 1, 5, 1}},
                         Pair{{1}, {2, 3, 5, 7}},
                         Pair{{2, 3, 5, 7}, {1}},
                         Pair{{2, 1, 1, 1}, {1, 3, 5, 7}},
                         Pair{{300, 257}, {257}},
                         Pair{{300, 257}, {300, 1}},
                         Pair{{4, 130, 129}, {1, 130, 129}},
                         Pair{{70000, 1}, {70000, 1}},
                         Pair{{1, 70000}, {1}}};
  for (const auto& [left, right] : pairs) {
    for (const DataType a_type : kRealTypes) {
      for (const DataType b_type : kRealTypes) {
        const Given a = random(left, a_type, 1);
        const Given b = random(right, b_type, 2);
        const Shape shape = *Shape::broadcast(left, right);
        const bool wide = a_type == DataType::float32 || b_type == DataType::float32;
        const TensorSpec out{shape, wide ? DataType::float32 : DataType::bfloat16};
        for (const Eltwise function : {Eltwise::add, Eltwise::subtract, Eltwise::multiply}) {
          SCOPED_TRACE(left.text() + " " + right.text() + " " + std::string(name_of(function)));
          const EltwiseAttributes attributes{.function = function, .scalar = {}};
          const Values actual = run(attributes, {a, b}, {out})[0];
          expect_close(actual, out.dtype, [&](std::int64_t i) -> Expected {
            const double value =
                combine(function, static_cast<double>(a.values[at(source(i, shape, left))]),
                        static_cast<double>(b.values[at(source(i, shape, right))]));
            return {value, kFloatRounding * std::abs(value)};
          });
          if (a.spec == out) {
            EXPECT_TRUE(same_bits(run(attributes, {a, b}, {out}, {0})[0], actual)) << "in place";
          }
          if (b.spec == out) {
            EXPECT_TRUE(same_bits(run(attributes, {a, b}, {out}, {1})[0], actual)) << "in place";
          }
        }
      }
    }
  }
}

TEST(HostEltwise, AScalarIsTakenInFloat32) {
  for (const DataType dtype : kRealTypes) {
    const Given x = random({3, 50, 257}, dtype, 1);
    for (const Eltwise function : {Eltwise::add, Eltwise::subtract, Eltwise::multiply}) {
      const EltwiseAttributes attributes{.function = function, .scalar = 0.1F};
      expect_close(run(attributes, {x}, {x.spec}, {0})[0], dtype, [&](std::int64_t i) -> Expected {
        const double value = combine(function, static_cast<double>(x.values[at(i)]), double{0.1F});
        return {value, kFloatRounding * std::abs(value)};
      });
    }
    const Values filled =
        run(EltwiseAttributes{.function = Eltwise::fill, .scalar = 2.5F}, {}, {x.spec})[0];
    EXPECT_EQ(filled, Values(x.values.size(), 2.5F));
  }
}

TEST(HostEltwise, GeluBackwardIsTheDerivativeTimesTheGradient) {
  for (const DataType dtype : kRealTypes) {
    for (const Shape& shape : kShapes) {
      const Given x = random(shape, dtype, 1, -9, 9);
      const Given dy = random(shape, dtype, 2);
      const Values dx = run(GeluBackwardAttributes{}, {x, dy}, {x.spec})[0];
      expect_close(dx, dtype, [&](std::int64_t i) -> Expected {
        const auto at_x = static_cast<double>(x.values[at(i)]);
        const auto gradient = static_cast<double>(dy.values[at(i)]);
        const double terms = normal_below(at_x) + std::abs(gelu_slope(at_x) - normal_below(at_x));
        return {gradient * gelu_slope(at_x), 1e-6 * std::abs(gradient) * terms};
      });
      EXPECT_TRUE(same_bits(run(GeluBackwardAttributes{}, {x, dy}, {x.spec}, {1})[0], dx));
    }
  }
}

TEST(HostEltwise, OperandsThatDoNotFitAreErrors) {
  HostDevice device;
  const Given x = random({4, 6}, DataType::float32, 1);
  const Given narrow = random({4, 6}, DataType::bfloat16, 1);
  const Given other = random({4, 5}, DataType::float32, 1);
  const Given indices = random_indices({4, 6}, 3, 1);
  const EltwiseAttributes add{.function = Eltwise::add, .scalar = {}};
  const EltwiseAttributes relu{.function = Eltwise::relu, .scalar = {}};
  EXPECT_THROW(run_on(device, add, {x, other}, {x.spec}), Error) << "shapes";
  EXPECT_THROW(run_on(device, add, {x, x}, {other.spec}), Error) << "the result's shape";
  EXPECT_THROW(run_on(device, add, {x, narrow}, {narrow.spec}), Error) << "the result's type";
  EXPECT_THROW(run_on(device, add, {x}, {x.spec}), Error) << "one operand";
  EXPECT_THROW(run_on(device, relu, {x, x}, {x.spec}), Error) << "two operands";
  EXPECT_THROW(run_on(device, relu, {x}, {narrow.spec}), Error) << "another type";
  EXPECT_THROW(run_on(device, relu, {indices}, {indices.spec}), Error) << "indices";
  EXPECT_THROW(run_on(device, GeluBackwardAttributes{}, {x, other}, {x.spec}), Error);
}

}  // namespace
}  // namespace howard::host
