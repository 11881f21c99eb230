// SPDX-License-Identifier: Apache-2.0
// What of a log's row is an operand, how large it is, and how many cores there were.
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "engines/chip/kernels/planner.h"
#include "profiler/silicon/silicon_comparison.h"
#include "tests/profiler/silicon/damaged_calls.h"

namespace howard::profiler {
namespace {

using testing::call_of;
using testing::compared;
using testing::kNoTensor;
using testing::Row;
using testing::tensor;
using testing::why_not_emulated;

bool says(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

TEST(LoggedOperands, ATensorGivenForTheResultIsNoOperand) {
  Row row{.code = "BinaryNgDeviceOperation",
          .attributes = "{'binary_op_type': 'BinaryOpType::ADD'; 'scalar': '1'}"};
  EXPECT_EQ(why_not_emulated(row), "") << "its second tensor has the result's shape";
  const SimTime given = compared({row}).calls.at(0).emulated;
  row.input1 = kNoTensor;
  EXPECT_EQ(compared({row}).calls.at(0).emulated, given);
  row.input1 = tensor(64, 512);
  EXPECT_TRUE(says(why_not_emulated(row), "not two operands"));
}

TEST(LoggedOperands, ASliceAndASumMayTakeThePaddingOfTilesAlong) {
  const std::string in = "1[1],32[32],32[5],4096[4096],TILE,BFLOAT16,DEV_0_DRAM_INTERLEAVED";
  Row slice{.code = "SliceDeviceOperation",
            .attributes = "{'slice_start': 'Shape([0; 0; 0; 0])'; 'step': 'Shape([1; 1; 1; 1])'}",
            .input0 = in,
            .input1 = kNoTensor,
            .output = "1[1],32[32],32[32],1024[1024],TILE,BFLOAT16,DEV_0_DRAM_INTERLEAVED"};
  EXPECT_EQ(why_not_emulated(slice), "");
  EXPECT_EQ(compared({slice}).calls.at(0).inputs, "32x32x4096 bfloat16");
  slice.output = "1[1],32[32],64[33],1024[1024],TILE,BFLOAT16,DEV_0_DRAM_INTERLEAVED";
  EXPECT_TRUE(says(why_not_emulated(slice), "within the tensor x"))
      << "there are 32 rows with padding";
  Row sum{.code = "FastReduceNCDeviceOperation",
          .attributes = "{'dim': '1'}",
          .input0 = in,
          .input1 = kNoTensor,
          .output = "1[1],1[1],32[32],4096[4096],TILE,BFLOAT16,DEV_0_DRAM_INTERLEAVED"};
  EXPECT_EQ(why_not_emulated(sum), "");
  sum.output = "1[1],1[1],32[6],4096[4096],TILE,BFLOAT16,DEV_0_DRAM_INTERLEAVED";
  EXPECT_TRUE(says(why_not_emulated(sum), "one dimension that shrinks"));
}

/// Returns the call of a row of 2024, whose sides are those of whole tiles, with its kernel's file.
ComparedCall call_of_2024(std::string_view first, std::string_view second,
                          std::string_view kernel) {
  std::string text =
      "OP CODE,ATTRIBUTES,CORE COUNT,DEVICE FW START CYCLE,DEVICE KERNEL DURATION [ns]";
  for (const std::string_view one : {"INPUT_0", "INPUT_1", "OUTPUT_0"}) {
    for (const std::string_view cell : {"W", "Z", "Y", "X", "LAYOUT", "DATATYPE", "MEMORY"}) {
      text += "," + std::string(one) + "_" + std::string(cell);
    }
  }
  const auto cells = [](std::string_view sides) {
    return "," + std::string(sides) + ",TILE,BFLOAT16,DEV_0_DRAM_INTERLEAVED";
  };
  text +=
      ",COMPUTE KERNEL PATH\nBinaryDeviceOperation,{'binary_op_type': 'BinaryOpType::ADD'},56,1000,"
      "9000" +
      cells(first) + cells(second) + cells(first) + ",['bcast/" + std::string(kernel) + ".cpp']\n";
  TextBytes source(text);
  const SiliconComparison found = compare_with_silicon(source, "old", chip::load_profiles());
  return found.calls.empty() ? ComparedCall{} : found.calls.front();
}

TEST(LoggedOperands, OneRowOrColumnThatIsRepeatedIsPaddedInLogsOf2024) {
  EXPECT_EQ(call_of_2024("1,4,384,2304", "1,1,32,2304", "bcast_h").inputs,
            "4x384x2304 bfloat16, 1x2304 bfloat16");
  EXPECT_EQ(call_of_2024("1,4,384,2304", "1,1,32,2304", "bcast_h").emulated_cores, 12);
  EXPECT_EQ(call_of_2024("4,12,384,64", "1,1,32,32", "bcast_hw").inputs,
            "4x12x384x64 bfloat16, 1x1 bfloat16");
  // A column of a tensor that is one tile wide is told by its kernel alone.
  EXPECT_EQ(call_of_2024("1,384,768,32", "1,384,768,32", "bcast_w").inputs,
            "384x768x32 bfloat16, 384x768x1 bfloat16");
  EXPECT_EQ(call_of_2024("1,384,768,32", "1,384,768,32", "bcast_w").emulated_cores, 1);
  EXPECT_EQ(call_of_2024("1,384,768,32", "1,384,768,32", "eltwise_binary").inputs,
            "384x768x32 bfloat16, 384x768x32 bfloat16");
}

TEST(LoggedOperands, RowsInShardsOfWholeTilesAreComputedAsTiles) {
  const auto relu = [](int rows, std::string_view layout) {
    const std::string cells =
        "1[1],1[1],3584[3584],32[32]," + std::string(layout) + ",BFLOAT16,DEV_0_L1_HEIGHT_SHARDED";
    return Row{.code = "UnaryDeviceOperation",
               .attributes =
                   "{'op_chain': '{UnaryWithParam(op_type=UnaryOpType::RELU;param={})}'; "
                   "'output_memory_config': 'MemoryConfig(memory_layout="
                   "TensorMemoryLayout::HEIGHT_SHARDED;buffer_type=BufferType::L1;"
                   "shard_spec=ShardSpec(grid={[(x=0;y=0) - (x=7;y=6)]};shape={" +
                   std::to_string(rows) + "; 32};orientation=ShardOrientation::ROW_MAJOR))'}",
               .input0 = cells,
               .input1 = kNoTensor,
               .output = cells};
  };
  EXPECT_EQ(why_not_emulated(relu(64, "ROW_MAJOR")), "");
  EXPECT_EQ(compared({relu(64, "ROW_MAJOR")}).calls.at(0).emulated,
            compared({relu(64, "TILE")}).calls.at(0).emulated);
  EXPECT_TRUE(says(why_not_emulated(relu(72, "ROW_MAJOR")), "row-major"));
}

TEST(LoggedOperands, AFunctionThatTheConfigurationDoesNotFuseIsAProgramOfItsOwn) {
  const auto call = [](std::string_view asked, std::string_view fused) {
    return call_of(
               {.attributes = "{'program_config': 'MatmulMultiCoreReuseMultiCast1DProgramConfig("
                              "compute_with_storage_grid_size=(x=8;y=7);in0_block_w=2;"
                              "out_subblock_h=1;out_subblock_w=1;per_core_M=16;per_core_N=1;"
                              "fuse_batch=1;fused_activation=" +
                              std::string(fused) + ";mcast_in0=1)'; 'user_fused_activation': '" +
                              std::string(asked) + "'}"})
        .call;
  };
  constexpr std::string_view kSilu = "UnaryWithParam(op_type=UnaryOpType::SILU;param={})";
  EXPECT_FALSE(says(call(kSilu, "std::nullopt"), "silu"));
  EXPECT_TRUE(says(call("std::nullopt", kSilu), "+silu"));
  EXPECT_TRUE(
      says(call_of({.attributes = "{'user_fused_activation': '" + std::string(kSilu) + "'}"}).call,
           "+silu"))
      << "without a configuration ttnn fuses it";
}

TEST(LoggedOperands, PaddingIsFilledAndPlacesOf16BitsAreTaken) {
  Row fill{.code = "FillPadDeviceOperation",
           .attributes = "{'fill_value': '0'}",
           .input0 = "1[1],4[4],32[1],2880[2880],TILE,BFLOAT16,DEV_0_DRAM_INTERLEAVED",
           .input1 = kNoTensor,
           .output = "1[1],4[4],32[1],2880[2880],TILE,BFLOAT16,DEV_0_DRAM_INTERLEAVED"};
  EXPECT_EQ(why_not_emulated(fill), "");
  EXPECT_EQ(compared({fill}).calls.at(0).inputs, "360x32x32 bfloat16") << "all have padding";
  fill.input0 = fill.output = "1[1],4[4],64[40],2880[2880],TILE,BFLOAT16,DEV_0_DRAM_INTERLEAVED";
  EXPECT_EQ(compared({fill}).calls.at(0).inputs, "360x32x32 bfloat16") << "the last rows of tiles";
  fill.input0 = fill.output = "1[1],4[4],64[40],2880[2860],TILE,BFLOAT16,DEV_0_DRAM_INTERLEAVED";
  EXPECT_EQ(compared({fill}).calls.at(0).inputs, "364x32x32 bfloat16") << "and columns";
  const auto cells = [](int columns, std::string_view type) {
    return "1[1],1[1],1[1]," + std::to_string(columns) + "[" + std::to_string(columns) +
           "],ROW_MAJOR," + std::string(type) + ",DEV_0_DRAM_INTERLEAVED";
  };
  EXPECT_TRUE(says(why_not_emulated({.code = "ScatterDeviceOperation",
                                     .attributes = "{'dim': '1'}",
                                     .input0 = cells(32, "BFLOAT16"),
                                     .input1 = cells(4, "UINT16"),
                                     .output = cells(32, "BFLOAT16")}),
                   "operand 3, source, is missing"))
      << "and the places are taken";
}

TEST(LoggedOperands, ANormOf2026ReadsLongRowsAgain) {
  const auto time = [](std::string_view config) {
    const std::string x = "1[1],32[32],32[5],4096[4096],TILE,BFLOAT16,DEV_0_DRAM_INTERLEAVED";
    return call_of(
               {.code = "LayerNormDeviceOperation",
                .attributes = "{'norm_type': 'LayerNormType::RMSNORM'; 'compute_kernel_config': "
                              "'ComputeKernelConfig(math_fidelity=HiFi4;fp32_dest_acc_en=1)'; "
                              "'program_config': 'LayerNormDefaultProgramConfig(" +
                              std::string(config) + ")'}",
                .input0 = x,
                .input1 = "1[1],1[1],32[1],4096[4096],TILE,BFLOAT16,DEV_0_DRAM_INTERLEAVED",
                .output = x})
        .emulated;
  };
  EXPECT_GT(time("legacy_reduction=0;use_welford=0"), time("use_welford=0"));
}

TEST(LoggedOperands, AnAttributeThatNothingReadsIsSaid) {
  const auto notes = [](const std::string& attributes) {
    const Row row{.attributes = attributes};
    std::string text;
    for (const std::string& note : compared({row, row}).notes) text += note + "\n";
    return text;
  };
  EXPECT_EQ(notes("{'transpose_b': 'false'; 'output_mem_config': 'MemoryConfig(x=1)'}"), "");
  EXPECT_TRUE(
      says(notes("{'transpose_b': 'false'; 'novel_kernel': 'true'}"),
           "nothing reads, on which times may depend (programs): novel_kernel of Matmul (2)"));
  EXPECT_EQ(notes("{'novel_kernel': 'false'}"), "") << "it is off";
}

TEST(LoggedOperands, ALogWithoutAGridHasTheOneThatItsBusiestOpUses) {
  // The last row tells that there were 56 cores, which dispatch by worker cores leaves.
  const auto log = [](std::string_view most) {
    const std::string operand = ",1,1,64,2048,TILE,BFLOAT16,DEV_0_DRAM_INTERLEAVED";
    const std::string call = "SoftmaxDeviceOperation,1,2000,";
    return "OP CODE,DEVICE FW START CYCLE,DEVICE KERNEL DURATION [ns],CORE COUNT,INPUT_0_W,"
           "INPUT_0_Z,INPUT_0_Y,INPUT_0_X,INPUT_0_LAYOUT,INPUT_0_DATATYPE,INPUT_0_MEMORY,"
           "OUTPUT_0_W,OUTPUT_0_Z,OUTPUT_0_Y,OUTPUT_0_X,OUTPUT_0_LAYOUT,OUTPUT_0_DATATYPE,"
           "OUTPUT_0_MEMORY\n" +
           call + "2" + operand + operand + "\n" + call + std::string(most) + operand + operand +
           "\n";
  };
  const auto grid = [&](std::string_view most) {
    const std::string text = log(most);
    TextBytes source(text);
    const SiliconComparison found = compare_with_silicon(source, "old", chip::load_profiles());
    EXPECT_TRUE(says(found.notes.back(), "does not say how many cores there were"));
    return found.calls.at(0).grid;
  };
  EXPECT_EQ(grid("56"), (CoreGrid{8, 7}));
  EXPECT_EQ(grid("64"), (CoreGrid{8, 8}));
  EXPECT_EQ(grid("48"), (CoreGrid{8, 8})) << "no way of dispatch leaves 48";
}

}  // namespace
}  // namespace howard::profiler
