// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <vector>

#include "base/error.h"
#include "tests/engines/host/host_calls.h"

namespace howard::host {
namespace {

/// softmax(scale q k^T + mask) v at one element of the result, in float64.
double attended(const Given& q, const Given& k, const Given& v, const Given* mask,
                const AttentionAttributes& attributes, std::int64_t i) {
  const Shape& shape = q.spec.shape;
  const Shape& keys = k.spec.shape;
  const std::int64_t d = shape.columns();
  const std::int64_t wide = v.spec.shape.columns();
  const std::int64_t column = i % wide;
  const std::int64_t row = i / wide;
  const std::int64_t place = row % shape.rows();
  const std::int64_t head = row / shape.rows() % shape.heads();
  const std::int64_t batch = row / shape.rows() / shape.heads();
  const std::int64_t other = batch * keys.heads() + head / (shape.heads() / keys.heads());
  const std::int64_t seen = attributes.causal ? place + 1 : keys.rows();
  double sum = 0;
  double weighted = 0;
  for (std::int64_t j = 0; j < seen; ++j) {
    double score = 0;
    for (std::int64_t c = 0; c < d; ++c) {
      score += static_cast<double>(q.values[at(row * d + c)]) *
               static_cast<double>(k.values[at((other * keys.rows() + j) * d + c)]);
    }
    score *= static_cast<double>(attributes.scale);
    if (mask != nullptr) score += static_cast<double>(mask->values[at(place * keys.rows() + j)]);
    sum += std::exp(score);
    weighted += std::exp(score) *
                static_cast<double>(v.values[at((other * keys.rows() + j) * wide + column)]);
  }
  return weighted / sum;
}

TEST(HostAttention, ADecodingStepSeesThePlacesUpToItsPosition) {
  for (const DataType dtype : kRealTypes) {
    const Given q = random({2, 4, 1, 12}, dtype, 1);
    const Given k = random({2, 2, 9, 12}, dtype, 2);
    const Given v = random({2, 2, 9, 12}, dtype, 3);
    for (const float position : {0.0F, 5.0F, 8.0F}) {
      const Given place{{{1, 1}, DataType::uint32, Layout::row_major}, {position}};
      Given hidden = random({1, 1, 1, 9}, DataType::float32, 4, 0, 1);
      for (std::size_t i = 0; i < 9; ++i)
        hidden.values[i] = static_cast<float>(i) <= position ? 0.0F : -1e9F;
      const AttentionAttributes attributes{.scale = 0.5F};
      const DecodeAttentionAttributes decode{.scale = 0.5F};
      expect_close(run(decode, {q, k, v, place}, {q.spec})[0], dtype,
                   [&](std::int64_t i) -> Expected {
                     return {attended(q, k, v, &hidden, attributes, i), 2e-6};
                   });
    }
    const Given beyond{{{1, 1}, DataType::uint32, Layout::row_major}, {9.0F}};
    EXPECT_THROW(run(DecodeAttentionAttributes{}, {q, k, v, beyond}, {q.spec}), Error);
  }
}

TEST(HostGather, RowsAreWrittenIntoACacheInPlace) {
  const Given rows = random({1, 2, 2, 3}, DataType::bfloat16, 1);
  const Given cache = random({1, 2, 5, 3}, DataType::bfloat16, 2);
  const auto expected = [&](std::int64_t first) {
    Values values = cache.values;
    for (std::int64_t head = 0; head < 2; ++head) {
      for (std::int64_t i = 0; i < 6; ++i) {
        values[at(head * 15 + first * 3 + i)] = rows.values[at(head * 6 + i)];
      }
    }
    return values;
  };
  HostDevice device;
  const WriteRowsAttributes third{.row = 3};
  EXPECT_EQ(run_on(device, third, {rows, cache}, {cache.spec}, {1})[0], expected(3));
  const Given place{{{1, 1}, DataType::uint32, Layout::row_major}, {2.0F}};
  EXPECT_EQ(run_on(device, UpdateCacheAttributes{}, {rows, cache, place}, {cache.spec}, {1})[0],
            expected(2));
  const Given beyond{{{1, 1}, DataType::uint32, Layout::row_major}, {4.0F}};
  EXPECT_THROW(run_on(device, UpdateCacheAttributes{}, {rows, cache, beyond}, {cache.spec}, {1}),
               Error);
  const WriteRowsAttributes behind{.row = 4};
  EXPECT_THROW(run_on(device, behind, {rows, cache}, {cache.spec}, {1}), Error);
}

TEST(HostAttention, IsThatOfFloat64) {
  for (const DataType dtype : kRealTypes) {
    const Given q = random({2, 4, 9, 12}, dtype, 1);
    const Given k = random({2, 2, 9, 12}, dtype, 2);
    const Given v = random({2, 2, 9, 12}, dtype, 3);
    const Given mask = random({1, 1, 9, 9}, dtype, 4, -3, 0);
    for (const bool causal : {false, true}) {
      const AttentionAttributes attributes{.causal = causal, .scale = 0.5F};
      const Values out = run(attributes, {q, k, v}, {q.spec})[0];
      expect_close(out, dtype, [&](std::int64_t i) -> Expected {
        return {attended(q, k, v, nullptr, attributes, i), 2e-6};
      });
    }
    const AttentionAttributes plain{};
    expect_close(run(plain, {q, k, v, mask}, {q.spec})[0], dtype, [&](std::int64_t i) -> Expected {
      return {attended(q, k, v, &mask, plain, i), 2e-6};
    });
  }
}

/// The gradients of the elements of q, k and v, in float64, by differences of `attended`. With the
/// causal one v has heads of another width.
TEST(HostAttention, ItsGradientsAreDifferencesOfItsResult) {
  for (const bool causal : {false, true}) {
    const AttentionAttributes attributes{.causal = causal, .scale = 0.5F};
    const TtmlAttentionAttributes forward{.causal = causal, .scale = 0.5F};
    const AttentionBackwardQAttributes of_q{.causal = causal, .scale = 0.5F};
    const AttentionBackwardKvAttributes of_kv{.causal = causal, .scale = 0.5F};
    std::array<Given, 3> qkv{random({2, 4, 5, 6}, DataType::float32, 1),
                             random({2, 2, 5, 6}, DataType::float32, 2),
                             random({2, 2, 5, causal ? 4 : 6}, DataType::float32, 3)};
    const TensorSpec x{.shape = {2, 4, 5, causal ? 4 : 6}, .dtype = DataType::float32};
    const Given dout = random(x.shape, DataType::float32, 4);
    const TensorSpec row{.shape = {2, 4, 5, 1}, .dtype = DataType::float32};
    const auto kept = run(forward, {qkv[0], qkv[1], qkv[2]}, {x, row, row});
    const std::vector<Given> inputs{qkv[0], qkv[1],         qkv[2],        {x, kept[0]},
                                    dout,   {row, kept[1]}, {row, kept[2]}};
    std::array<Values, 3> slopes;
    slopes[0] = run(of_q, inputs, {qkv[0].spec})[0];
    const auto of_keys = run(of_kv, inputs, {qkv[1].spec, qkv[2].spec});
    slopes[1] = of_keys[0];
    slopes[2] = of_keys[1];
    const auto loss = [&] {
      double sum = 0;
      for (std::int64_t i = 0; i < x.shape.elements(); ++i) {
        sum += attended(qkv[0], qkv[1], qkv[2], nullptr, attributes, i) *
               static_cast<double>(dout.values[at(i)]);
      }
      return sum;
    };
    for (std::size_t operand = 0; operand < 3; ++operand) {
      for (std::size_t i = 0; i < qkv.at(operand).values.size(); i += 7) {
        float& value = qkv.at(operand).values[i];
        const float before = value;
        constexpr float kStep = 1.0F / 128;
        value = before + kStep;
        const double above = loss();
        const double high = static_cast<double>(value);
        value = before - kStep;
        const double slope = (above - loss()) / (high - static_cast<double>(value));
        value = before;
        EXPECT_NEAR(slopes.at(operand)[i], slope, 1e-3) << operand << " " << i;
      }
    }
  }
}

TEST(HostAttention, RefusesOperandsOfAnotherShape) {
  const Given x = random({1, 2, 4, 8}, DataType::float32, 1);
  const Given row = random({1, 2, 4, 1}, DataType::float32, 2);
  const AttentionBackwardQAttributes causal{.causal = true};
  EXPECT_THROW(run(causal, {x, x, x, x, x, row}, {x.spec}), Error);
  EXPECT_THROW(run(causal, {x, x, x, x, x, row, row}, {x.spec, x.spec, x.spec}), Error);
  EXPECT_THROW(run(causal, {x, x, x, x, x, row, x}, {x.spec}), Error);
  EXPECT_THROW(run(causal, {x, x, x, x, x, row, row}, {row.spec}), Error);
}

TEST(HostGather, SlicesPaddingsAndPermutations) {
  const Given x{
      {{2, 2, 2, 3}, DataType::float32},
      {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23}};
  EXPECT_EQ(run(SliceAttributes{.begins = {1, 0, 1, 0}, .steps = {1, 1, 1, 2}}, {x},
                {{{1, 2, 1, 2}, DataType::float32}})[0],
            (Values{15, 17, 21, 23}));
  EXPECT_EQ(
      run(PermuteAttributes{.order = {3, 1, 0, 2}}, {x}, {{{3, 2, 2, 2}, DataType::float32}})[0],
      (Values{0, 3,  12, 15, 6, 9, 18, 21, 1, 4,  13, 16,
              7, 10, 19, 22, 2, 5, 14, 17, 8, 11, 20, 23}));
  const Given row{{{1, 2}, DataType::float32}, {1, 2}};
  EXPECT_EQ(run(PadAttributes{.before = {0, 0, 1, 1}, .value = 9}, {row},
                {{{3, 4}, DataType::float32}})[0],
            (Values{9, 9, 9, 9, 9, 1, 2, 9, 9, 9, 9, 9}));
  const Given half{{{1, 2}, DataType::bfloat16}, {1, 2}};
  EXPECT_EQ(
      run(PermuteAttributes{.order = {0, 1, 3, 2}}, {half}, {{{2, 1}, DataType::bfloat16}})[0],
      (Values{1, 2}));
}

TEST(HostGather, ConcatAlongAnyDimension) {
  const Given a{{{2, 1, 2}, DataType::float32}, {1, 2, 3, 4}};
  const Given b{{{2, 2, 2}, DataType::float32}, {5, 6, 7, 8, 9, 10, 11, 12}};
  EXPECT_EQ(run(ConcatAttributes{.dimension = 2}, {a, b}, {{{2, 3, 2}, DataType::float32}})[0],
            (Values{1, 2, 5, 6, 7, 8, 3, 4, 9, 10, 11, 12}));
  const Given c{{{1, 1, 2}, DataType::float32}, {5, 6}};
  EXPECT_EQ(run(ConcatAttributes{.dimension = 1}, {a, c}, {{{3, 1, 2}, DataType::float32}})[0],
            (Values{1, 2, 3, 4, 5, 6}));
}

TEST(HostGather, PartsThatDoNotFitAreRefused) {
  HostDevice device;
  const Given x = random({4, 4}, DataType::float32, 1);
  const TensorSpec out{{4, 4}, DataType::float32};
  EXPECT_THROW(run_on(device, SliceAttributes{.begins = {0, 0, 1, 0}}, {x}, {out}), Error);
  EXPECT_THROW(run_on(device, PadAttributes{.before = {0, 0, 1, 0}}, {x}, {out}), Error);
  EXPECT_THROW(run_on(device, PermuteAttributes{.order = {1, 0, 3, 2}}, {x}, {{{1, 16}}}), Error);
}

}  // namespace
}  // namespace howard::host
