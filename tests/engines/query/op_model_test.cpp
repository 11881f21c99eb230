// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

#include "base/error.h"
#include "engines/query/op.h"

namespace howard::query {
namespace {

const OpModel& n300() {
  static const OpModel model({.eth_dispatch = true});
  return model;
}

OpAnswer ask(const std::string& call) { return *n300().answer(parse_call(call)); }

/// What a call takes on each core: circular buffers, tensors, and both at once.
struct L1 {
  std::int64_t buffers, tensors, peak;
  friend bool operator==(const L1&, const L1&) = default;
  friend std::ostream& operator<<(std::ostream& to, const L1& l1) {
    return to << l1.buffers << " " << l1.tensors << " " << l1.peak;
  }
};
L1 l1_of(const std::string& call) {
  const OpAnswer answer = ask(call);
  EXPECT_TRUE(answer.legal) << answer.reason;
  EXPECT_TRUE(answer.exact_buffers) << call;
  return {answer.circular_buffers.value(), answer.tensors.value(), answer.peak.value()};
}

// The sizes follow from the program factories of tt-metal (November 2025): a tile of bfloat16 has
// 2048 bytes, one of float32 4096; 64 cores share interleaved tensors.

TEST(OpModel, ElementwiseBuffersHoldTwoTilesOfEachTensor) {
  EXPECT_EQ(l1_of(R"({"op":"exp","in":"128x1024","out":"128x1024 l1"})"), (L1{8192, 4096, 12288}));
  EXPECT_EQ(l1_of(R"({"op":"add","in":["128x1024","128x1024"]})"), (L1{12288, 0, 12288}));
  EXPECT_EQ(l1_of(R"({"op":"bitwise_not","in":"64x64 uint32","out":"64x64 uint32"})").buffers,
            16384);
  EXPECT_EQ(l1_of(R"({"op":"typecast","in":"64x64","out":"64x64 float32 l1"})"),
            (L1{12288, 4096, 16384}));
}

TEST(OpModel, ShardsAreBuffersByThemselves) {
  EXPECT_EQ(
      l1_of(R"({"op":"relu","in":"4096x64 height:8x8:64x64","out":"4096x64 height:8x8:64x64"})"),
      (L1{0, 8192, 8192}));
}

TEST(OpModel, UnaryOpsOf2025KeepTheirMemoryLayout) {
  const OpAnswer answer =
      ask(R"({"op":"relu","in":"4096x64 l1","out":"4096x64 height:8x8:64x64"})");
  EXPECT_FALSE(answer.legal);
  EXPECT_NE(answer.reason.find("Input and Output memory layout to match"), std::string::npos)
      << answer.reason;
}

TEST(OpModel, ReductionsHaveAScalerAndKnowTheRank) {
  EXPECT_EQ(l1_of(R"({"op":"mean","dims":[-1],"in":"96x512","out":"96x1"})").buffers, 12288);
  const OpAnswer answer = ask(R"({"op":"sum","dims":[2],"in":"96x512"})");
  EXPECT_FALSE(answer.legal);
  EXPECT_NE(answer.reason.find("dims are from -2 to 1"), std::string::npos) << answer.reason;
}

TEST(OpModel, MatmulTakesItsDefaultConfigurationByWhereOperandsLie) {
  // 8x8 tiles a core, all of K in steps of 8: 2 * 64 and 2 * 64 tiles come in, 64 go out.
  const std::string square = R"("in":["2048x2048","2048x2048"])";
  EXPECT_EQ(l1_of(R"({"op":"matmul",)" + square + "}").buffers, 320 * 2048);
  // With an operand or the result in L1: blocks of 16x16 tiles and steps of 2.
  EXPECT_EQ(l1_of(R"({"op":"matmul",)" + square + R"(,"out":"2048x2048 l1"})"),
            (L1{384 * 2048, 131072, 384 * 2048 + 131072}));
  const OpAnswer answer = ask(R"({"op":"matmul",)" + square + R"(,"out":"2048x2048 l1"})");
  EXPECT_NE(answer.matmul_config.find("per_core_M=16"), std::string::npos) << answer.matmul_config;
}

TEST(OpModel, ABiasThatIsNoRowIsAddedByAProgramOfItsOwn) {
  const std::string factors = R"({"op":"linear","in":["2048x2048","2048x2048",)";
  // The product's buffers stay until those of the sum come, whose result is there before.
  EXPECT_EQ(l1_of(factors + R"("2048x2048"],"out":"2048x2048 l1"})"),
            (L1{786432, 262144, 1048576}));
  // A bias in L1 leaves less than blocks of 16x16 tiles need: they have 8x8.
  EXPECT_EQ(l1_of(factors + R"("2048x2048 l1"],"out":"2048x2048 l1"})"),
            (L1{262144, 262144, 524288}));
  EXPECT_EQ(ask(factors + R"("1x2048"]})").launches, 1);
}

TEST(OpModel, NormsHoldARowAndTheirWeights) {
  // A row of 6 tiles in blocks of 6: the row, 12 of the result, 6 squares, 14 others; with gamma 12
  // between, and 6.
  EXPECT_EQ(l1_of(R"({"op":"rms_norm","in":["64x192"]})").buffers, 38 * 2048);
  EXPECT_EQ(l1_of(R"({"op":"rms_norm","in":["64x192","192"]})").buffers, 56 * 2048);
  // layer_norm has two tiles of means and a row of differences more.
  EXPECT_EQ(l1_of(R"({"op":"layer_norm","in":["64x192"]})").buffers, 46 * 2048);
  EXPECT_FALSE(ask(R"({"op":"rms_norm","in":["64x192","224"]})").legal);
}

TEST(OpModel, BatchNormNeedsStatisticsUnlessItTrains) {
  const std::string x = R"({"op":"batch_norm","in":["1x8x64x64")";
  const std::string each = R"(,"1x8x1x1","1x8x1x1","1x8x1x1","1x8x1x1"])";
  EXPECT_EQ(l1_of(x + each + "}").buffers, 18 * 2048);
  EXPECT_EQ(l1_of(x + R"(],"training":true})").buffers, 24 * 2048);
  EXPECT_FALSE(ask(x + "]}").legal);
  EXPECT_FALSE(ask(x + R"(,"8","8"]})").legal) << "statistics are of four dimensions";
}

TEST(OpModel, TensorsAreBroughtIntoRowsAndTilesOnTheWay) {
  EXPECT_EQ(l1_of(R"({"op":"to_layout","in":"64x256","out":"64x256 row_major"})").buffers, 32768);
  // Rows of the table, what is found in it, and the same in tiles: both results are alive at once.
  const OpAnswer answer =
      ask(R"({"op":"embedding","in":["1x512 uint32 row_major","64x256"],"out":"512x256 l1"})");
  EXPECT_EQ(answer.launches, 3);
  EXPECT_EQ(answer.circular_buffers.value(), 32768);
  EXPECT_EQ(answer.tensors.value(), 2 * 4096);
}

TEST(OpModel, IndicesOfTwoBytesTakeHalfTheBuffer) {
  const auto buffers = [](const std::string& indices) {
    return l1_of(R"({"op":"embedding_backward","in":["1x64 )" + indices +
                 R"( row_major","64x2048"],"out":"128x2048"})")
        .buffers;
  };
  // One of the 64 tiles of columns a core: of the gradient, of the table, of their sum.
  EXPECT_EQ(buffers("uint32"), 3 * 2048 + 128 + 48);
  EXPECT_EQ(buffers("bfloat16"), 3 * 2048 + 64 + 48);
}

TEST(OpModel, MemoryBeyondL1IsRefusedInTtMetalsWords) {
  const OpAnswer row =
      ask(R"({"op":"embedding","in":["1x32 uint32 row_major","4x1048576 row_major"],
                               "out":"32x1048576 row_major"})");
  EXPECT_FALSE(row.legal);
  EXPECT_NE(row.reason.find("which is beyond max L1 size of 1499136 B"), std::string::npos)
      << row.reason;
  const OpAnswer clash = ask(R"({"op":"matmul","in":["2048x2048","2048x2048"],"live":[1000000]})");
  EXPECT_TRUE(clash.legal) << "smaller blocks: " << clash.reason;
  EXPECT_LT(clash.circular_buffers.value(), 396928);
  const OpAnswer both = ask(R"({"op":"exp","in":"64x64","live":[{"bytes":64,"address":100000}]})");
  EXPECT_FALSE(both.legal);
  EXPECT_NE(both.reason.find("clash with L1 buffers"), std::string::npos) << both.reason;
  const OpAnswer tensor = ask(R"({"op":"exp","in":"65536x2048","out":"65536x2048 l1"})");
  EXPECT_NE(tensor.reason.find("Out of Memory"), std::string::npos) << tensor.reason;
}

TEST(OpModel, BanksHaveWholePages) {
  // tt-metal rounds the pages of a bank up: 40960 pages of 4096 bytes over 12 banks.
  EXPECT_EQ(bank_bytes({{4096, 10240}, DataType::float32}, 12, Bytes(32)).value(), 13'983'744);
  EXPECT_EQ(bank_bytes({{100, 7}, DataType::bfloat16, Layout::row_major}, 8, Bytes(64)).value(),
            13 * 64);
}

TEST(OpModel, AnswersHaveTimesAndWhatTheyRestOn) {
  const OpAnswer answer = ask(R"({"op":"matmul","in":["512x512","512x1024"]})");
  EXPECT_GT(answer.kernel, SimTime());
  EXPECT_GT(answer.dispatch, SimTime());
  EXPECT_GT(answer.host, SimTime());
  EXPECT_GT(answer.expected_error, 0);
  EXPECT_EQ(answer.rests_on, "calibrated");
  EXPECT_FALSE(answer.bound_by.empty());
  ASSERT_EQ(answer.outputs.size(), 1U);
  EXPECT_EQ(answer.outputs[0].shape.text(), "512x1024");
  EXPECT_EQ(answer.dram_of_bank.value(), 43 * 2048);
}

TEST(OpModel, ConfigurationsFitTheirShards) {
  const auto reason = [](const std::string& op, const std::string& config) {
    const std::string x = "\"1792x1024 block:8x7:256x128\"";
    return ask("{\"op\":\"" + op + "\",\"in\":" + x + ",\"out\":" + x +
               ",\"program_config\":\"Config(compute_with_storage_grid_size=" + config + ")\"}")
        .reason;
  };
  EXPECT_EQ(reason("layer_norm", "(x=8;y=7);subblock_w=4;block_h=8;block_w=4"), "");
  EXPECT_EQ(reason("layer_norm", "(x=8;y=7);subblock_w=3;block_h=8;block_w=4"),
            "block_w (4) must be divisible by subblock_w (3)");
  EXPECT_EQ(reason("rms_norm", "(x=8;y=7);subblock_w=4;block_h=4;block_w=4"),
            "block_h (4) * TILE_HEIGHT must be the shard's height: 256");
  EXPECT_EQ(reason("softmax", "(x=8;y=7);subblock_w=2;block_h=8;block_w=2"),
            "block_w (2) * TILE_WIDTH must be the shard's width: 128");
  EXPECT_EQ(reason("softmax", "(x=9;y=9);subblock_w=4;block_h=8;block_w=4"),
            "compute_with_storage_grid_size 9x9 is larger than the 8x8 cores that there are");
}

TEST(OpModel, AGivenConfigurationOfAProductIsTaken) {
  const auto asked = [](const std::string& step) {
    return ask(
        "{\"op\":\"matmul\",\"in\":[\"256x256\",\"256x256\"],\"program_config\":"
        "\"MatmulMultiCoreReuseMultiCastProgramConfig(compute_with_storage_grid_size=(x=4;"
        "y=4);in0_block_w=" +
        step +
        ";out_subblock_h=1;out_subblock_w=2;per_core_M=2;per_core_N=2;transpose_mcast=0)\"}");
  };
  const OpAnswer answer = asked("2");
  EXPECT_TRUE(answer.legal) << answer.reason;
  EXPECT_NE(answer.matmul_config.find("in0_block_w=2"), std::string::npos) << answer.matmul_config;
  EXPECT_NE(asked("3").reason.find("Kt must be divisible by in0_block_w"), std::string::npos);
}

TEST(OpModel, SettingsChooseTheRulesOfTheSoftware) {
  const OpModel later({.settings = {"matmul.legacy_selection=0count"}, .eth_dispatch = true});
  const OpCall call = parse_call(R"({"op":"matmul","in":["2048x4096","4096x4096"]})");
  EXPECT_NE(later.answer(call)->matmul_config, n300().answer(call)->matmul_config);
}

TEST(OpModel, WhatNobodyKnowsIsAnAnswerToo) {
  EXPECT_FALSE(ask(R"({"op":"fly","in":"32x32"})").legal);
  EXPECT_FALSE(ask(R"({"op":"matmul","in":["32x32"]})").legal);
  EXPECT_FALSE(ask(R"({"op":"matmul","in":["32x32","64x32"]})").legal);
  EXPECT_THROW(static_cast<void>(parse_call("{}")), Error);
  EXPECT_THROW(static_cast<void>(parse_call("[1")), Error);
  EXPECT_THROW(OpModel({.chip = "grayskull"}), Error);
}

TEST(OpModel, ThreadsGetTheSameAnswers) {
  const OpModel model;
  std::vector<OpCall> calls;
  for (int i = 1; i <= 64; ++i) {
    const TensorSpec x{{32 * i, 256}};
    calls.push_back({.op = i % 2 == 0 ? "gelu" : "softmax", .inputs = {x}});
  }
  std::vector<std::shared_ptr<const OpAnswer>> first, second;
  std::thread other([&] { second = model.answers(calls); });
  first = model.answers(calls);
  other.join();
  const auto again = model.answers(calls);
  for (std::size_t i = 0; i < calls.size(); ++i) {
    EXPECT_EQ(first[i]->kernel, second[i]->kernel);
    EXPECT_EQ(first[i]->peak, again[i]->peak);
  }
}

}  // namespace
}  // namespace howard::query
