// SPDX-License-Identifier: Apache-2.0
#include "experiments/logs/log_workload.h"

#include <gtest/gtest.h>

#include <string>

#include "base/error.h"
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

}  // namespace
}  // namespace howard::experiments
