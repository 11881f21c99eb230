// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"
#include "engines/program/eltwise_value.h"
#include "tests/engines/host/host_calls.h"

namespace howard::host {
namespace {

/// Arguments that are good for every function.
Given arguments(const Shape& shape, DataType dtype, std::uint64_t seed) {
  return random(shape, dtype, seed, 0.05F, 0.95F);
}

EltwiseAttributes plain(Eltwise function) {
  return {.function = function, .scalar = {}, .numbers = entry_of(function).defaults};
}

double exact(const EltwiseAttributes& attributes, double x, double y, double z) {
  return eltwise_function<double>(attributes.function)(
      {x, y, z, double{attributes.numbers[0]}, double{attributes.numbers[1]}});
}

/// Whether a rounding of its values may change the result by more than a rounding.
bool jumps(Eltwise function) {
  return function == Eltwise::remainder || function == Eltwise::fmod ||
         function == Eltwise::floor_div || function == Eltwise::trunc_div;
}

TEST(HostEltwiseBlocks, EveryFunctionOfTheCatalogueRuns) {
  for (const EltwiseEntry& entry : eltwise_catalogue()) {
    if (entry.values == 0 || entry.function == Eltwise::cast || jumps(entry.function)) continue;
    for (const DataType dtype : kRealTypes) {
      SCOPED_TRACE(entry.name);
      std::vector<Given> values;
      for (int i = 0; i < entry.values; ++i) {
        values.push_back(arguments({3, 700}, dtype, static_cast<std::uint64_t>(i) + 1));
      }
      // acosh is not defined below 1, and multigammaln of order 4 has its poles up to 1.5.
      if (entry.function == Eltwise::acosh || entry.function == Eltwise::multigammaln) {
        values[0] = random({3, 700}, dtype, 1, 1.75F, 9);
      }
      const EltwiseAttributes attributes = plain(entry.function);
      const Values out = run(attributes, values, {values[0].spec})[0];
      const auto value = [&](std::size_t operand, std::int64_t i) {
        return operand < values.size() ? static_cast<double>(values[operand].values[at(i)]) : 0.0;
      };
      expect_close(out, dtype, [&](std::int64_t i) -> Expected {
        const double expected = exact(attributes, value(0, i), value(1, i), value(2, i));
        return {expected, 4e-6 * std::max(1.0, std::abs(expected))};
      });
      EXPECT_TRUE(same_bits(run(attributes, values, {values[0].spec}, {0})[0], out)) << "in place";
    }
  }
}

TEST(HostEltwiseBlocks, ThreeTensorsBroadcast) {
  const Given condition{{{2, 1}, DataType::float32}, {1, 0}};
  const Given row{{{1, 3}, DataType::float32}, {10, 20, 30}};
  const Given all{{{2, 3}, DataType::bfloat16}, {1, 2, 3, 4, 5, 6}};
  const TensorSpec out{{2, 3}, DataType::float32};
  EXPECT_EQ(run(plain(Eltwise::where), {condition, row, all}, {out})[0],
            (Values{10, 20, 30, 4, 5, 6}));
}

TEST(HostEltwiseBlocks, TheLastValueMayBeAScalar) {
  const Given x{{{1, 3}, DataType::float32}, {1, 0, 1}};
  const Given y{{{1, 3}, DataType::float32}, {5, 6, 7}};
  EltwiseAttributes where = plain(Eltwise::where);
  where.scalar = -1.0F;
  EXPECT_EQ(run(where, {x, y}, {x.spec})[0], (Values{5, -1, 7}));
  EltwiseAttributes less = plain(Eltwise::lt);
  less.scalar = 6.0F;
  EXPECT_EQ(run(less, {y}, {y.spec})[0], (Values{1, 0, 0}));
}

TEST(HostEltwiseBlocks, FunctionsFollowInOneKernelWithoutRoundingBetween) {
  const Given x{{{1, 3}, DataType::bfloat16}, {-3, 1, 2}};
  const Given y{{{1, 3}, DataType::bfloat16}, {1, 0.00390625F, 1}};
  EltwiseAttributes chain = plain(Eltwise::add);
  chain.then = {step_of(Eltwise::relu), {Eltwise::clamp, {0, 2}}};
  EXPECT_EQ(run(chain, {x, y}, {x.spec})[0], (Values{0, 1, 2}));
  // 1 + 2^-8 is no bfloat16, but its distance from 1 is.
  chain.then = {{Eltwise::frac, {}}};
  EXPECT_EQ(run(chain, {x, y}, {x.spec})[0], (Values{0, 0.00390625F, 0}));
}

TEST(HostEltwiseBlocks, OperandsGoThroughFunctionsOfTheirOwnBefore) {
  const Given x{{{2, 3}, DataType::bfloat16}, {-3, 1, 2, 4, -5, 6}};
  const Given row{{{1, 3}, DataType::bfloat16}, {-1, 2, -3}};
  EltwiseAttributes sum = plain(Eltwise::add);
  sum.on_a = {step_of(Eltwise::relu), step_of(Eltwise::square)};
  sum.on_b = {step_of(Eltwise::abs)};
  EXPECT_EQ(run(sum, {x, row}, {x.spec})[0], (Values{1, 3, 7, 17, 2, 39}));
}

TEST(HostEltwiseBlocks, WhatDoesNotFitIsRefused) {
  HostDevice device;
  const Given x{{{2, 3}, DataType::float32}, Values(6)};
  const Given other{{{3, 2}, DataType::float32}, Values(6)};
  const auto refused = [&](const EltwiseAttributes& attributes, const std::vector<Given>& in) {
    EXPECT_THROW(run_on(device, attributes, in, {x.spec}), Error);
  };
  refused(plain(Eltwise::where), {x, x});
  refused(plain(Eltwise::where), {x, x, other});
  refused(plain(Eltwise::tanh), {other});
  refused(plain(Eltwise::divide), {x});
}

}  // namespace
}  // namespace howard::host
