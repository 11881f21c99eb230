// SPDX-License-Identifier: Apache-2.0
#include "engines/chip/kernels/plan/kernel_buffers.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "engines/chip/emulated_chip.h"

namespace howard::chip {
namespace {

constexpr CoreGrid kAll{8, 8};
constexpr Bytes kL1{1'401'856};

KernelBuffers buffers_of_call(const Attributes& attributes, std::vector<Operand> inputs,
                              const TensorSpec& out) {
  return kernel_buffers(make_program(attributes, std::move(inputs), {out}), kAll, kL1, 1);
}

TEST(KernelBuffers, SoftmaxHoldsARowOfExponentials) {
  // softmax_program_factory.cpp: 64 tiles in blocks of 8.
  const TensorSpec x{{64, 2048}};
  const SoftmaxAttributes softmax{.stable = false, .fp32_accumulation = false};
  EXPECT_EQ(buffers_of_call(softmax, {x}, x).size.value(), (16 + 16 + 64 + 3) * 2048);
}

TEST(KernelBuffers, RowsThatDoNotFitAreGoneThroughInParts) {
  const TensorSpec x{{32, 131072}};
  const KernelBuffers large = buffers_of_call(SoftmaxAttributes{}, {x}, x);
  EXPECT_LT(large.size, kL1);
  EXPECT_FALSE(large.exact);
  EXPECT_LT(norm_buffers({.columns = 4096}, kL1).size, kL1);
}

TEST(KernelBuffers, ACoreThatUntilizesSeveralRowsHasTwoOfEach) {
  const auto untilized = [](std::int64_t rows) {
    const TensorSpec in{{rows, 128}}, out{{rows, 128}, DataType::bfloat16, Layout::row_major};
    return buffers_of_call(LayoutAttributes{.to = Layout::row_major}, {in}, out).size.value();
  };
  EXPECT_EQ(untilized(64 * 32), 8 * 2048);
  EXPECT_EQ(untilized(65 * 32), 16 * 2048);
}

TEST(KernelBuffers, ChunksOfAttentionThatDoNotFitAreRefused) {
  const TensorSpec q{{1, 1, 4096, 256}};
  EmulatedChip chip(load_profiles());
  const auto attention = [&](std::int64_t chunk) {
    return make_program(
        AttentionAttributes{.causal = true, .query_chunk = chunk, .key_chunk = chunk}, {q, q, q});
  };
  EXPECT_NO_THROW(static_cast<void>(chip.explain(attention(128))));
  EXPECT_THROW(static_cast<void>(chip.explain(attention(1024))), Error);
}

TEST(KernelBuffers, ARowOfATableThatDoesNotFitIsRefused) {
  // tt-metal#32635: rows of 1.5 MiB.
  const TensorSpec ids{{1, 32}, DataType::uint32, Layout::row_major};
  const TensorSpec table{{3, 786432}, DataType::bfloat16, Layout::row_major};
  const TensorSpec out{{1, 32, 786432}, DataType::bfloat16, Layout::row_major};
  EmulatedChip chip(load_profiles());
  EXPECT_THROW(
      static_cast<void>(chip.explain(make_program(EmbeddingAttributes{}, {ids, table}, {out}))),
      Error);
}

}  // namespace
}  // namespace howard::chip
