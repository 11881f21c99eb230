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
