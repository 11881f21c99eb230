// SPDX-License-Identifier: Apache-2.0
#include "profiler/memory.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace howard::profiler {
namespace {

using enum MemoryKind;
using enum MemoryAction;

/// Makes events at 0, 1, 2 ... nanoseconds.
class Events {
 public:
  Events& phase(std::string_view name) {
    phase_ = name;
    return *this;
  }
  Events& add(MemoryAction action, MemoryKind kind, std::uint64_t buffer, std::int64_t size = 0,
              std::string_view name = "") {
    const auto now = static_cast<std::int64_t>(events_.size());
    events_.push_back({SimTime::nanoseconds(now), action, kind, buffer, Bytes(size), name, phase_});
    return *this;
  }
  MemoryUse use() const { return memory_use(events_); }

 private:
  std::string_view phase_;
  std::vector<MemoryEvent> events_;
};

TEST(Memory, HasTheTrackersFieldsForEachPhase) {
  const MemoryUse use = Events()
                            .phase("model")
                            .add(allocate, dram, 1, 100)
                            .phase("forward")
                            .add(allocate, dram, 2, 30)
                            .add(allocate, dram, 3, 50)
                            .add(release, dram, 2)
                            .phase("backward")
                            .add(release, dram, 3)
                            .add(release, dram, 1)
                            .use();
  ASSERT_EQ(use.phases.size(), 3U);
  const MemoryPhase& forward = use.phases[1];
  EXPECT_EQ(forward.name, "forward");
  EXPECT_EQ(forward.start, SimTime::nanoseconds(1));
  EXPECT_EQ(forward.end, SimTime::nanoseconds(3));
  EXPECT_EQ(forward.dram.peak, Bytes(80)) << "over what the model holds";
  EXPECT_EQ(forward.dram.allocated, Bytes(80));
  EXPECT_EQ(forward.dram.released, Bytes(30));
  EXPECT_EQ(forward.dram.change(), Bytes(50));
  EXPECT_EQ(forward.dram.cumulative_peak, Bytes(180));
  EXPECT_EQ(forward.dram.cumulative_current, Bytes(150));
  EXPECT_EQ(use.phases[2].dram.peak, Bytes(0));
  EXPECT_EQ(use.phases[2].dram.cumulative_peak, Bytes(150));
  EXPECT_EQ(use.phases[2].dram.cumulative_current, Bytes(0));
}

TEST(Memory, BeginsAPhaseAgainWhenItComesBack) {
  const MemoryUse use = Events()
                            .phase("forward")
                            .add(allocate, dram, 1, 10)
                            .phase("backward")
                            .add(release, dram, 1)
                            .phase("forward")
                            .add(allocate, dram, 1, 20)
                            .use();
  ASSERT_EQ(use.phases.size(), 3U);
  EXPECT_EQ(use.phases[0].dram.peak, Bytes(10));
  EXPECT_EQ(use.phases[2].dram.peak, Bytes(20));
}

TEST(Memory, PeaksOfL1AreOfEachKindAndOfBothTogether) {
  const MemoryUse use = Events()
                            .add(allocate, l1_buffer, 1, 100)
                            .add(release, l1_buffer, 1)
                            .add(allocate, l1_buffer, 2, 40)
                            .phase("step")
                            .add(allocate, l1_circular_buffer, 1, 30)
                            .add(release, l1_buffer, 2)
                            .add(allocate, l1_circular_buffer, 2, 30)
                            .use();
  ASSERT_EQ(use.phases.size(), 2U);
  EXPECT_EQ(use.phases[0].l1.buffers_peak, Bytes(100));
  const MemoryPhase::L1& l1 = use.phases[1].l1;
  EXPECT_EQ(l1.buffers_peak, Bytes(40)) << "live when the phase began";
  EXPECT_EQ(l1.circular_buffers_peak, Bytes(60));
  EXPECT_EQ(l1.total_peak, Bytes(70));
  EXPECT_EQ(use.phases[1].dram.peak, Bytes(0));
}

TEST(Memory, PeaksOfL1CountWhatWasLiveWhenThePhaseBegan) {
  const MemoryUse use = Events()
                            .add(allocate, l1_buffer, 1, 100)
                            .add(allocate, l1_circular_buffer, 1, 10)
                            .phase("step")
                            .add(release, l1_buffer, 1)
                            .add(release, l1_circular_buffer, 1)
                            .use();
  EXPECT_EQ(use.phases[1].l1.buffers_peak, Bytes(100));
  EXPECT_EQ(use.phases[1].l1.circular_buffers_peak, Bytes(10));
  EXPECT_EQ(use.phases[1].l1.total_peak, Bytes(110));
}

TEST(Memory, NamesWhoHeldItAtThePeakTheLargestFirst) {
  const MemoryUse use = Events()
                            .add(allocate, dram, 1, 500, "gone before")
                            .add(release, dram, 1)
                            .add(allocate, dram, 2, 300, "activation")
                            .add(allocate, l1_buffer, 2, 9000, "elsewhere")
                            .add(allocate, dram, 3, 400, "weights")
                            .add(release, dram, 2)
                            .add(allocate, dram, 4, 300, "comes later, as high")
                            .use();
  std::vector<std::string> names;
  for (const std::size_t i : use.dram_peak_holders) names.push_back(use.lifetimes[i].name);
  EXPECT_EQ(names, (std::vector<std::string>{"weights", "activation"}));
  EXPECT_EQ(use.dram_peak().dram, Bytes(700));
  EXPECT_EQ(use.dram_peak().time, SimTime::nanoseconds(4));
  ASSERT_EQ(use.l1_peak_holders.size(), 1U);
  EXPECT_EQ(use.lifetimes[use.l1_peak_holders[0]].name, "elsewhere");
  EXPECT_EQ(use.l1_peak().l1(), Bytes(9000));
}

TEST(Memory, KeepsEachBuffersLifetime) {
  const MemoryUse use = Events()
                            .phase("model")
                            .add(allocate, dram, 7, 10, "weights")
                            .phase("forward")
                            .add(allocate, dram, 8, 20)
                            .add(release, dram, 7)
                            .add(allocate, dram, 7, 30)
                            .use();
  ASSERT_EQ(use.lifetimes.size(), 3U);
  EXPECT_EQ(use.lifetimes[0].name, "weights");
  EXPECT_EQ(use.lifetimes[0].phase, "model");
  EXPECT_EQ(use.lifetimes[0].released, SimTime::nanoseconds(2));
  EXPECT_EQ(use.lifetimes[1].released, std::nullopt);
  EXPECT_EQ(use.lifetimes[2].buffer, 7U);
  EXPECT_EQ(use.lifetimes[2].size, Bytes(30));
  EXPECT_EQ(use.lifetimes[2].allocated, SimTime::nanoseconds(3));
}

TEST(Memory, LeavesOutAndCountsWhatDoesNotMatch) {
  const MemoryUse use = Events()
                            .phase("before the recording")
                            .add(release, dram, 1)
                            .phase("forward")
                            .add(allocate, dram, 2, 10)
                            .add(allocate, dram, 2, 99)
                            .add(release, l1_buffer, 2)
                            .use();
  EXPECT_EQ(use.unmatched, 3U);
  ASSERT_EQ(use.phases.size(), 1U);
  EXPECT_EQ(use.phases[0].dram.cumulative_current, Bytes(10));
  EXPECT_EQ(use.curve.size(), 1U);
}

TEST(Memory, OfNoEventsIsNone) {
  const MemoryUse use = memory_use({});
  EXPECT_TRUE(use.phases.empty() && use.curve.empty() && use.dram_peak_holders.empty());
  EXPECT_EQ(use.dram_peak().dram, Bytes(0));
}

/// Makes random events of a few buffers, the last first, and holds what they add up to.
struct RandomRun {
  std::vector<MemoryEvent> events;
  std::vector<MemoryPoint> expected;

  explicit RandomRun(std::uint32_t seed) {
    constexpr std::array kPhases{"a", "b", "c"};
    std::mt19937 random(seed);
    std::map<std::pair<MemoryKind, std::uint64_t>, Bytes> live;
    for (int i = 0; i < 60; ++i) {
      const std::pair key{static_cast<MemoryKind>(random() % kMemoryKinds), random() % 6};
      const bool is_live = live.contains(key);
      const Bytes size(static_cast<std::int64_t>(random() % 100));
      events.push_back({SimTime::nanoseconds(i), is_live ? release : allocate, key.first,
                        key.second, size, "", kPhases.at(random() % 3)});
      if (!is_live) live[key] = size;
      if (is_live) live.erase(key);
      std::array<Bytes, kMemoryKinds> held;
      for (const auto& [buffer, bytes] : live)
        held[static_cast<std::size_t>(buffer.first)] += bytes;
      expected.push_back({SimTime::nanoseconds(i), held[0], held[1], held[2]});
    }
    std::ranges::reverse(events);
  }
};
constexpr std::uint32_t kSeeds = 100;

TEST(RandomMemory, IsWhatTheLiveBuffersAddUpTo) {
  for (std::uint32_t seed = 0; seed < kSeeds; ++seed) {
    const RandomRun run(seed);
    const MemoryUse use = memory_use(run.events);
    ASSERT_EQ(use.curve.size(), run.expected.size());
    for (std::size_t i = 0; i < use.curve.size(); ++i) {
      EXPECT_EQ(use.curve[i].dram, run.expected[i].dram);
      EXPECT_EQ(use.curve[i].l1_buffers, run.expected[i].l1_buffers);
      EXPECT_EQ(use.curve[i].l1_circular_buffers, run.expected[i].l1_circular_buffers);
    }
  }
}

TEST(RandomMemory, HasPhasesThatKeepTheTrackersRelations) {
  for (std::uint32_t seed = 0; seed < kSeeds; ++seed) {
    const RandomRun run(seed);
    Bytes current;
    for (const MemoryPhase& phase : memory_use(run.events).phases) {
      Bytes peak = current;
      Bytes l1_peak;
      for (const MemoryPoint& point : run.expected) {
        if (point.time < phase.start || point.time > phase.end) continue;
        peak = std::max(peak, point.dram);
        l1_peak = std::max(l1_peak, point.l1());
      }
      EXPECT_EQ(phase.dram.cumulative_peak, peak);
      EXPECT_EQ(phase.dram.peak, peak - current);
      current += phase.dram.change();
      EXPECT_EQ(phase.dram.cumulative_current, current);
      EXPECT_GE(phase.l1.total_peak, l1_peak);
      EXPECT_LE(phase.l1.total_peak, phase.l1.buffers_peak + phase.l1.circular_buffers_peak);
    }
  }
}

TEST(RandomMemory, HasHoldersThatAddUpToThePeak) {
  for (std::uint32_t seed = 0; seed < kSeeds; ++seed) {
    const MemoryUse use = memory_use(RandomRun(seed).events);
    const auto held_by = [&](const std::vector<std::size_t>& holders) {
      Bytes held;
      for (const std::size_t i : holders) held += use.lifetimes[i].size;
      return held;
    };
    EXPECT_EQ(held_by(use.dram_peak_holders), use.dram_peak().dram);
    EXPECT_EQ(held_by(use.l1_peak_holders), use.l1_peak().l1());
  }
}

TEST(MemoryDeathTest, StopsAtANegativeSize) {
  EXPECT_DEATH(Events().add(allocate, dram, 1, -1).use(), "negative size");
}

}  // namespace
}  // namespace howard::profiler
