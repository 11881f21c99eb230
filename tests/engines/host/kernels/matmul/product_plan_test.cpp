// SPDX-License-Identifier: Apache-2.0
#include "engines/host/kernels/matmul/product_plan.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <tuple>

#include "engines/host/kernels/matmul/matmul_blocks.h"
#include "tests/engines/host/kernels/matmul/host_products.h"

namespace howard::host {
namespace {

constexpr std::array kTypes{DataType::bfloat16, DataType::float32};

/// Returns every mixture of types, with blocks of rows, of columns, of one and of several matrices,
/// and edges of them.
std::vector<MatmulShape> shapes() {
  std::vector<MatmulShape> all;
  for (const bool transpose_a : {false, true}) {
    for (const bool transpose_b : {false, true}) {
      for (const auto [a, b, result] : {std::array{kTypes[0], kTypes[0], kTypes[0]},
                                        std::array{kTypes[0], kTypes[0], kTypes[1]},
                                        std::array{kTypes[1], kTypes[1], kTypes[1]},
                                        std::array{kTypes[1], kTypes[1], kTypes[0]},
                                        std::array{kTypes[0], kTypes[1], kTypes[0]},
                                        std::array{kTypes[1], kTypes[0], kTypes[1]}}) {
        for (const auto& [batch, m, k, n] :
             {std::array{1, 1, 1, 1}, std::array{1, 5, 300, 33}, std::array{1, 150, 64, 530},
              std::array{1, 530, 64, 150}, std::array{1, 29, 17, 64}, std::array{3, 31, 40, 70},
              std::array{9, 16, 20, 24}, std::array{9, 64, 400, 90}, std::array{1, 1100, 300, 530},
              std::array{1, 1030, 130, 1100}, std::array{1, 70, 700, 170}}) {
          MatmulShape shape{.transpose_a = transpose_a, .transpose_b = transpose_b};
          shape.batch = batch;
          shape.m = m;
          shape.k = k;
          shape.n = n;
          shape.a = a;
          shape.b = b;
          shape.result = result;
          // Some have a bias too: bands, parts of columns, and chunks of k, of which the first adds
          // it.
          if (m == 29 || m == 1100 || k == 700) shape.bias = a;
          if (m == 16) shape.one_b = true;
          all.push_back(shape);
        }
      }
    }
  }
  return all;
}

struct Factors {
  explicit Factors(const MatmulShape& shape)
      : a(random_values(shape.batch * shape.m * shape.k, shape.a, 1)),
        b(random_values((shape.one_b ? 1 : shape.batch) * shape.k * shape.n, shape.b, 2)),
        bias(random_values(shape.n, shape.a, 3)) {}
  Values a, b, bias;
};

Values multiplied(const MatmulShape& shape, const Factors& factors, int threads, bool fast,
                  const ProductFinish& finish = {}, bool gaps = gemm_wants_gaps()) {
  ProductPlan plan(shape, threads, gaps, fast);
  // On a busy machine the end of a pool waits for a turn of each helper, a fifth of a second.
  static std::map<int, WorkerPool> pools;
  WorkerPool& pool = pools.try_emplace(threads, threads).first->second;
  Workspace workspace(threads);
  const auto a = to_bytes(factors.a, shape.a);
  const auto b = to_bytes(factors.b, shape.b);
  const auto bias = to_bytes(factors.bias, shape.bias.value_or(DataType::float32));
  const DataType held = shape.wide_result ? DataType::float32 : shape.result;
  std::vector<std::byte> c(static_cast<std::size_t>(shape.batch * shape.m * shape.n) *
                           (held == DataType::float32 ? 4 : 2));
  plan.run({a.data(), b.data(), shape.bias ? bias.data() : nullptr, c.data()}, pool, workspace,
           finish);
  return from_bytes(c, held);
}

void expect_equals_float64(const MatmulShape& shape, const Factors& factors, const Values& c) {
  const auto at = [](std::int64_t i) { return static_cast<std::size_t>(i); };
  const std::int64_t elements = shape.batch * shape.m * shape.n;
  // For large ones this takes a sample from all over.
  const std::int64_t step = elements > 100'000 ? 53 : 1;
  for (std::int64_t i = 0; i < elements; i += step) {
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

TEST(ProductPlan, EqualsTheProductInFloat64WithBfloat16Widened) {
  for (const MatmulShape& shape : shapes()) {
    const Factors factors(shape);
    for (const int threads : {1, 2}) {
      expect_equals_float64(shape, factors, multiplied(shape, factors, threads, false));
    }
  }
}

// A device does not take this on a CPU whose bfloat16 instructions are slow, so it is tested here.
TEST(ProductPlan, EqualsTheProductInFloat64WithBfloat16AsItIs) {
  if (best_instruction_set() != InstructionSet::v4) GTEST_SKIP() << "oneDNN wants AVX-512";
  for (const MatmulShape& shape : shapes()) {
    const Factors factors(shape);
    expect_equals_float64(shape, factors, multiplied(shape, factors, 2, true));
  }
}

/// Returns large products of float32 and of what is widened to it, whose rows lie a multiple of
/// 2 KiB apart where gaps make a difference.
std::vector<MatmulShape> shapes_with_gaps() {
  using Sizes = std::tuple<std::int64_t, std::int64_t, std::int64_t, DataType>;
  std::vector<MatmulShape> all;
  for (const bool transpose_a : {false, true}) {
    for (const bool transpose_b : {false, true}) {
      for (const auto& [m, k, n, type] :
           {Sizes{512, 40, 512, DataType::float32}, Sizes{1024, 30, 512, DataType::bfloat16},
            Sizes{130, 1100, 512, DataType::float32}, Sizes{130, 40, 2560, DataType::float32},
            Sizes{512, 1100, 130, DataType::bfloat16}}) {
        MatmulShape& shape = all.emplace_back();
        shape = {.transpose_a = transpose_a, .transpose_b = transpose_b, .bias = {}};
        shape.m = m;
        shape.k = k;
        shape.n = n;
        shape.a = shape.b = shape.result = type;
        if (k != 40) shape.bias = type;
      }
      for (const DataType type : kTypes) {
        MatmulShape& shape = all.emplace_back();
        shape = {.transpose_a = transpose_a, .transpose_b = transpose_b, .bias = {}};
        shape.batch = 3;
        shape.m = type == DataType::float32 ? 1536 : 512;
        shape.k = 260;
        shape.n = 64;
        shape.a = shape.b = shape.result = type;
      }
    }
  }
  return all;
}

TEST(ProductPlan, EqualsTheProductInFloat64WithGapsAndWithout) {
  for (const MatmulShape& shape : shapes_with_gaps()) {
    const Factors factors(shape);
    for (const bool gaps : {false, true}) {
      SCOPED_TRACE(gaps);
      expect_equals_float64(shape, factors, multiplied(shape, factors, 2, false, {}, gaps));
    }
  }
}

TEST(ProductPlan, BIsPackedWhereThatPays) {
  MatmulShape shape{.a = DataType::float32, .b = DataType::float32, .bias = {}};
  shape.m = 2048;
  shape.k = shape.n = 512;
  EXPECT_TRUE(packing_pays(shape, true));
  EXPECT_FALSE(packing_pays(shape, false)) << "B has too few columns";
  shape.transpose_b = true;
  EXPECT_FALSE(packing_pays(shape, true)) << "the gemm copies a transposed B itself";
  EXPECT_TRUE(packing_pays(shape, false));
  shape.m = 64;
  EXPECT_FALSE(packing_pays(shape, false)) << "too few rows read it";
}

TEST(ProductPlan, BesideATransposedAAWideBIsPackedOnEveryCpu) {
  MatmulShape shape{
      .transpose_a = true, .a = DataType::float32, .b = DataType::float32, .bias = {}};
  shape.m = 768;
  shape.k = 1024;
  shape.n = 3072;
  EXPECT_TRUE(packing_pays(shape, false));
  shape.n = 3080;
  EXPECT_FALSE(packing_pays(shape, false)) << "its rows use all sets";
  shape.n = 1536;
  EXPECT_FALSE(packing_pays(shape, false)) << "it is read in chunks";
}

TEST(ProductPlan, ATransposedAOfSeveralMatricesIsCopiedOneByOne) {
  MatmulShape shape{
      .transpose_a = true, .a = DataType::float32, .b = DataType::float32, .bias = {}};
  shape.batch = 24;
  shape.m = shape.k = 1024;
  shape.n = 64;
  EXPECT_TRUE(copying_a_pays(shape, true));
  EXPECT_EQ(block_size(shape, 2, true).matrices, 1);
  EXPECT_FALSE(copying_a_pays(shape, false));
  EXPECT_EQ(block_size(shape, 2, false).matrices, 6);
  shape.n = 32;
  EXPECT_FALSE(copying_a_pays(shape, true)) << "too few columns read it";
  shape.n = 64;
  shape.m = 1000;
  EXPECT_FALSE(copying_a_pays(shape, true)) << "its rows use all sets";
}

TEST(ProductPlan, AWideResultIsTheRoundedOneHeldAsFloat32) {
  for (MatmulShape shape : shapes()) {
    if (shape.result != DataType::bfloat16) continue;
    const Factors factors(shape);
    const Values narrow = multiplied(shape, factors, 2, false);
    shape.wide_result = true;
    EXPECT_EQ(multiplied(shape, factors, 2, false), narrow) << shape.m;
  }
}

TEST(ProductPlan, WidenedFactorsGiveTheBitsOfWideOnes) {
  for (MatmulShape shape : shapes()) {
    if (shape.a != DataType::bfloat16 || shape.b != DataType::bfloat16 || shape.bias) continue;
    const Factors factors(shape);
    const Values widened = multiplied(shape, factors, 2, false);
    shape.a = shape.b = DataType::float32;
    EXPECT_EQ(multiplied(shape, factors, 2, false), widened)
        << shape.batch << " of " << shape.m << "x" << shape.k << "x" << shape.n;
  }
}

/// Returns a pass that stores what it is given, which is float32.
std::shared_ptr<const ElementPass> storing_pass(const MatmulShape& shape, Values& stored) {
  stored.resize(static_cast<std::size_t>(shape.batch * shape.m * shape.n));
  ElementStep step{.function = ElementFunction::copy, .x = {}, .y = {}, .result = {}};
  step.x.kind = ElementOperand::Kind::product;
  step.result = DataType::float32;
  step.stored = reinterpret_cast<std::byte*>(stored.data());
  return std::make_shared<ElementPass>(std::vector{step}, static_cast<std::int64_t>(stored.size()),
                                       shape.n);
}

void expect_same_bits_not_stored(MatmulShape shape, bool gaps) {
  const Factors factors(shape);
  const Values stored = multiplied(shape, factors, 2, false, {}, gaps);
  shape.stores_result = false;
  Values passed_on;
  const auto pass = storing_pass(shape, passed_on);
  const Values c = multiplied(shape, factors, 2, false, {.pass = pass}, gaps);
  EXPECT_EQ(c, Values(c.size(), 0.0F)) << shape.m << "x" << shape.n;
  EXPECT_EQ(passed_on, stored) << shape.m << "x" << shape.k << "x" << shape.n;
}

TEST(ProductPlan, AResultThatIsNotStoredHasTheSameBits) {
  for (const MatmulShape& shape : shapes()) expect_same_bits_not_stored(shape, gemm_wants_gaps());
  for (const MatmulShape& shape : shapes_with_gaps()) expect_same_bits_not_stored(shape, true);
}

}  // namespace
}  // namespace howard::host
