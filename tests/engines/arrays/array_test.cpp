// SPDX-License-Identifier: Apache-2.0
#include "engines/arrays/array.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <vector>

#include "base/error.h"

namespace howard::arrays {
namespace {

Array counted(const Dims& shape, bool whole = false) {
  Array made(shape, whole);
  for (std::size_t i = 0; i < made.words().size(); ++i) made.set(i, static_cast<double>(i));
  return made;
}

std::vector<double> numbers(const Array& array) {
  std::vector<double> result;
  for (std::size_t i = 0; i < array.words().size(); ++i) result.push_back(array.at(i));
  return result;
}

Array one(double value) {
  Array made({1}, false);
  made.set(0, value);
  return made;
}

TEST(Arrays, EveryNamedFunctionComputes) {
  const std::vector<double> parameters(3, 0.5);
  for (const std::string& name : function_names()) {
    const Array made =
        is_unary(name) ? unary(name, one(0.25), parameters) : binary(name, one(0.25), one(0.5));
    EXPECT_EQ(made.size(), 1) << name;
    EXPECT_FALSE(std::isnan(made.at(0)) && name != "acosh") << name;
  }
  EXPECT_THROW(unary("nonsense", one(1), {}), Error);
  EXPECT_THROW(binary("nonsense", one(1), one(1)), Error);
  EXPECT_THROW(unary("leaky_relu", one(1), {}), Error);
}

TEST(Arrays, SpecialFunctionsHaveTheirKnownValues) {
  const auto value = [](const char* name, double x, std::vector<double> p = {}) {
    return unary(name, one(x), p).at(0);
  };
  EXPECT_NEAR(value("digamma", 1), -0.5772156649, 1e-6);
  EXPECT_NEAR(value("polygamma", 1, {1}), 1.6449340668, 1e-6);  // pi^2 / 6
  EXPECT_NEAR(value("i0", 1), 1.2660658778, 1e-6);
  EXPECT_NEAR(value("i1", 1), 0.5651591040, 1e-6);
  EXPECT_NEAR(value("erfinv", 0.5), 0.4769362762, 1e-6);
  EXPECT_NEAR(value("gelu", 1), 0.8413447461, 1e-6);
  EXPECT_NEAR(value("selu", -1), -1.1113307, 1e-6);
  EXPECT_NEAR(value("mish", 1), 0.8650983883, 1e-6);
}

TEST(Arrays, OperandsAreBroadcast) {
  const Array sum = binary("add", counted({2, 3}), counted({3}));
  EXPECT_EQ(numbers(sum), (std::vector<double>{0, 2, 4, 3, 5, 7}));
  EXPECT_EQ(broadcast({4, 1, 3}, {2, 1}), (Dims{4, 2, 3}));
  EXPECT_THROW(broadcast({2, 3}, {4}), Error);
}

TEST(Arrays, WholeNumbersStayExact) {
  Array large({1}, true);
  large.set(0, 16777217);
  EXPECT_EQ(binary("add", large, large).at(0), 33554434);
  large.set(0, std::nan(""));
  EXPECT_EQ(large.at(0), 0);
  large.set(0, 1e300);
  EXPECT_EQ(binary("gcd", large, large).size(), 1);
}

TEST(Arrays, TypesRound) {
  EXPECT_EQ(rounded(one(1.005), "bfloat16").at(0), 1.0078125);
  Array row({4}, false);
  const std::vector<double> given{100, 0.3, 1, -127.4};
  for (std::size_t i = 0; i < given.size(); ++i) row.set(i, given[i]);
  EXPECT_EQ(numbers(rounded(row, "bfloat8_b")), (std::vector<double>{100, 0, 1, -127}));
  EXPECT_EQ(numbers(rounded(row, "bfloat4_b")), (std::vector<double>{96, 0, 0, -112}));
  EXPECT_EQ(numbers(rounded(row, "uint8")), (std::vector<double>{100, 0, 1, 129}));
  EXPECT_THROW(rounded(row, "float12"), Error);
}

TEST(Arrays, ReductionsWorkAlongAnyDimensions) {
  const Array cube = counted({2, 3, 4});
  EXPECT_EQ(numbers(reduce("sum", cube, {0, 2}, false)), (std::vector<double>{60, 92, 124}));
  EXPECT_EQ(reduce("max", cube, {1}, true).shape(), (Dims{2, 1, 4}));
  EXPECT_EQ(numbers(reduce("mean", counted({4}), {0}, false)), std::vector<double>{1.5});
  EXPECT_NEAR(reduce("var", counted({4}), {0}, false).at(0), 5.0 / 3, 1e-6);
  EXPECT_NEAR(reduce("var0", counted({4}), {0}, false).at(0), 5.0 / 4, 1e-6);
  EXPECT_THROW(reduce("sum", cube, {3}, false), Error);
  EXPECT_THROW(reduce("nonsense", cube, {0}, false), Error);
}

TEST(Arrays, RowsAreNormalised) {
  const Array even = softmax(counted({2, 4}), -1);
  EXPECT_NEAR(std::accumulate(even.words().begin(), even.words().begin() + 4, 0.0), 1, 1e-6);
  const Array normal = normalized(counted({1, 4}), 0, false);
  EXPECT_NEAR(normal.at(0), -1.5 / std::sqrt(1.25), 1e-6);
  EXPECT_NEAR(normalized(counted({1, 2}), 0, true).at(1), 1 / std::sqrt(0.5), 1e-6);
}

TEST(Arrays, ThingsMove) {
  const Array matrix = counted({2, 3});
  EXPECT_EQ(numbers(permuted(matrix, {1, 0})), (std::vector<double>{0, 3, 1, 4, 2, 5}));
  EXPECT_EQ(numbers(sliced(matrix, {0, 1}, {2, 3}, {1, 1})), (std::vector<double>{1, 2, 4, 5}));
  const std::vector<Array> twice{matrix, matrix};
  EXPECT_EQ(numbers(concatenated(twice, 1)),
            (std::vector<double>{0, 1, 2, 0, 1, 2, 3, 4, 5, 3, 4, 5}));
  EXPECT_EQ(numbers(padded(counted({1, 2}), {0, 1}, {0, 1}, 9)), (std::vector<double>{9, 0, 1, 9}));
  EXPECT_EQ(numbers(rows_of(matrix, counted({2}, true))), numbers(matrix));
  const auto [values, places] = sort(counted({3}), 0, true);
  EXPECT_EQ(numbers(values), (std::vector<double>{2, 1, 0}));
  EXPECT_EQ(numbers(places), (std::vector<double>{2, 1, 0}));
  EXPECT_EQ(argmax(matrix, 1, false).at(1), 2);
  EXPECT_EQ(numbers(cumulative("cumsum", counted({4}), 0)), (std::vector<double>{0, 1, 3, 6}));
}

TEST(Arrays, WhatDoesNotFitIsRefused) {
  const Array matrix = counted({2, 3});
  EXPECT_THROW(permuted(matrix, {0, 0}), Error);
  EXPECT_THROW(sliced(matrix, {0, 0}, {3, 3}, {1, 1}), Error);
  EXPECT_THROW(sliced(matrix, {0, 0}, {2, 3}, {1, 0}), Error);
  EXPECT_THROW(concatenated(std::vector<Array>{}, 0), Error);
  EXPECT_THROW(concatenated(std::vector<Array>{matrix, counted({3, 3})}, 1), Error);
  EXPECT_THROW(padded(matrix, {-1, 0}, {0, 0}, 0), Error);
  EXPECT_THROW(rows_of(counted({1, 3}), counted({4}, true)), Error);
  EXPECT_THROW(gathered(matrix, 0, counted({2, 3}, true)), Error);
  EXPECT_THROW(static_cast<void>(matrix.reshaped({7})), Error);
  EXPECT_THROW(Array({1 << 30, 1 << 30}, false), Error);
  EXPECT_THROW(Array({-1}, false), Error);
}

}  // namespace
}  // namespace howard::arrays
