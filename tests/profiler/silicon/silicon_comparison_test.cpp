// SPDX-License-Identifier: Apache-2.0
// These tests compare logs, written here in the format of real ones, with the emulator.
#include "profiler/silicon/silicon_comparison.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "engines/chip/kernels/planner.h"
#include "engines/ops/tensor.h"
#include "reports/findings/silicon_report.h"
#include "tests/profiler/silicon/damaged_calls.h"

namespace howard::profiler {
namespace {

using testing::compared;
using testing::kNoTensor;
using testing::Row;
using testing::tensor;
using testing::why_not_emulated;

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

SimTime kernel_of_product(const MatmulAttributes& attributes, CoreGrid grid, std::int64_t rows) {
  const chip::Profiles profiles = chip::load_profiles();
  chip::EmulatedChip device(profiles);
  const ops::Tensor a(device, {{rows, 512}});
  const ops::Tensor b(device, {{512, 512}});
  const ops::Tensor out(device, {{rows, 512}});
  return plan_program(make_program(attributes, {a, b}, {out}), grid, profiles).kernel.total;
}

TEST(SiliconComparison, AProductTakesWhatTheDevicePlansOnTheLogsGrid) {
  Row row{.attributes =
              "{'transpose_b': 'true'; 'compute_kernel_config': "
              "'C(math_fidelity=HiFi4;fp32_dest_acc_en=1)'}",
          .fidelity = "HiFi4",
          .input0 = tensor(100, 512),
          .output = tensor(100, 512)};
  const MatmulAttributes attributes{
      .transpose_b = true, .compute = {.fidelity = MathFidelity::hifi4, .fp32_accumulation = true}};
  const SiliconComparison on56 = compared({row});
  ASSERT_EQ(on56.calls.size(), 1U);
  EXPECT_EQ(on56.calls[0].emulated, kernel_of_product(attributes, {8, 7}, 100));
  EXPECT_EQ(on56.calls[0].call, "matmul tb fp32");
  EXPECT_EQ(on56.calls[0].inputs, "100x512 bfloat16, 512x512 bfloat16");
  row.worker_cores = "64";
  EXPECT_EQ(compared({row}).calls.at(0).emulated, kernel_of_product(attributes, {8, 8}, 100));
  row.attributes = "{'worker_grid': '{[(x=0;y=0) - (x=3;y=6)]}'}";
  EXPECT_EQ(compared({row}).calls.at(0).grid, (CoreGrid{4, 7}));
}

TEST(SiliconComparison, RowsThatAskForTheSameAreOneCallWithSeveralRuns) {
  Row other;
  other.attributes = "{'bcast_batch': '1'}";  // it does not affect the time
  other.kernel = "40000";
  Row larger;
  larger.fidelity = "LoFi";
  const SiliconComparison found = compared({Row{}, other, larger, Row{}});
  ASSERT_EQ(found.calls.size(), 2U);
  ASSERT_EQ(found.calls[0].runs.size(), 3U);
  EXPECT_EQ(found.calls[0].runs[1].kernel, SimTime::microseconds(40));
  EXPECT_EQ(found.calls[1].fidelity, "LoFi");
}

TEST(SiliconComparison, ErrorsAreRelativeToTheMeasuredTime) {
  ComparedCall call{.grid = {8, 7},
                    .emulated = SimTime::microseconds(12),
                    .unshared = SimTime::microseconds(12),
                    .emulated_cores = 28};
  const MeasuredRun run{.kernel = SimTime::microseconds(10),
                        .start_skew = SimTime::microseconds(2)};
  EXPECT_DOUBLE_EQ(error_of(call, run), 0.2);
  // Half the cores start within half the skew.
  EXPECT_DOUBLE_EQ(error_with_skew(call, run), 0.3);
  call.unshared = SimTime::microseconds(10);
  EXPECT_DOUBLE_EQ(error_with_skew(call, run), 0.2) << "it hides in waiting for the DRAM";
}

TEST(SiliconComparison, AnOpTheEmulatorLacksIsNamedAndCounted) {
  Row unknown{.code = "NoSuchOp", .kernel = "500"};
  const SiliconComparison found = compared({unknown, Row{}, unknown});
  EXPECT_EQ(found.calls.size(), 1U);
  ASSERT_EQ(found.not_emulated.size(), 1U);
  EXPECT_EQ(found.not_emulated[0].code, "NoSuchOp");
  EXPECT_EQ(found.not_emulated[0].reason, "the emulator has no such op");
  EXPECT_EQ(found.not_emulated[0].runs, 2U);
  EXPECT_EQ(found.not_emulated[0].measured, SimTime::microseconds(1));
  EXPECT_EQ(found.not_emulated[0].first_line, 2U);
}

TEST(SiliconComparison, ACallThatCannotBeEmulatedSaysWhy) {
  const auto says = [](const Row& row, std::string_view part) {
    EXPECT_TRUE(contains(why_not_emulated(row), part)) << why_not_emulated(row);
  };
  EXPECT_EQ(why_not_emulated({}), "");
  says({.input0 = tensor(512, 512, "DEV_0_L1_ND_SHARDED")}, "DEV_0_L1_ND_SHARDED");
  says({.input0 = tensor(512, 512, "DEV_0_DRAM_INTERLEAVED", "INT32")}, "int32");
  says({.input0 = tensor(512, 512, "DEV_0_DRAM_INTERLEAVED", "INT9")}, "'int9'");
  says({.input0 = tensor(512, 96)}, "512x96");
  says({.input0 = kNoTensor, .input1 = kNoTensor}, "0 inputs");
  says({.output = kNoTensor}, "no output");
  says({.architecture = "blackhole"}, "another chip than blackhole");
  says({.fidelity = "HiFi9"}, "'HiFi9'");
  says({.worker_cores = "130"}, "130 worker cores");
  says({.attributes = "{'program_config': 'MatmulMultiCoreReuse(a=1)'}"},
       "a program_config without a grid");
  says({.attributes = "{'transpose_a': 'maybe'}"}, "'maybe'");
  Row zero;
  zero.input0 = "1[1],1[1],0[0],512[512],TILE,BFLOAT16,DEV_0_DRAM_INTERLEAVED";
  says(zero, "1x1x0x512");
  zero.input0 = "1[1],1[1],4.5,512[512],TILE,BFLOAT16,DEV_0_DRAM_INTERLEAVED";
  says(zero, "'4.5'");
  zero.input0 = "1[1],1[1],99999999999[99999999999],512[512],TILE,BFLOAT16,";
  says(zero, "99999999999");
  zero.input0 = tensor(16'777'216, 16'777'216);
  says(zero, "");
}

/// Returns the memory configuration of shards in L1, as ttnn prints it.
std::string shards_on(std::string_view layout, std::string_view last_core, std::string_view shape) {
  return fmt::format(
      "'MemoryConfig(memory_layout=TensorMemoryLayout::{}_SHARDED;buffer_type=BufferType::L1;"
      "shard_spec=ShardSpec(grid={{[(x=0;y=0) - {}]}};shape={{{}}};"
      "orientation=ShardOrientation::ROW_MAJOR);nd_shard_spec=std::nullopt)'",
      layout, last_core, shape);
}

/// Returns a tensor of [1, heads, rows, columns].
std::string heads(int heads, int rows, int columns, std::string_view memory) {
  return fmt::format("1[1],{}[{}],{}[{}],{}[{}],TILE,BFLOAT16,{}", heads, heads, rows, rows,
                     columns, columns, memory);
}

struct ShardedCall {
  Row row;
  std::string_view call;    ///< What it is on the emulator.
  std::string_view shards;  ///< Of its operands.
  int cores = 0;            ///< That work on the emulator.
};

constexpr std::string_view kWidth = "DEV_0_L1_WIDTH_SHARDED", kHeight = "DEV_0_L1_HEIGHT_SHARDED",
                           kBlock = "DEV_0_L1_BLOCK_SHARDED";

class ShardedCalls : public ::testing::TestWithParam<ShardedCall> {};

TEST_P(ShardedCalls, AreEmulatedOnTheShardsThatTheLogTells) {
  const ShardedCall& wanted = GetParam();
  Row row = wanted.row;
  row.worker_cores = "64";
  const SiliconComparison found = compared({row});
  ASSERT_EQ(found.calls.size(), 1U) << found.not_emulated.at(0).reason;
  EXPECT_EQ(found.calls[0].call, wanted.call);
  EXPECT_TRUE(contains(found.calls[0].inputs, wanted.shards)) << found.calls[0].inputs;
  EXPECT_EQ(found.calls[0].emulated_cores, wanted.cores);
}

std::vector<ShardedCall> rows_and_products() {
  return {
      // A norm's blocks tell its shards where the memory configuration does not.
      {.row = {.code = "LayerNorm",
               .attributes = "{'norm_type': 'LayerNormType::RMSNORM'; 'program_config': "
                             "'LayerNormShardedMultiCoreProgramConfig(compute_with_storage_grid_"
                             "size=(x=8;y=4);subblock_w=2;block_h=1;block_w=2;inplace=0)'}",
               .input0 = tensor(32, 2048, kWidth),
               .input1 = kNoTensor,
               .output = tensor(32, 2048, kWidth)},
       .call = "rms_norm",
       .shards = "width shards of 32x64 on 8x4 cores",
       .cores = 32},
      {.row = {.code = "SoftmaxDeviceOperation",
               .attributes =
                   "{'output_mem_config': " + shards_on("HEIGHT", "(x=7;y=3)", "128; 384") + "}",
               .input0 = tensor(4096, 384, kHeight),
               .input1 = tensor(1, 384),
               .output = tensor(4096, 384, kHeight)},
       .call = "softmax",
       .shards = "height shards of 128x384 on 8x4 cores",
       .cores = 32},
      {.row = {.code = "Reduce",
               .attributes = "{'dim': 'ReduceOpDim::H'; 'math_op': 'ReduceOpMath::SUM'; "
                             "'output_mem_config': " +
                             shards_on("WIDTH", "(x=1;y=0)", "64; 64") + "}",
               .input0 = tensor(64, 128, kWidth),
               .input1 = kNoTensor,
               .output = tensor(32, 128, kWidth)},
       .call = "sum rows",
       .shards = "width shards of 64x64 on 2x1 cores",
       .cores = 2},
      // A product without a configuration takes one from the shards.
      {.row = {.attributes = "{'program_config': 'std::nullopt'; 'output_mem_config': " +
                             shards_on("HEIGHT", "(x=7;y=1)", "32; 96") + "}",
               .input0 = tensor(512, 64, kHeight),
               .input1 = tensor(64, 96),
               .output = tensor(512, 96, kHeight)},
       .call = "matmul",
       .shards = "height shards of 32x64 on 8x2 cores",
       .cores = 16}};
}

std::vector<ShardedCall> decoding() {
  return {{.row = {.code = "RotaryEmbeddingLlamaDeviceOperation",
                   .input0 = heads(8, 32, 64, kHeight),
                   .input1 = heads(8, 32, 64, kHeight),
                   .output = heads(8, 32, 64, kHeight)},
           .call = "rotary_embedding pairs",
           .shards = "32x64",
           .cores = 8},
          {.row = {.code = "PagedUpdateCacheDeviceOperation",
                   .attributes = "{'op_type': 'PagedUpdateCacheOpType::UPDATE'}",
                   .input0 = "8[8],4[4],128[128],64[64],TILE,BFLOAT8_B,DEV_0_DRAM_INTERLEAVED",
                   .input1 = heads(8, 32, 64, kHeight),
                   .output = "8[8],4[4],128[128],64[64],TILE,BFLOAT8_B,DEV_0_DRAM_INTERLEAVED"},
           .call = "paged_update_cache",
           .shards = "8x32x64",
           .cores = 8},
          {.row = {.code = "ScaledDotProductAttentionDecode",
                   .attributes = "{'is_causal': 'true'; 'cur_pos': 'SmallVector([63; 127])'; "
                                 "'program_config': 'SDPAProgramConfig(k_chunk_size=64;"
                                 "max_cores_per_head_batch=4)'}",
                   .input0 = heads(2, 32, 64, "DEV_0_L1_INTERLEAVED"),
                   .input1 = "2[2],4[4],512[512],64[64],TILE,BFLOAT8_B,DEV_0_DRAM_INTERLEAVED",
                   .output = heads(2, 32, 64, "DEV_0_L1_INTERLEAVED")},
           .call = "decode_attention of 128",
           .shards = "2x4x512x64 bfloat8_b",
           .cores = 16},
          {.row = {.code = "NLPCreateHeadsDecodeDeviceOperation",
                   .attributes = "{'num_q_heads': '8'; 'num_kv_heads': '2'; 'head_dim': '64'}",
                   .input0 = tensor(8, 768, "DEV_0_L1_INTERLEAVED"),
                   .input1 = kNoTensor,
                   .output = heads(8, 32, 64, kHeight)},
           .call = "split_heads_decode",
           .shards = "8x768",
           .cores = 8}};
}

std::vector<ShardedCall> images() {
  return {
      // The halo lies before the operand of a convolution, and is left out of its size.
      {.row = {.code = "OptimizedConvNew",
               .attributes =
                   "{'activation': 'relu'; 'block_config': 'OptimizedConvBlockConfig("
                   "act_block_h_ntiles=2;act_block_w_ntiles=6)'; 'has_bias': 'false'; "
                   "'parallelization_config': 'OptimizedConvParallelizationConfig(grid_size="
                   "(x=8;y=8);num_cores_nhw=49;num_cores_c=1)'; 'sliding_window_config': "
                   "'SlidingWindowConfig(batch_size=1; input_hw=(56;56); window_hw=(3;3); "
                   "stride_hw=(1;1); pad_hw=(1;1); dilation_hw=(1;1); num_cores_nhw=49; "
                   "num_cores_c=1)'}",
               .input0 = "1[1],1[1],9114[9114],64[64],ROW_MAJOR,BFLOAT16," + std::string(kHeight),
               .input1 = tensor(576, 64, "DEV_0_DRAM_INTERLEAVED", "BFLOAT8_B"),
               .output = tensor(3136, 64, kHeight)},
       .call = "conv2d 3x3 of 1x56x56",
       .shards = "3136x64 bfloat16",
       .cores = 49},
      {.row = {.code = "UntilizeWithHaloV2",
               .attributes = "{'config_': 'SlidingWindowConfig(batch_size=2; input_hw=(14;14); "
                             "window_hw=(3;3); stride_hw=(2;2); padding=((1; 1); (1; 1)); "
                             "output_padding = (0; 0); dilation_hw=(1;1); num_cores_nhw=7; "
                             "num_cores_c=8; is_transpose=false)'}",
               .input0 = tensor(392, 256, kBlock),
               .input1 = kNoTensor,
               .output = "1[1],1[1],700[700],256[256],ROW_MAJOR,BFLOAT16," + std::string(kBlock)},
       .call = "halo 3x3/2 of 2x14x14",
       .shards = "392x256 bfloat16",
       .cores = 56},
      {.row = {.code = "MaxPool2D",
               .attributes = "{'pool_type_': 'Pool2DType::MAX_POOL2D'; 'sliding_window_config_': "
                             "'SlidingWindowConfig(batch_size=1; input_hw=(15;15); window_hw=(2;2);"
                             " stride_hw=(2;2); padding=((0; 0); (0; 0)); dilation_hw=(1;1); "
                             "num_cores_nhw=8; num_cores_c=1; ceil_mode=true)'}",
               .input0 = "1[1],1[1],225[225],64[64],ROW_MAJOR,BFLOAT16," + std::string(kHeight),
               .input1 = kNoTensor,
               .output = "1[1],1[1],64[64],64[64],ROW_MAJOR,BFLOAT16," + std::string(kHeight)},
       .call = "max_pool2d 2x2/2 of 1x15x15",
       .shards = "225x64 bfloat16",
       .cores = 8}};
}

INSTANTIATE_TEST_SUITE_P(Rows, ShardedCalls, ::testing::ValuesIn(rows_and_products()));
INSTANTIATE_TEST_SUITE_P(Decoding, ShardedCalls, ::testing::ValuesIn(decoding()));
INSTANTIATE_TEST_SUITE_P(Images, ShardedCalls, ::testing::ValuesIn(images()));

TEST(SiliconComparison, CeilModeMakesTheLastStopsWhole) {
  const Row pool = images().back().row;
  const std::string output = compared({pool}).calls.at(0).output;
  EXPECT_TRUE(output.starts_with("64x64 ")) << output << ": 8 stops on a side of 15, not 7";
}

TEST(SiliconComparison, SwappingTheFirstDimensionsMovesTiles) {
  Row row{.code = "Transpose",
          .attributes = "{'dim': 'TransposeOpDim::CN'}",
          .input0 = "4[4],8[8],64[64],64[64],TILE,BFLOAT16,DEV_0_DRAM_INTERLEAVED",
          .input1 = kNoTensor,
          .output = "8[8],4[4],64[64],64[64],TILE,BFLOAT16,DEV_0_DRAM_INTERLEAVED"};
  EXPECT_EQ(compared({row}).calls.at(0).call, "move");
  row.attributes = "{'dim': 'TransposeOpDim::NW'}";
  EXPECT_TRUE(contains(why_not_emulated(row), "'NW'"));
}

TEST(SiliconComparison, ElementwiseOpsAreTakenByTheirEnumerators) {
  Row row{.code = "BinaryNgDeviceOperation"};
  const auto with = [&](std::string_view attributes) {
    row.attributes = attributes;
    return row;
  };
  EXPECT_EQ(compared({with("{'binary_op_type': 'BinaryOpType::SUB'; 'scalar': 'std::nullopt'}")})
                .calls.at(0)
                .call,
            "subtract");
  EXPECT_TRUE(
      contains(why_not_emulated(with("{'binary_op_type': 'BinaryOpType::NONE'}")), "'NONE'"));
  EXPECT_EQ(compared({with("{'binary_op_type': 'BinaryOpType::GCD'}")}).calls.at(0).call, "gcd")
      << "by analogy";
  EXPECT_EQ(compared({with("{'binary_op_type': 'BinaryOpType::ADD'; 'post_activations': "
                           "'SmallVector([UnaryWithParam(op_type=UnaryOpType::RELU)])'}")})
                .calls.at(0)
                .call,
            "add +relu");
  EXPECT_EQ(compared({with("{'binary_op_type': 'BinaryOpType::ADD'; 'lhs_activations': "
                           "'SmallVector([UnaryWithParam(op_type=UnaryOpType::RELU)])'}")})
                .calls.at(0)
                .call,
            "add a:relu");
  row.code = "UnaryDeviceOperation";
  row.input1 = kNoTensor;
  EXPECT_EQ(
      compared({with("{'op_chain': '{U(op_type=UnaryOpType::ERF;param={0})}'}")}).calls.at(0).call,
      "erf");
  EXPECT_TRUE(
      contains(why_not_emulated(with("{'op_chain': '{U(op_type=UnaryOpType::EXP;param={1})}'}")),
               "approximate EXP"));
  EXPECT_EQ(
      compared({with("{'op_chain': '{U(op_type=UnaryOpType::GELU;param={1})}'}")}).calls.at(0).call,
      "gelu_approx");
  EXPECT_TRUE(
      contains(why_not_emulated(with("{'op_chain': '{U(op_type=UnaryOpType::NONE;param={0})}'}")),
               "'NONE'"));
  EXPECT_EQ(compared({with("{'op_chain': '{U(op_type=UnaryOpType::EXP) "
                           "U(op_type=UnaryOpType::ERF)}'}")})
                .calls.at(0)
                .call,
            "exp +erf");
  EXPECT_TRUE(contains(why_not_emulated(with("{}")), "no op_chain"));
  EXPECT_EQ(
      compared(
          {with("{'op_chain': '{UnaryWithParam(op_type=UnaryOpType::MUL_UNARY_SFPU;param={2})}'"
                "}")})
          .calls.at(0)
          .call,
      "multiply scalar");
}

TEST(SiliconComparison, SoftmaxAndNormsTakeTheTimeOfTheArithmeticThatTheLogSays) {
  for (const char* const code : {"SoftmaxDeviceOperation", "LayerNormDeviceOperation"}) {
    const auto emulated = [&](const char* attributes) {
      return compared({{.code = code,
                        .attributes = attributes,
                        .input0 = tensor(1024, 512),
                        .input1 = kNoTensor,
                        .output = tensor(1024, 512)}})
          .calls.at(0)
          .emulated;
    };
    const SimTime wide = emulated("{'compute_kernel_config': 'C(fp32_dest_acc_en=1)'}");
    const bool has_exp = std::string_view(code).starts_with("Softmax");
    const SimTime narrow = emulated("{'compute_kernel_config': 'C(fp32_dest_acc_en=0)'}");
    EXPECT_EQ(narrow < wide, has_exp) << "norms that are no shards take as long in bfloat16";
    EXPECT_EQ(
        emulated("{'compute_kernel_config': 'C(math_approx_mode=1;fp32_dest_acc_en=1)'}") < wide,
        has_exp);
  }
}

TEST(SiliconComparison, ProductsTakeLongerWhereTheLogSaysThatThePackerDoesNotAddPartialSums) {
  const auto emulated = [](const char* packer) {
    return compared({{.code = "MatmulDeviceOperation",
                      .attributes =
                          fmt::format("{{'compute_kernel_config': 'C(packer_l1_acc={})'}}", packer),
                      .input0 = tensor(2048, 2048),
                      .input1 = tensor(2048, 2048),
                      .output = tensor(2048, 2048)}})
        .calls.at(0)
        .emulated;
  };
  EXPECT_GT(emulated("0"), emulated("1"));
}

TEST(SiliconComparison, RowsWithoutAKernelTimeHostOpsAndSignpostsAreNoCalls) {
  const SiliconComparison found = compared({{.kernel = ""},
                                            {.kernel = "0"},
                                            {.kernel = "x"},
                                            {.code = "torch.add", .type = "python_fallback"},
                                            {.code = "step 1", .type = "signpost"}});
  EXPECT_TRUE(found.calls.empty());
  EXPECT_TRUE(found.not_emulated.empty());
  EXPECT_EQ(found.host_ops, 1U);
  EXPECT_EQ(found.dropped.count(), 3U);
}

TEST(SiliconComparison, AFirstVersionLogHasOneDimensionACellAndNoGrid) {
  const std::string text =
      "OP CODE,DEVICE FW START CYCLE,DEVICE KERNEL DURATION [ns],INPUT_0_W,INPUT_0_Z,INPUT_0_Y,"
      "INPUT_0_X,INPUT_0_LAYOUT,INPUT_0_DATATYPE,INPUT_0_MEMORY,OUTPUT_0_W,OUTPUT_0_Z,OUTPUT_0_Y,"
      "OUTPUT_0_X,OUTPUT_0_LAYOUT,OUTPUT_0_DATATYPE,OUTPUT_0_MEMORY\n"
      "SoftmaxDeviceOperation,1,2000,1,20,32,64,TILE,BFLOAT16,DEV_0_DRAM_INTERLEAVED,"
      "1,20,32,64,TILE,BFLOAT16,DEV_0_DRAM_INTERLEAVED\n"
      "UntilizeWithUnpadding,1,2000,1,1,32,1024,TILE,BFLOAT16,DEV_0_DRAM_INTERLEAVED,"
      "1,1,19,1000,ROW_MAJOR,BFLOAT16,DEV_0_DRAM_INTERLEAVED\n";
  TextBytes source(text);
  const SiliconComparison found = compare_with_silicon(source, "v1", chip::load_profiles());
  ASSERT_EQ(found.calls.size(), 2U);
  EXPECT_EQ(found.calls[1].inputs, "19x1000 bfloat16") << "sides of whole tiles";
  EXPECT_EQ(found.calls[0].inputs, "20x32x64 bfloat16");
  EXPECT_EQ(found.calls[0].grid, (CoreGrid{8, 8}));
  ASSERT_EQ(found.notes.size(), 2U);
  EXPECT_TRUE(contains(found.notes[0], "taken to be wormhole_b0"));
  EXPECT_TRUE(contains(found.notes[1], "taken to be 64"));
}

TEST(SiliconComparison, ALogWithoutANameIsRefusedWhenItsClockIsAnotherChips) {
  const std::string text =
      "OP CODE,AVAILABLE WORKER CORE COUNT,DEVICE FW START CYCLE,DEVICE FW END CYCLE,"
      "DEVICE FW DURATION [ns],DEVICE KERNEL DURATION [ns],INPUT_0_W,INPUT_0_Z,INPUT_0_Y,"
      "INPUT_0_X,INPUT_0_LAYOUT,INPUT_0_DATATYPE,INPUT_0_MEMORY,OUTPUT_0_W,OUTPUT_0_Z,OUTPUT_0_Y,"
      "OUTPUT_0_X,OUTPUT_0_LAYOUT,OUTPUT_0_DATATYPE,OUTPUT_0_MEMORY\n"
      "SoftmaxDeviceOperation,64,1000,14500,10000,9000,1,20,32,64,TILE,BFLOAT16,"
      "DEV_0_DRAM_INTERLEAVED,1,20,32,64,TILE,BFLOAT16,DEV_0_DRAM_INTERLEAVED\n";
  TextBytes source(text);
  const SiliconComparison found = compare_with_silicon(source, "p100", chip::load_profiles());
  EXPECT_TRUE(found.calls.empty());
  ASSERT_EQ(found.not_emulated.size(), 1U);
  EXPECT_TRUE(contains(found.not_emulated[0].reason, "another chip than blackhole"));
}

TEST(SiliconReport, OpsAreSummedAndTheRestIsListed) {
  const SiliconComparison found =
      compared({Row{}, Row{.kernel = "10000"}, Row{.code = "Unheard", .kernel = "5000"}});
  const std::vector<reports::Table> tables = reports::silicon_tables(found, "log", 5);
  ASSERT_EQ(tables.size(), 3U);
  EXPECT_EQ(tables[0].rows.front().cells[0].text, "Matmul");
  EXPECT_EQ(tables[0].rows.back().cells[0].text, "all");
  EXPECT_EQ(tables[0].rows.back().cells[1].text, "2");
  EXPECT_EQ(tables[2].rows.front().cells[0].text, "Unheard");
  ASSERT_FALSE(tables[0].notes.empty());
  EXPECT_EQ(tables[0].notes[0],
            "not emulated: 1 program, 11.1 % of the measured kernel time (last table)");
}

TEST(SiliconReport, EachCallIsAPointBesideItsMeasuredMedian) {
  const SiliconComparison found =
      compared({Row{}, Row{.kernel = "10000"}, Row{.code = "Unheard", .kernel = "5000"}});
  const harness::ExperimentResult result = reports::silicon_result(found, "log", {});
  ASSERT_EQ(result.points.size(), 2U);
  const harness::PointResult& point = result.points[0];
  EXPECT_DOUBLE_EQ(point.find_metric("measured")->value, 20e-6);
  EXPECT_EQ(point.find_metric("measured")->samples.size(), 2U);
  EXPECT_EQ(point.find_metric("emulated")->virtual_time, found.calls[0].emulated);
  EXPECT_DOUBLE_EQ(*point.relative_error(), found.calls[0].emulated.seconds() / 20e-6 - 1);
  EXPECT_EQ(result.points[1].skipped, "the emulator has no such op (1 run)");
}

}  // namespace
}  // namespace howard::profiler
