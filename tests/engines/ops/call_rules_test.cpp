// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <array>

#include "base/error.h"
#include "engines/chip/emulated_chip.h"
#include "engines/ops/catalogue.h"
#include "engines/ops/training.h"

namespace howard::ops {
namespace {

Program call_of(std::string_view text) { return parse_program(text, DataType::bfloat16); }

/// A call that an op takes, and what its results are.
struct Taken {
  std::string_view call;
  std::vector<std::string_view> results;
};

TEST(CallRules, ResultsFollowFromTheOperands) {
  const std::vector<Taken> all{
      {"matmul 2x3x64x96 96x128", {"2x3x64x128"}},
      {"matmul 2x64x96 2x96x128", {"2x64x128"}},
      {"matmul 64x96 2x96x128", {"2x64x128"}},
      {"matmul:transpose_b 64x96 128x96", {"64x128"}},
      {"matmul:transpose_a 96x64 96x128", {"64x128"}},
      {"matmul 64x96 96x128 1x128", {"64x128"}},
      {"add 64x32 1x32", {"64x32"}},
      {"add 64x1 1x32", {"64x32"}},
      {"add 64x32 bfloat8_b 64x32", {"64x32"}},
      {"add 64x32 64x32 bfloat4_b", {"64x32"}},
      {"add 32 4x8x64x32", {"4x8x64x32"}},
      {"sum_columns 2x3x64x96", {"2x3x64x1"}},
      {"sum_rows 2x3x64x96", {"2x3x1x96"}},
      {"sum_batch 2x3x64x96", {"64x96"}},
      {"sum:dimension=all 2x3x64x96", {"1"}},
      {"softmax 2x64x96", {"2x64x96"}},
      {"softmax_backward 64x96 64x96", {"64x96"}},
      {"layernorm 2x64x96", {"2x64x96"}},
      {"ttml_layernorm 2x64x96 96 96", {"2x64x96", "2x64x1", "2x64x1"}},
      {"layernorm_backward 2x64x96 96 2x64x1 2x64x1 2x64x96", {"2x64x96", "2x64x96", "2x64x96"}},
      {"cross_entropy 2x32x96 2x32 uint32 row_major", {"2x32x1"}},
      {"cross_entropy_backward 2x32x96 2x32 uint32 row_major", {"2x32x96"}},
      {"transpose 2x64x96", {"2x96x64"}},
      {"transpose_heads 32x256x6x64", {"32x6x256x64"}},
      {"reshape 32x256x384 -> 32x256x6x64", {"32x256x6x64"}},
      {"tilize 64x96 row_major", {"64x96"}},
      {"split_heads:heads=6 32x1x256x1152", {"32x6x256x64", "32x6x256x64", "32x6x256x64"}},
      {"concat_heads 32x6x256x64", {"32x1x256x384"}},
      {"concat 2x64x32 2x64x96 -> 2x64x128", {"2x64x128"}},
      {"embedding 32x256 uint32 row_major 96x384 row_major", {"32x256x384"}},
      {"embedding_backward 2x32 uint32 row_major 2x32x64 -> 96x64", {"96x64"}},
      {"dropout:probability=0.2:seed=7 64x96", {"64x96"}},
  };
  for (const auto& [call, results] : all) {
    SCOPED_TRACE(call);
    const Program program = call_of(call);
    ASSERT_EQ(program.outputs.size(), results.size());
    for (std::size_t i = 0; i < results.size(); ++i) {
      EXPECT_EQ(program.outputs[i].spec.shape, *parse_shape(results[i]));
    }
  }
}

/// What ops do not take.
constexpr std::string_view kRefused[] = {
    "matmul 64x96 64x96",
    "matmul:transpose_b 64x96 96x128",
    "matmul 3x64x96 2x96x64",      // different batches
    "matmul 2x3x64x96 3x2x96x64",  // as many, in another order
    "matmul 64x96 uint32 96x64",
    "matmul 64x96 96x64 uint32",
    "matmul 64x96 96x64 -> 64x96",
    "add 64x32 64x31",
    "add 2x64x32 3x64x32",
    "exp 64x32 int32",
    "mean 64x32 int32",
    "sum 64x32 int32 -> 64x1 bfloat16",
    "embedding 1x32 uint16 row_major 96x64 row_major",
    "add 64x32 64x32 row_major",
    "relu 64x32 64x32",
    "add 64x32",
    "add 1x32 64x32 -> 1x32",
    "exp 64x32 -> 1x32",
    "mean_columns 64x96 -> 1x96",
    "softmax 2x64x96 -> 2x96x64",
    "softmax 64x64 uint32",
    "softmax_backward 64x96 64x64",
    "softmax_backward 64x96 64x96 -> 64x64",
    "layernorm 2x64x96 -> 2x96x64",
    "ttml_layernorm 2x64x96 64 96",                            // the scale is a row
    "ttml_layernorm 2x64x96 96 96 -> 2x64x96 2x64x1 2x64x96",  // statistics are columns
    "layernorm_backward 2x64x96 96 2x64x1 2x64x1 2x64x96 -> 2x64x96 96 96",
    "cross_entropy 2x64x96 2x32 uint32 row_major",
    "cross_entropy 2x32x96 2x32",  // targets are indices
    "cross_entropy 2x32x96 2x32 uint32 row_major -> 2x32x96",
    "cross_entropy_backward 2x32x96 2x32 uint32 row_major -> 2x32x1",
    "transpose 2x64x96 -> 2x64x96",
    "transpose_heads 2x64x6x64 -> 2x64x64x6",
    "reshape 32x256x384 -> 32x256x6x32",
    "reshape 64x96 -> 96x64 float32",
    "reshape 64x96 -> 96x64 row_major",
    "tilize 64x96",
    "untilize 64x96 row_major",
    "tilize 64x96 row_major -> 96x64",
    "split_heads:heads=5 2x1x64x288",  // 288 is not 3 x 5 x d
    "split_heads:heads=3 2x3x64x288",  // split already
    "split_heads:heads=0 2x1x64x288",
    "split_heads:heads=3 2x1x64x288 -> 2x3x64x32 2x3x64x32 2x3x64x64",
    "concat_heads 2x3x64x32 -> 2x1x64x32",
    "concat 2x64x32 2x64x96 -> 2x64x96",
    "concat 2x64x32 2x32x96 -> 2x64x128",
    "embedding 32x256 96x384 row_major",         // indices are whole numbers
    "embedding 32x256 uint32 row_major 96x384",  // tables are row-major
    "embedding 1x32 uint32 row_major 96x64 row_major -> 32x64x64",
    "embedding_backward 2x32 uint32 row_major 2x32x32 -> 96x64",
    "embedding_backward 2x32 uint32 row_major 3x32x64 -> 96x64",
    "dropout:probability=1 64x96",
    "dropout:probability=-0.1 64x96",
    "dropout 64x96 -> 64x64",
    "adamw 64x96 96x64 64x96 64x96 -> 64x96 64x96 64x96",
    "adamw 64x96 64x96 64x64 64x96 -> 64x96 64x64 64x96",
    "adamw 64x96 64x96 64x96 64x96 uint32 -> 64x96 64x96 64x96",
    "adamw:kahan 64x96 64x96 64x96 64x96 -> 64x96 64x96 64x96",
    "sgd 64x96 96x64 -> 64x96",
    "sgd 64x96 64x96 uint32 -> 64x96",
    "sgd:momentum=0.9 64x96 64x96 64x64 -> 64x96 64x64",
    "sgd:momentum=0.9 64x96 64x96 -> 64x96",
    "sgd 64x96 64x96 64x96 -> 64x96 64x96",  // nobody needs the buffer
    "adamw:step=0 64x96 64x96 64x96 64x96 -> 64x96 64x96 64x96",
    "swiglu 4x6 8x6 6x8",
    "swiglu 4x6 8x6 8x6 8x6",
    "swiglu 4x6 8x6 6x8 6x8",
    "rotary_embedding 1x3x5x8 4x8 4x8",  // tables are as long as x, or longer
    "slice:begins=0,0,1,0:steps=1,1,1,1 4x4 -> 4x4",
    "pad:before=0,0,1,0 4x4 -> 4x4",
    "permute:order=1,0,3,2 4x4 -> 1x16",
    "write_rows:row=4 1x2x2x3 1x2x5x3",  // the cache has five
    "sdpa_bw_q 1x2x4x8 1x2x4x8 1x2x4x8 1x2x4x8 1x2x4x8 1x2x4x1",
    "sdpa_bw_q 1x2x4x8 1x2x4x8 1x2x4x8 1x2x4x8 1x2x4x8 1x2x4x1 1x2x4x8",
    "sdpa_fw:causal=true 1x2x4x8 1x2x4x8 1x2x4x8 1x1x4x4",   // a mask says what is seen
    "sdpa_fw:causal=false 1x2x4x8 1x2x4x8 1x2x4x8 1x1x4x5",  // of as many places as there are
    "sdpa_fw:causal=false 1x2x4x8 1x2x4x8 1x2x4x8 1x1x4x4 float32",
};

TEST(CallRules, WhatDoesNotFitIsRefused) {
  for (const std::string_view call : kRefused) EXPECT_THROW(call_of(call), Error) << call;
}

TEST(CallRules, Bfloat16WithFloat32GivesFloat32) {
  EXPECT_EQ(call_of("add 64x32 64x32 float32").outputs[0].spec.dtype, DataType::float32);
  EXPECT_EQ(call_of("add 64x32 float32 64x32").outputs[0].spec.dtype, DataType::float32);
}

TEST(CallRules, LayoutsChangeBothWays) {
  EXPECT_EQ(call_of("tilize 64x96 row_major").outputs[0].spec.layout, Layout::tile);
  EXPECT_EQ(call_of("untilize 64x96").outputs[0].spec.layout, Layout::row_major);
  const Program looked = call_of("embedding 2x32 uint32 row_major 96x64 row_major");
  EXPECT_EQ(looked.outputs[0].spec.layout, Layout::tile);
}

TEST(CallRules, AProductCountsItsFlops) {
  EXPECT_EQ(call_of("matmul 2x64x96 96x128").flops, Flops(2LL * 2 * 64 * 96 * 128));
  EXPECT_EQ(call_of("matmul:transpose_a 96x64 96x128").flops, Flops(2LL * 64 * 96 * 128));
}

TEST(CallRules, CallsAreShownByWhatTheyCompute) {
  EXPECT_EQ(call_of("matmul 64x96 96x128").name, "matmul");
  EXPECT_EQ(call_of("matmul 64x96 96x128 1x128").name, "linear");
  EXPECT_EQ(call_of("subtract:scalar=2 64x32").name, "subtract");
  EXPECT_EQ(call_of("mean_rows 64x96").name, "mean");
  EXPECT_EQ(call_of("ttml_layernorm 2x64x96 96 96").name, "layernorm");
  EXPECT_EQ(make_program(eltwise_of(Eltwise::fill, 2.0F), {}, {TensorSpec{{64, 32}}}).name, "fill");
}

TEST(CallRules, OptimizersWriteInPlaceAllThatTheyKeep) {
  chip::EmulatedChip device(chip::load_profiles());
  const auto tensor = [&] { return Tensor(device, {{64, 96}}); };
  const Tensor p = tensor(), g = tensor();
  const Moments moments{tensor(), tensor(), tensor(), tensor()};
  const Program adam = adamw(p, g, moments, {.amsgrad = true, .kahan = true});
  const auto buffers = [](const std::vector<Operand>& operands) {
    std::vector<BufferId> all;
    for (const Operand& operand : operands) all.push_back(operand.buffer);
    return all;
  };
  const std::vector<BufferId> kept{p.buffer(), moments.first.buffer(), moments.second.buffer(),
                                   moments.largest->buffer(), moments.compensation->buffer()};
  EXPECT_EQ(buffers(adam.outputs), kept);
  std::vector<BufferId> read = kept;
  read.insert(read.begin() + 1, g.buffer());
  EXPECT_EQ(buffers(adam.inputs), read);
  EXPECT_THROW(adamw(p, p, moments, {.amsgrad = true}), Error) << "nobody compensates";
  const Program momentum = sgd(p, g, moments.first, {.momentum = 0.9F});
  EXPECT_EQ(buffers(momentum.inputs),
            (std::vector{p.buffer(), g.buffer(), moments.first.buffer()}));
  EXPECT_EQ(buffers(momentum.outputs), (std::vector{p.buffer(), moments.first.buffer()}));
  EXPECT_EQ(sgd(p, g, {}, {}).outputs.size(), 1U);
}

TEST(CallRules, OnlyParametersOfBfloat16AreRoundedAtRandom) {
  AdamWAttributes rounds;
  rounds.rounding_seed = 1;
  const TensorSpec narrow{{64, 96}}, wide{{64, 96}, DataType::float32};
  const auto make = [&](const TensorSpec& of) {
    return make_program(rounds, {of, of, of, of}, {of, of, of});
  };
  EXPECT_NO_THROW(make(narrow));
  EXPECT_THROW(make(wide), Error);
}

}  // namespace
}  // namespace howard::ops
