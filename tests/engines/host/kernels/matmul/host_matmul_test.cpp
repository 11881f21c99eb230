// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <iterator>
#include <string>

#include "base/error.h"
#include "engines/host/host_device.h"
#include "tests/engines/host/host_calls.h"

namespace howard::host {
namespace {

struct Problem {
  std::int64_t batch, m, k, n;
  DataType dtype;
};

std::string name(const ::testing::TestParamInfo<Problem>& info) {
  const Problem& p = info.param;
  return "b" + std::to_string(p.batch) + "_" + std::to_string(p.m) + "x" + std::to_string(p.k) +
         "x" + std::to_string(p.n) + "_" + std::string(name_of(p.dtype));
}

Values multiply_on(HostDevice& device, const Problem& p, const Values& a, const Values& b) {
  const Operand left = put(device, {{p.batch, p.m, p.k}, p.dtype}, a);
  const Operand right = put(device, {{p.k, p.n}, p.dtype}, b);
  const TensorSpec spec{{p.batch, p.m, p.n}, p.dtype};
  const Operand out{device.allocate(spec), spec};
  device.command_queue(0).enqueue(product(left, right, out));
  return get(device, out);
}

class HostMatmul : public ::testing::TestWithParam<Problem> {
 protected:
  Values a() const {
    return random_values(GetParam().batch * GetParam().m * GetParam().k, GetParam().dtype, 1);
  }
  Values b() const { return random_values(GetParam().k * GetParam().n, GetParam().dtype, 2); }
};

TEST(HostProducts, AnActivationIsAppliedToTheResult) {
  HostDevice device;
  const TensorSpec spec{{2, 2}, DataType::float32};
  const Operand a = put(device, spec, {1, 2, 3, -4});
  const Operand b = put(device, spec, {-1, 0, 0, 1});
  const Operand out{device.allocate(spec), spec};
  Program program = product(a, b, out);
  program.attributes = MatmulAttributes{.activation = step_of(Eltwise::relu)};
  device.command_queue(0).enqueue(program);
  EXPECT_EQ(get(device, out), (Values{0, 2, 0, 0}));
  program.attributes = MinimalMatmulAttributes{.activation = step_of(Eltwise::square)};
  device.command_queue(0).enqueue(program);
  EXPECT_EQ(get(device, out), (Values{1, 4, 9, 16}));
}

TEST_P(HostMatmul, EqualsTheProductInFloat64) {
  const Problem& p = GetParam();
  HostDevice device;
  const Values left = a();
  const Values right = b();
  const Values actual = multiply_on(device, p, left, right);
  for (std::int64_t row = 0; row < p.batch * p.m; ++row) {
    for (std::int64_t column = 0; column < p.n; ++column) {
      double sum = 0;
      double magnitude = 0;
      for (std::int64_t i = 0; i < p.k; ++i) {
        const double term = static_cast<double>(left[at(row * p.k + i)]) *
                            static_cast<double>(right[at(i * p.n + column)]);
        sum += term;
        magnitude += std::abs(term);
      }
      // Sums in float32 may have any order, so there are at most k roundings of half an ulp of what
      // was summed, and half an ulp of the result if it is rounded to bfloat16.
      const double accumulation = static_cast<double>(p.k + 1) * 0x1p-24 * magnitude;
      const double rounding = p.dtype == DataType::bfloat16 ? 0x1p-8 * std::abs(sum) : 0;
      ASSERT_NEAR(actual[at(row * p.n + column)], sum, accumulation * 1.01 + rounding * 1.01)
          << "row " << row << ", column " << column;
    }
  }
}

TEST_P(HostMatmul, GivesTheSameBitsAgainAndOnOneThread) {
  const Problem& p = GetParam();
  HostDevice device;
  const Values once = multiply_on(device, p, a(), b());
  EXPECT_EQ(multiply_on(device, p, a(), b()), once);
  HostDevice single({.threads = 1});
  HostDevice again({.threads = 1});
  EXPECT_EQ(multiply_on(single, p, a(), b()), multiply_on(again, p, a(), b()));
}

TEST(HostMatmulSizes, ALargeProductBetweenLeavesASmallOneAsItWas) {
  HostDevice device;
  const auto square = [&](std::int64_t size) {
    return multiply_on(device, {1, size, size, size, DataType::bfloat16},
                       random_values(size * size, DataType::bfloat16, 1),
                       random_values(size * size, DataType::bfloat16, 2));
  };
  const Values before = square(40);
  square(700);
  EXPECT_EQ(square(40), before);
}

/// Describes a product with its operands as they are stored.
struct Form {
  std::int64_t a_batch, b_batch, m, k, n;
  bool transpose_a, transpose_b, bias;
};

/// Returns row r and column c of matrix `matrix` of a tensor that is stored as it is or transposed.
double element(const Given& given, bool transposed, std::int64_t matrix, std::int64_t r,
               std::int64_t c) {
  const Shape& shape = given.spec.shape;
  const std::int64_t own = shape.batch() == 1 ? 0 : matrix;
  const std::int64_t row = transposed ? c : r;
  const std::int64_t column = transposed ? r : c;
  return double{given.values[at((own * shape.rows() + row) * shape.columns() + column)]};
}

void expect_product(const Form& f, DataType dtype, DataType result) {
  const std::int64_t batch = std::max(f.a_batch, f.b_batch);
  const Given a =
      random(f.transpose_a ? Shape{f.a_batch, f.k, f.m} : Shape{f.a_batch, f.m, f.k}, dtype, 1);
  const Given b =
      random(f.transpose_b ? Shape{f.b_batch, f.n, f.k} : Shape{f.b_batch, f.k, f.n}, dtype, 2);
  const Given bias = random({f.n}, dtype, 3);
  std::vector<Given> inputs{a, b};
  if (f.bias) inputs.push_back(bias);
  const MatmulAttributes attributes{.transpose_a = f.transpose_a, .transpose_b = f.transpose_b};
  for (const int threads : {0, 1}) {
    HostDevice device({.threads = threads});
    const Values c = run_on(device, attributes, inputs, {{{batch, f.m, f.n}, result}})[0];
    expect_close(c, result, [&](std::int64_t i) -> Expected {
      const std::int64_t row = i / f.n % f.m;
      const std::int64_t column = i % f.n;
      double sum = f.bias ? double{bias.values[at(column)]} : 0;
      double magnitude = std::abs(sum);
      for (std::int64_t j = 0; j < f.k; ++j) {
        const double term = element(a, f.transpose_a, i / f.n / f.m, row, j) *
                            element(b, f.transpose_b, i / f.n / f.m, j, column);
        sum += term;
        magnitude += std::abs(term);
      }
      return {sum, static_cast<double>(f.k + 1) * kFloatRounding * magnitude};
    });
  }
}

TEST(HostMatmulForms, EveryTranspositionBatchAndBiasIsTheProductInFloat64) {
  struct Batches {
    std::int64_t a, b;
  };
  for (const auto [a_batch, b_batch] : {Batches{1, 1}, {3, 1}, {1, 3}, {3, 3}, {9, 9}}) {
    for (const bool transpose_a : {false, true}) {
      for (const bool transpose_b : {false, true}) {
        for (const bool bias : {false, true}) {
          for (const DataType dtype : kRealTypes) {
            const Form form{a_batch, b_batch, 70, 33, 41, transpose_a, transpose_b, bias};
            SCOPED_TRACE(::testing::Message() << a_batch << " " << b_batch << " " << transpose_a
                                              << transpose_b << bias << " " << name_of(dtype));
            expect_product(form, dtype, dtype);
          }
        }
      }
    }
  }
}

TEST(HostMatmulForms, BlocksOfLargeAndSmallProductsFit) {
  for (const bool transpose_a : {false, true}) {
    for (const bool transpose_b : {false, true}) {
      expect_product({1, 1, 600, 40, 250, transpose_a, transpose_b, true}, DataType::bfloat16,
                     DataType::bfloat16);
      expect_product({1, 1, 40, 550, 530, transpose_a, transpose_b, true}, DataType::bfloat16,
                     DataType::bfloat16);
      expect_product({2, 2, 5, 3, 2, transpose_a, transpose_b, false}, DataType::float32,
                     DataType::float32);
    }
  }
}

TEST(HostMatmulForms, Bfloat16MultipliesToFloat32Unrounded) {
  expect_product({1, 1, 70, 130, 41, true, false, false}, DataType::bfloat16, DataType::float32);
  expect_product({3, 3, 70, 130, 41, false, true, true}, DataType::bfloat16, DataType::float32);
}

TEST(HostMatmulForms, OperandsThatDoNotFitAreErrors) {
  HostDevice device;
  const Given a = random({3, 4, 6}, DataType::float32, 1);
  const Given b = random({2, 6, 5}, DataType::float32, 1);
  const Given one_b = random({6, 5}, DataType::float32, 1);
  const Given bias = random({4}, DataType::float32, 1);
  const TensorSpec c{{3, 4, 5}, DataType::float32};
  const MatmulAttributes plain;
  EXPECT_THROW(run_on(device, plain, {a, b}, {c}), Error) << "batches";
  EXPECT_THROW(run_on(device, plain, {a, one_b, bias}, {c}), Error) << "the bias";
  EXPECT_THROW(run_on(device, plain, {a}, {c}), Error) << "one operand";
  EXPECT_THROW(run_on(device, plain, {a, one_b}, {{{4, 5}, DataType::float32}}), Error);
  EXPECT_THROW(run_on(device, plain, {a, one_b}, {{{3, 4, 5}, DataType::uint32}}), Error);
  EXPECT_THROW(run_on(device, MatmulAttributes{.transpose_b = true}, {a, one_b}, {c}), Error);
}

/// This means something in a process of its own, as ctest runs it, because other tests leave
/// threads behind.
TEST(HostThreads, AreNoneButItsOwnWhateverOpenMpIsToldTo) {
  const auto count = [] {
    return std::distance(std::filesystem::directory_iterator("/proc/self/task"), {});
  };
  const std::ptrdiff_t before = count();
  HostDevice device({.threads = 1});
  const Values values = random_values(256 * 256, DataType::float32, 1);
  multiply_on(device, {1, 256, 256, 256, DataType::float32}, values, values);
  EXPECT_EQ(count(), before + 1) << "the queue's thread";
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, HostMatmul,
    ::testing::Values(
        Problem{1, 1, 1, 1, DataType::bfloat16}, Problem{1, 1, 1, 1, DataType::float32},
        Problem{1, 64, 1, 96, DataType::bfloat16}, Problem{1, 128, 128, 128, DataType::bfloat16},
        Problem{1, 33, 65, 17, DataType::bfloat16}, Problem{1, 33, 65, 17, DataType::float32},
        Problem{3, 20, 48, 70, DataType::bfloat16}, Problem{3, 20, 48, 70, DataType::float32},
        Problem{1, 1, 300, 257, DataType::bfloat16}, Problem{1, 257, 300, 1, DataType::float32},
        Problem{1, 256, 512, 192, DataType::float32},
        // These have several blocks, of rows and of columns.
        Problem{1, 600, 40, 250, DataType::bfloat16}, Problem{1, 600, 40, 250, DataType::float32},
        Problem{1, 40, 550, 530, DataType::bfloat16}, Problem{1, 40, 550, 530, DataType::float32}),
    name);

}  // namespace
}  // namespace howard::host
