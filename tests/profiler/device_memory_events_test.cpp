// SPDX-License-Identifier: Apache-2.0
// These tests compare what the devices report about their memory with what they count themselves.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "engines/autograd/optimizers/sgd.h"
#include "engines/autograd/steps/training_step.h"
#include "engines/chip/emulated_chip.h"
#include "engines/host/host_device.h"
#include "engines/models/mlp.h"
#include "profiler/memory_recorder.h"

namespace howard::profiler {
namespace {

constexpr models::MlpOptions kMlp{.batch = 64, .width = 96};

/// Holds two steps of an MLP: what was reported and what the device counted.
struct Recorded {
  MemoryUse use;
  std::vector<howard::MemoryPhase> counted;
};

Recorded train(Device& device, MemoryRecorder& recorder) {
  device.begin_phase("model");
  models::Mlp model(device, kMlp);
  model.write_constants(device.command_queue(0));
  device.begin_phase("optimizer");
  autograd::Sgd sgd(model.parameters(), 0.01F);
  const autograd::StepFunction step = autograd::training_step(
      [&](autograd::Tape& tape, int) { return model.loss(tape, models::MlpFunctions::by_layer); },
      sgd);
  for (int i = 0; i < 2; ++i) static_cast<void>(step(device));
  device.command_queue(0).finish();
  recorder.close();
  return {recorder.use(), device.memory_phases()};
}

Recorded train_emulated() {
  MemoryRecorder recorder;
  recorder.open("");
  chip::EmulatedChip device(chip::load_profiles(), {.memory = &recorder});
  return train(device, recorder);
}

Recorded train_on_host() {
  MemoryRecorder recorder;
  recorder.open("");
  host::HostDevice device({.threads = 1, .memory = &recorder});
  return train(device, recorder);
}

/// Returns what was live after event `i` of the curve, from the lifetimes alone.
Bytes live_at(const MemoryUse& use, std::set<MemoryKind> kinds, SimTime time) {
  Bytes live;
  for (const BufferLifetime& lifetime : use.lifetimes) {
    const bool is_live =
        lifetime.allocated <= time && (!lifetime.released || *lifetime.released > time);
    if (is_live && kinds.contains(lifetime.kind)) live += lifetime.size;
  }
  return live;
}

class DeviceMemoryEvents : public ::testing::TestWithParam<Recorded (*)()> {};

TEST_P(DeviceMemoryEvents, LifetimesAddUpToTheCurveAndThePeakIsItsHighest) {
  const MemoryUse use = GetParam()().use;
  ASSERT_GT(use.curve.size(), 20U);
  EXPECT_EQ(use.unmatched, 0U);
  Bytes highest;
  for (std::size_t i = 0; i < use.curve.size(); ++i) {
    highest = std::max(highest, use.curve[i].dram);
    // If several events have one time, the last one's sum is what lives from then on.
    if (i + 1 < use.curve.size() && use.curve[i + 1].time == use.curve[i].time) continue;
    EXPECT_EQ(use.curve[i].dram, live_at(use, {MemoryKind::dram}, use.curve[i].time)) << i;
  }
  EXPECT_EQ(use.dram_peak().dram, highest);
  Bytes held;
  for (const std::size_t i : use.dram_peak_holders) held += use.lifetimes[i].size;
  EXPECT_EQ(held, highest);
}

TEST_P(DeviceMemoryEvents, PhasesAddUpToWhatTheDeviceCounts) {
  const Recorded recorded = GetParam()();
  std::map<std::string, Bytes> allocated, released, peak;
  Bytes change;
  std::vector<std::string> order;
  for (const MemoryPhase& phase : recorded.use.phases) {
    order.push_back(phase.name);
    allocated[phase.name] += phase.dram.allocated;
    released[phase.name] += phase.dram.released;
    peak[phase.name] = std::max(peak[phase.name], phase.dram.cumulative_peak);
    change += phase.dram.change();
    EXPECT_EQ(phase.dram.cumulative_current, change);
  }
  EXPECT_EQ(order, (std::vector<std::string>{"model", "forward", "backward", "step", "forward",
                                             "backward", "step"}))
      << "SGD keeps nothing";
  for (const howard::MemoryPhase& phase : recorded.counted) {
    EXPECT_EQ(allocated[phase.name], phase.allocated) << phase.name;
    EXPECT_EQ(released[phase.name], phase.released) << phase.name;
    // The tracker's segments begin with their first event, and the device's phases with their name.
    if (phase.name == "optimizer") continue;
    EXPECT_EQ(peak[phase.name], phase.peak) << phase.name;
  }
}

INSTANTIATE_TEST_SUITE_P(OnEachDevice, DeviceMemoryEvents,
                         ::testing::Values(&train_emulated, &train_on_host),
                         [](const auto& test) { return test.index == 0 ? "Wormhole" : "Host"; });

TEST(MemoryEvents, OfTheChipHaveTheCircularBuffersOfEachLaunchOnACore) {
  const MemoryUse use = train_emulated().use;
  std::set<std::string> programs;
  for (const BufferLifetime& lifetime : use.lifetimes) {
    if (lifetime.kind != MemoryKind::l1_circular_buffer) continue;
    programs.insert(lifetime.name);
    EXPECT_GT(lifetime.size, Bytes());
    EXPECT_LT(lifetime.size, Bytes(1'500'000)) << "a core has 1.46 MB";
  }
  EXPECT_TRUE(programs.contains("matmul"));
  const auto forward = std::ranges::find(use.phases, "forward", &MemoryPhase::name);
  EXPECT_GT(forward->l1.circular_buffers_peak, Bytes());
}

TEST(MemoryEvents, NameWhatABufferHolds) {
  const MemoryUse use = train_on_host().use;
  const auto weight = std::ranges::find(use.lifetimes, "96x96 bfloat16", &BufferLifetime::name);
  ASSERT_NE(weight, use.lifetimes.end());
  EXPECT_EQ(weight->size, Bytes(96 * 96 * 2));
  EXPECT_EQ(weight->phase, "model");
}

TEST(MemoryRecorder, CountsWhatItHasNoRoomFor) {
  MemoryRecorder recorder(2);
  recorder.open("set-up");
  recorder.record({.buffer = 1, .size = Bytes(10)});
  recorder.begin_phase("run");
  recorder.record({.buffer = 2, .size = Bytes(20)});
  recorder.record({.buffer = 3, .size = Bytes(40)});
  recorder.close();
  recorder.record({.buffer = 4, .size = Bytes(80)});
  const MemoryUse use = recorder.use();
  EXPECT_EQ(use.dram_peak().dram, Bytes(30));
  EXPECT_EQ(use.losses, 1U);
  ASSERT_EQ(use.phases.size(), 2U);
  EXPECT_EQ(use.phases[0].name, "set-up");
  EXPECT_EQ(use.phases[1].name, "run");
}

}  // namespace
}  // namespace howard::profiler
