// SPDX-License-Identifier: Apache-2.0
#include "experiments/logs/log_workload.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "profiler/silicon/silicon_comparison.h"
#include "tests/profiler/silicon/logged_ops.h"

namespace howard::experiments {
namespace {

using profiler::testing::Op;

chip::Profiles chip_named(const std::string& name) {
  return chip::load_profiles({.profiles = {name}, .settings = {}});
}

/// Returns a log of two runs, of which the second is of a Blackhole.
profiler::Log log_of_two_chips() {
  std::string text(profiler::testing::kOpsHeader);
  text += Op{.call = 1, .start = 1'000'000, .kernel = 30'000}.text();
  text += Op{.call = 2, .start = 1'100'000, .kernel = 31'000}.text();
  std::string other = Op{.call = 1, .start = 100'000, .kernel = 9'000}.text();
  const std::string chip = "wormhole_b0";
  other.replace(other.find(chip), chip.size(), "blackhole");
  text += other;
  profiler::TextBytes source(text);
  return profiler::read_ops_csv(source, "ops.csv", {.tensors = profiler::Tensors::read});
}

TEST(LogWorkload, OfALogOfTwoChipsIsThatOfTheEmulatedOne) {
  const profiler::Log log = log_of_two_chips();
  const LogWorkload wormhole = log_workload(log, "ops.csv", chip_named("wormhole_b0_n300"));
  EXPECT_EQ(wormhole.order.size(), 2U);
  EXPECT_EQ(wormhole.kernels, SimTime::microseconds(61));
  EXPECT_EQ(wormhole.kernels_left, SimTime());
  const LogWorkload blackhole = log_workload(log, "ops.csv", chip_named("blackhole_p150"));
  EXPECT_EQ(blackhole.order.size(), 1U);
  EXPECT_EQ(blackhole.kernels, SimTime::microseconds(9));
}

TEST(LogWorkload, LeavesOutWhatHasNoRoomOnACoreAndSaysSo) {
  Op product{.kernel = 700'000,
             .attributes =
                 "{'program_config': "
                 "'MatmulMultiCoreReuseMultiCastDRAMShardedProgramConfig(in0_block_w=16;"
                 "per_core_M=1;per_core_N=128;fused_activation=std::nullopt)'}",
             .in0 = "1,1,32,4096",
             .in1 = "1,1,4096,32768",
             .out = "1,1,32,32768",
             .memory = "DEV_0_L1_WIDTH_SHARDED",
             .in1_memory = "DEV_0_DRAM_WIDTH_SHARDED"};
  const profiler::Log log =
      profiler::testing::read({product, Op{.call = 2, .start = 900'000, .kernel = 30'000}});
  const LogWorkload workload = log_workload(log, "ops.csv", chip_named("wormhole_b0_n150"));
  EXPECT_EQ(workload.order.size(), 1U);
  ASSERT_EQ(workload.left.size(), 1U);
  EXPECT_NE(workload.left.begin()->first.find("circular buffers need"), std::string::npos)
      << workload.left.begin()->first;
}

TEST(LogWorkload, WhatItsProductsHaveAlreadyIsNotTried) {
  const auto box = std::make_shared<const DevBox>(chip::load_constants(), host::HostOptions{}, 1);
  const auto reasons = [&](const std::vector<std::string>& fidelities,
                           const std::vector<std::string>& axes) {
    std::vector<Op> ops;
    for (const std::string& fidelity : fidelities) {
      const auto call = static_cast<int>(ops.size()) + 1;
      ops.push_back({.call = call, .start = call * 90'000, .kernel = 30'000, .fidelity = fidelity});
    }
    const LogWorkload workload =
        log_workload(profiler::testing::read(ops), "ops.csv", chip_named("wormhole_b0_n300"));
    const auto experiment = log_experiment(box, workload);
    std::string untried;
    for (const auto& [what, reason] :
         explain_log(*box, {.axes = axes}, *experiment, workload).untried) {
      if (what.starts_with("math fidelity")) untried += what + ": " + reason + "\n";
    }
    return untried;
  };
  EXPECT_EQ(reasons({"HiFi2", "HiFi2"}, {}), "math fidelity HiFi2: its products have it already\n");
  EXPECT_EQ(reasons({"HiFi2", "HiFi4"}, {}), "");
  EXPECT_EQ(reasons({"HiFi2"}, {"fidelity=LoFi"}), "math fidelity LoFi: it is so already\n");
}

/// Returns the text of a log in which a product was captured and then replayed twice.
std::string text_of_replays() {
  const std::string_view base = profiler::testing::kOpsHeader;
  std::string text(base.substr(0, base.size() - 1));
  text += ",METAL TRACE ID,METAL TRACE REPLAY SESSION ID,PROGRAM CACHE HIT\n";
  const auto row = [&](const Op& op, std::string_view ending) {
    std::string line = op.text();
    line.pop_back();
    text += line + std::string(ending);
  };
  const std::string tile = "1,1,32,32";  // next to nothing, so that the host's calls are longer
  Op op{.call = 1, .host = 100, .start = 777, .kernel = 0, .in0 = tile, .in1 = tile, .out = tile};
  std::string capture = op.text();
  const std::string times = ",777,1277,500,0,";
  capture.replace(capture.find(times), times.size(), ",,,,,");
  capture.pop_back();
  text += capture + ",,,False\n";
  op.kernel = 3'000;
  op.start = 1'000'000;
  row(op, ",0,1,False\n");
  op.start = 1'050'000;
  row(op, ",0,2,False\n");
  return text;
}

TEST(LogWorkload, AReplayIsAReplayAndItsCaptureRanNothing) {
  const std::string text = text_of_replays();
  profiler::TextBytes source(text);
  const profiler::Log log =
      profiler::read_ops_csv(source, "ops.csv", {.tensors = profiler::Tensors::read});
  EXPECT_EQ(log.dropped.count(), 0U) << "the capture is no row that is missing";
  ASSERT_EQ(log.runs.size(), 1U);
  ASSERT_EQ(log.runs[0].host_ops.size(), 1U);
  EXPECT_EQ(log.runs[0].host_ops[0].type, "trace_capture");
  const auto& programs = log.runs[0].timeline.programs;
  ASSERT_EQ(programs.size(), 2U);
  for (const profiler::ProgramRun& program : programs) {
    EXPECT_FALSE(program.compiled) << "a replay compiles nothing";
    EXPECT_FALSE(program.host_call) << "the time is that of the capture";
  }
  const auto box = std::make_shared<const DevBox>(chip::load_constants(), host::HostOptions{}, 1);
  const LogWorkload workload = log_workload(log, "ops.csv", chip_named("wormhole_b0_n300"));
  EXPECT_EQ(workload.replays, (std::vector<std::uint32_t>{1, 2}));
  EXPECT_TRUE(workload.is_replayed());
  const auto experiment = log_experiment(box, workload);
  const reports::Explanation found = explain_log(*box, {}, *experiment, workload);
  const auto trace = std::ranges::find(found.untried, "trace", &reports::UntriedChange::what);
  ASSERT_NE(trace, found.untried.end());
  EXPECT_EQ(trace->reason, "the log is of replays already");
  const reports::Explanation called =
      explain_log(*box, {.axes = {"trace=no"}}, *experiment, workload);
  EXPECT_LT(found.run.time, called.run.time) << "no host makes the calls of a replay";
}

TEST(LogWorkload, ACaptureIsNoRowThatAComparisonMisses) {
  const std::string text = text_of_replays();
  profiler::TextBytes source(text);
  const profiler::SiliconComparison found =
      profiler::compare_with_silicon(source, "ops.csv", chip_named("wormhole_b0_n300"));
  EXPECT_EQ(found.dropped.count(), 0U);
  EXPECT_EQ(found.host_ops, 1U);
  ASSERT_EQ(found.calls.size(), 1U);
  EXPECT_EQ(found.calls[0].runs.size(), 2U);
}

TEST(LogWorkload, TheExpectedErrorIsThatOfTheLogsKernels) {
  const auto box = std::make_shared<const DevBox>(chip::load_constants(), host::HostOptions{}, 1);
  const auto explained = [&](std::int64_t kernel) {
    std::vector<Op> ops = profiler::testing::back_to_back({.kernel = kernel}, 4);
    const LogWorkload workload =
        log_workload(profiler::testing::read(ops), "ops.csv", chip_named("wormhole_b0_n300"));
    const auto experiment = log_experiment(box, workload);
    return explain_log(*box, {.axes = {"trace=yes"}}, *experiment, workload);
  };
  const SimTime emulated = explained(1'000'000).checked.at(0).emulated;
  const std::int64_t right = emulated.ps() / 4 / 1000;  // nanoseconds of one
  const reports::Explanation near = explained(right);
  ASSERT_EQ(near.checked.size(), 1U);
  EXPECT_EQ(near.checked[0].runs, 4U);
  ASSERT_TRUE(near.run.expected_error);
  EXPECT_NEAR(*near.run.expected_error, 0, 1e-4);
  EXPECT_EQ(near.headline, "");
  const reports::Explanation far = explained(2 * right);
  ASSERT_TRUE(far.run.expected_error);
  EXPECT_NEAR(*far.run.expected_error, 0.5, 1e-3);
  EXPECT_NE(far.headline.find("no verdict: the emulator is 50 % off"), std::string::npos)
      << far.headline;
}

}  // namespace
}  // namespace howard::experiments
