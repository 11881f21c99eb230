// SPDX-License-Identifier: Apache-2.0
#include "engines/host/panel_product.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "engines/host/matmul_plan.h"
#include "tests/engines/host/host_products.h"

namespace howard::host {
namespace {

/// Those this CPU has.
std::vector<InstructionSet> instruction_sets() {
  std::vector<InstructionSet> sets{InstructionSet::v2};
  if (best_instruction_set() >= InstructionSet::v3) sets.push_back(InstructionSet::v3);
  if (best_instruction_set() >= InstructionSet::v4) sets.push_back(InstructionSet::v4);
  return sets;
}

/// Shapes with edges in every direction: of tiles, panels, blocks and pieces of k.
std::vector<MatmulShape> shapes() {
  std::vector<MatmulShape> all;
  for (const bool transpose_a : {false, true}) {
    for (const bool transpose_b : {false, true}) {
      for (const DataType dtype : {DataType::bfloat16, DataType::float32}) {
        MatmulShape shape{.transpose_a = transpose_a, .transpose_b = transpose_b, .dtype = dtype};
        shape.result = dtype;
        for (const auto& [batch, m, k, n] :
             {std::array{1, 1, 1, 1}, std::array{1, 5, 300, 33}, std::array{1, 150, 64, 530},
              std::array{1, 29, 17, 64}, std::array{3, 31, 40, 70}, std::array{9, 16, 20, 24}}) {
          shape.batch = batch;
          shape.m = m;
          shape.k = k;
          shape.n = n;
          shape.bias = m == 29;
          shape.one_b = batch == 9;
          all.push_back(shape);
        }
      }
    }
  }
  return all;
}

struct Factors {
  explicit Factors(const MatmulShape& shape)
      : a(random_values(shape.batch * shape.m * shape.k, shape.dtype, 1)),
        b(random_values((shape.one_b ? 1 : shape.batch) * shape.k * shape.n, shape.dtype, 2)),
        bias(random_values(shape.n, shape.dtype, 3)) {}
  Values a, b, bias;
};

template <class Plan, class... More>
Values multiplied(Plan&& plan, const MatmulShape& shape, const Factors& factors, int threads,
                  const More&... more) {
  WorkerPool pool(threads);
  Workspace workspace(threads);
  const auto a = to_bytes(factors.a, shape.dtype);
  const auto b = to_bytes(factors.b, shape.dtype);
  const auto bias = to_bytes(factors.bias, shape.dtype);
  std::vector<std::byte> c(static_cast<std::size_t>(shape.batch * shape.m * shape.n) *
                           (shape.result == DataType::float32 ? 4 : 2));
  plan.run({a.data(), b.data(), shape.bias ? bias.data() : nullptr, c.data()}, pool, workspace,
           more...);
  return from_bytes(c, shape.result);
}

void expect_equals_float64(const MatmulShape& shape, const Factors& factors, const Values& c) {
  const auto at = [](std::int64_t i) { return static_cast<std::size_t>(i); };
  for (std::int64_t i = 0; i < shape.batch * shape.m * shape.n; ++i) {
    const std::int64_t matrix = i / shape.n / shape.m;
    const std::int64_t row = i / shape.n % shape.m;
    const std::int64_t column = i % shape.n;
    const std::int64_t a = matrix * shape.m * shape.k;
    const std::int64_t b = shape.one_b ? 0 : matrix * shape.k * shape.n;
    double sum = shape.bias ? double{factors.bias[at(column)]} : 0;
    double magnitude = std::abs(sum);
    for (std::int64_t k = 0; k < shape.k; ++k) {
      const double term =
          double{factors.a[at(a + (shape.transpose_a ? k * shape.m + row : row * shape.k + k))]} *
          double{
              factors.b[at(b + (shape.transpose_b ? column * shape.k + k : k * shape.n + column))]};
      sum += term;
      magnitude += std::abs(term);
    }
    const double rounding = shape.result == DataType::bfloat16 ? 0x1p-8 * std::abs(sum) : 0;
    ASSERT_NEAR(c[at(i)], sum,
                1.01 * (static_cast<double>(shape.k + 2) * 0x1p-24 * magnitude + rounding))
        << shape.m << "x" << shape.k << "x" << shape.n << ", element " << i;
  }
}

TEST(PanelProduct, EqualsTheProductInFloat64OnEachInstructionSet) {
  for (const InstructionSet set : instruction_sets()) {
    for (const MatmulShape& shape : shapes()) {
      SCOPED_TRACE(static_cast<int>(set));
      const Factors factors(shape);
      const PanelProduct plan(shape, 2, panel_kernel(set));
      const Values c = multiplied(plan, shape, factors, 2, PanelProduct::Finish{});
      expect_equals_float64(shape, factors, c);
      const PanelProduct single(shape, 1, panel_kernel(set));
      ASSERT_EQ(multiplied(single, shape, factors, 1, PanelProduct::Finish{}), c)
          << "one thread gives other bits";
    }
  }
}

TEST(PanelProduct, LeavesTheResultAloneWhereItIsNotWanted) {
  const MatmulShape shape{.m = 20, .k = 8, .n = 40};
  const Values c = multiplied(PanelProduct(shape, 1, panel_kernel(best_instruction_set())), shape,
                              Factors(shape), 1, PanelProduct::Finish{.stores = false});
  EXPECT_EQ(c, Values(c.size(), 0.0F));
}

// Not what the device takes on a CPU whose bfloat16 instructions are slow; there it is tested here.
TEST(MatmulPlan, EqualsTheProductInFloat64) {
  if (best_instruction_set() != InstructionSet::v4) GTEST_SKIP() << "oneDNN wants AVX-512";
  for (const MatmulShape& shape : shapes()) {
    const Factors factors(shape);
    MatmulPlan plan(shape, 2);
    expect_equals_float64(shape, factors, multiplied(plan, shape, factors, 2));
  }
}

}  // namespace
}  // namespace howard::host
