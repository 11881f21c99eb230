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
#include "engines/ops/matmul.h"
#include "reports/findings/silicon_report.h"
#include "tests/profiler/silicon/damaged_calls.h"

namespace howard::profiler {
namespace {

using testing::kCallsHeader;
using testing::kNoTensor;
using testing::Row;
using testing::tensor;

SiliconComparison compare(const std::vector<Row>& rows) {
  std::string text(kCallsHeader);
  for (const Row& row : rows) text += row.text();
  TextBytes source(text);
  return compare_with_silicon(source, "ops.csv", chip::load_profiles());
}

/// Returns why a row is not emulated; empty if it is.
std::string reason(const Row& row) {
  const SiliconComparison found = compare({row});
  EXPECT_EQ(found.calls.size() + found.not_emulated.size(), 1U);
  return found.not_emulated.empty() ? "" : found.not_emulated[0].reason;
}

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

SimTime kernel_of_product(const MatmulAttributes& attributes, CoreGrid grid, std::int64_t rows) {
  const chip::Profiles profiles = chip::load_profiles();
  chip::EmulatedChip device(profiles);
  const ops::Tensor a(device, {{rows, 512}});
  const ops::Tensor b(device, {{512, 512}});
  const ops::Tensor out(device, {{rows, 512}});
  return plan_program(ops::matmul(a, b, out, attributes), grid, profiles).kernel.total;
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
  const SiliconComparison on56 = compare({row});
  ASSERT_EQ(on56.calls.size(), 1U);
  EXPECT_EQ(on56.calls[0].emulated, kernel_of_product(attributes, {8, 7}, 100));
  EXPECT_EQ(on56.calls[0].call, "matmul tb fp32");
  EXPECT_EQ(on56.calls[0].inputs, "100x512 bfloat16, 512x512 bfloat16");
  row.worker_cores = "64";
  EXPECT_EQ(compare({row}).calls.at(0).emulated, kernel_of_product(attributes, {8, 8}, 100));
  row.attributes = "{'worker_grid': '{[(x=0;y=0) - (x=3;y=6)]}'}";
  EXPECT_EQ(compare({row}).calls.at(0).grid, (CoreGrid{4, 7}));
}

TEST(SiliconComparison, RowsThatAskForTheSameAreOneCallWithSeveralRuns) {
  Row other;
  other.attributes = "{'bcast_batch': '1'}";  // it does not affect the time
  other.kernel = "40000";
  Row larger;
  larger.fidelity = "LoFi";
  const SiliconComparison found = compare({Row{}, other, larger, Row{}});
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
  Row unknown{.code = "TopK", .kernel = "500"};
  const SiliconComparison found = compare({unknown, Row{}, unknown});
  EXPECT_EQ(found.calls.size(), 1U);
  ASSERT_EQ(found.not_emulated.size(), 1U);
  EXPECT_EQ(found.not_emulated[0].code, "TopK");
  EXPECT_EQ(found.not_emulated[0].reason, "the emulator has no such op");
  EXPECT_EQ(found.not_emulated[0].runs, 2U);
  EXPECT_EQ(found.not_emulated[0].measured, SimTime::microseconds(1));
  EXPECT_EQ(found.not_emulated[0].first_line, 2U);
}

TEST(SiliconComparison, ACallThatCannotBeEmulatedSaysWhy) {
  const auto says = [](const Row& row, std::string_view part) {
    EXPECT_TRUE(contains(reason(row), part)) << reason(row);
  };
  EXPECT_EQ(reason({}), "");
  says({.input0 = tensor(512, 512, "DEV_0_L1_BLOCK_SHARDED")}, "DEV_0_L1_BLOCK_SHARDED");
  says({.input0 = tensor(512, 512, "DEV_0_DRAM_INTERLEAVED", "INT32")}, "'int32'");
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

TEST(SiliconComparison, ElementwiseOpsAreTakenByTheirEnumerators) {
  Row row{.code = "BinaryNgDeviceOperation"};
  const auto with = [&](std::string_view attributes) {
    row.attributes = attributes;
    return row;
  };
  EXPECT_EQ(compare({with("{'binary_op_type': 'BinaryOpType::SUB'; 'scalar': 'std::nullopt'}")})
                .calls.at(0)
                .call,
            "subtract");
  EXPECT_TRUE(contains(reason(with("{'binary_op_type': 'BinaryOpType::GCD'}")), "'GCD'"));
  EXPECT_EQ(compare({with("{'binary_op_type': 'BinaryOpType::ADD'; 'post_activations': "
                          "'SmallVector([UnaryWithParam(op_type=UnaryOpType::RELU)])'}")})
                .calls.at(0)
                .call,
            "add +relu");
  EXPECT_EQ(compare({with("{'binary_op_type': 'BinaryOpType::ADD'; 'lhs_activations': "
                          "'SmallVector([UnaryWithParam(op_type=UnaryOpType::RELU)])'}")})
                .calls.at(0)
                .call,
            "add a:relu");
  EXPECT_TRUE(contains(reason(with("{'binary_op_type': 'BinaryOpType::ADD'; 'scalar': '2'}")),
                       "not two operands"));
  row.code = "UnaryDeviceOperation";
  row.input1 = kNoTensor;
  EXPECT_EQ(
      compare({with("{'op_chain': '{U(op_type=UnaryOpType::ERF;param={0})}'}")}).calls.at(0).call,
      "erf");
  EXPECT_TRUE(contains(reason(with("{'op_chain': '{U(op_type=UnaryOpType::EXP;param={1})}'}")),
                       "approximate EXP"));
  EXPECT_EQ(
      compare({with("{'op_chain': '{U(op_type=UnaryOpType::GELU;param={1})}'}")}).calls.at(0).call,
      "gelu_approx");
  EXPECT_TRUE(contains(reason(with("{'op_chain': '{U(op_type=UnaryOpType::LGAMMA;param={0})}'}")),
                       "'LGAMMA'"));
  EXPECT_EQ(compare({with("{'op_chain': '{U(op_type=UnaryOpType::EXP) "
                          "U(op_type=UnaryOpType::ERF)}'}")})
                .calls.at(0)
                .call,
            "exp +erf");
  EXPECT_TRUE(contains(reason(with("{}")), "no op_chain"));
}

TEST(SiliconComparison, RowsWithoutAKernelTimeHostOpsAndSignpostsAreNoCalls) {
  const SiliconComparison found = compare({{.kernel = ""},
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
      "1,20,32,64,TILE,BFLOAT16,DEV_0_DRAM_INTERLEAVED\n";
  TextBytes source(text);
  const SiliconComparison found = compare_with_silicon(source, "v1", chip::load_profiles());
  ASSERT_EQ(found.calls.size(), 1U);
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
      compare({Row{}, Row{.kernel = "10000"}, Row{.code = "Unheard", .kernel = "5000"}});
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
      compare({Row{}, Row{.kernel = "10000"}, Row{.code = "Unheard", .kernel = "5000"}});
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
