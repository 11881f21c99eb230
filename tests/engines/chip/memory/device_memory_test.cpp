// SPDX-License-Identifier: Apache-2.0
#include "engines/chip/memory/device_memory.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "base/error.h"
#include "engines/chip/emulated_chip.h"
#include "engines/ops/tensor.h"
#include "tests/error_of.h"

namespace howard::chip {
namespace {

class ChipMemory : public ::testing::Test {
 protected:
  EmulatedChip device_{load_profiles()};
  CommandQueue& queue_ = device_.command_queue(0);
};

TEST_F(ChipMemory, L1TensorsAreSpreadOverTheCoresAndAFullL1SaysWhoHoldsIt) {
  const TensorSpec large{.shape = {56 * 32, 600 * 32}, .storage = Storage::l1};  // 600 tiles a core
  const ops::Tensor held(device_, large);
  const ErrorText refusal = error_parts_of([&] {
    const ops::Tensor more(device_, {.shape = {56 * 32, 100 * 32}, .storage = Storage::l1});
  });
  EXPECT_NE(refusal.value.find("L1 of each core"), std::string::npos) << refusal.value;
  EXPECT_NE(refusal.value.find("1792x19200"), std::string::npos) << refusal.value;
  EXPECT_NO_THROW(ops::Tensor(device_, {{56 * 32, 100 * 32}})) << "DRAM has room";
}

TEST_F(ChipMemory, TensorsInL1LeaveSmallerBlocksAndInTheEndNone) {
  const TensorSpec large{{2048, 2048}};
  const ops::Tensor a(device_, large), b(device_, large), c(device_, large);
  const Program program = make_program(MatmulAttributes{}, {a, b}, {c});
  const std::int64_t whole = device_.explain(program).matmul->config.out_block_h;
  {
    const ops::Tensor held(device_, {.shape = {56 * 32, 400 * 32}, .storage = Storage::l1});
    EXPECT_LT(device_.explain(program).matmul->config.out_block_h, whole);
  }
  EXPECT_EQ(device_.explain(program).matmul->config.out_block_h, whole) << "once it is released";
  const ops::Tensor held(device_, {.shape = {56 * 32, 682 * 32}, .storage = Storage::l1});
  EXPECT_THROW(queue_.enqueue(program), Error);
  const ops::Tensor small(device_, {{32, 32}});
  EXPECT_THROW(queue_.enqueue(make_program(eltwise_of(Eltwise::relu), {small}, {small})), Error);
  EXPECT_NO_THROW(queue_.finish());
}

TEST_F(ChipMemory, MemoryIsCountedByPhase) {
  device_.begin_phase("model");
  const ops::Tensor weights(device_, {{64, 64}});
  device_.begin_phase("step");
  { const ops::Tensor passing(device_, {{32, 32}}); }
  const std::vector<MemoryPhase> phases = device_.memory_phases();
  ASSERT_EQ(phases.size(), 2U);
  EXPECT_EQ(phases[0].allocated, Bytes(4 * 2048));
  EXPECT_EQ(phases[1].name, "step");
  EXPECT_EQ(phases[1].peak, Bytes(5 * 2048));
  EXPECT_EQ(phases[1].released, Bytes(2048));
  EXPECT_EQ(phases[1].current, Bytes(4 * 2048));
}

TEST_F(ChipMemory, WhatACallHandsFromLaunchToLaunchTakesDramWhileItRuns) {
  // ttnn's kernel for batches has its second factor transposed first.
  const Shape batch{2, 3, 64, 32};
  const ops::Tensor a(device_, {batch});
  const ops::Tensor b(device_, {batch});
  const ops::Tensor scores(device_, {{2, 3, 64, 64}});
  const MatmulAttributes attributes{.transpose_b = true, .core_grid = CoreGrid{8, 7}};
  device_.begin_phase("scores");
  const Bytes before = device_.memory_phases().back().current;
  queue_.enqueue(make_program(attributes, {a, b}, {scores}));
  const MemoryPhase phase = device_.memory_phases().back();
  EXPECT_EQ(phase.peak - before, a.spec().padded_bytes());
  EXPECT_EQ(phase.current, before);
  const Profiles profiles = load_profiles();
  const Bytes free = profiles.chip.dram_capacity - profiles.software.trace_region - before;
  const std::int64_t tiles = free.value() / tile_bytes(DataType::bfloat16).value();
  const ops::Tensor most(device_, {{tiles / 1024 * 32, 1024 * 32}});
  const ops::Tensor rest(device_, {{tiles % 1024 * 32, 32}});
  EXPECT_THROW(queue_.enqueue(make_program(attributes, {a, b}, {scores})), Error);
}

class Recorded : public MemorySink {
 public:
  void record(const MemoryEvent& event) override { texts.insert(text_of(event)); }
  std::set<std::string> texts;

 private:
  static std::string text_of(const MemoryEvent& event) {
    return std::string(name_of(event.kind)) + " in " + std::string(event.phase);
  }
};

TEST_F(ChipMemory, AllMemoriesTellTheirPhase) {
  Recorded sink;
  EmulatedChip device(load_profiles(), {.memory = &sink});
  device.begin_phase("step");
  const ops::Tensor in_dram(device, {{32, 32}});
  const ops::Tensor in_l1(device, {.shape = {32, 32}, .storage = Storage::l1});
  device.command_queue(0).enqueue(make_program(eltwise_of(Eltwise::relu), {in_dram}, {in_dram}));
  device.command_queue(0).finish();
  EXPECT_EQ(sink.texts, (std::set<std::string>{"DRAM in step", "L1 buffer in step",
                                               "L1 circular buffer in step"}));
}

TEST(DeviceMemory, TracesTakeTheirRegionOfTheDram) {
  const ChipProfile chip = load_profiles().chip;
  const TensorSpec tensor{{32, 1024}};  // 64 KiB
  DeviceMemory all_but_64(chip, chip.dram_capacity - Bytes(1 << 16), {8, 7});
  all_but_64.allocate(tensor);
  EXPECT_THROW(all_but_64.allocate({{32, 32}}), Error);
}

}  // namespace
}  // namespace howard::chip
