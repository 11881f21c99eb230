// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <iterator>
#include <string>

#include "engines/host/host_device.h"
#include "tests/engines/host/host_products.h"

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

TEST_P(HostMatmul, EqualsTheProductInFloat64) {
  const Problem& p = GetParam();
  HostDevice device;
  const Values left = a();
  const Values right = b();
  const Values actual = multiply_on(device, p, left, right);
  const auto at = [](std::int64_t i) { return static_cast<std::size_t>(i); };
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
      // Sums in float32 in any order: k roundings of half an ulp, at most, of what was summed; then
      // half an ulp of the result where it is rounded to bfloat16.
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

/// Means something in a process of its own, as ctest runs it: other tests leave threads behind.
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
        // Several blocks, of rows and of columns.
        Problem{1, 600, 40, 250, DataType::bfloat16}, Problem{1, 600, 40, 250, DataType::float32},
        Problem{1, 40, 550, 530, DataType::bfloat16}, Problem{1, 40, 550, 530, DataType::float32}),
    name);

}  // namespace
}  // namespace howard::host
