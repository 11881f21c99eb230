// SPDX-License-Identifier: Apache-2.0
#include "profiler/bottleneck.h"

#include <gtest/gtest.h>

#include <array>
#include <random>
#include <string>
#include <vector>

namespace howard::profiler {
namespace {

constexpr double kPeak = 1e12;       // FLOP/s, which is one a picosecond
constexpr double kBandwidth = 5e11;  // B/s, which is one in two picoseconds

SimTime ps(std::int64_t count) { return SimTime::picoseconds(count); }

OpRun run(std::int64_t duration, std::int64_t flops, std::int64_t bytes, std::int64_t idle = 0) {
  return {.name = "matmul",
          .duration = ps(duration),
          .idle_before = ps(idle),
          .flops = Flops(flops),
          .dram = Bytes(bytes),
          .peak_flops = kPeak,
          .peak_bandwidth = kBandwidth};
}

WorkSummary summary_of(const std::vector<OpRun>& runs) { return find_bottlenecks(runs).all; }

TEST(Bottleneck, IsTheLargestPartOfTheTime) {
  EXPECT_EQ(summary_of({run(100, 40, 10, 101)}).verdict(), Verdict::dispatch_bound);
  EXPECT_EQ(summary_of({run(100, 90, 10, 50)}).verdict(), Verdict::compute_bound);
  EXPECT_EQ(summary_of({run(100, 10, 45, 50)}).verdict(), Verdict::dram_bound);
  EXPECT_EQ(summary_of({run(100, 30, 10, 50)}).verdict(), Verdict::kernel_inefficient);
  EXPECT_EQ(summary_of({run(100, 0, 0, 50)}).verdict(), Verdict::unknown);
  EXPECT_EQ(summary_of({}).verdict(), Verdict::unknown);
}

TEST(Bottleneck, IsTheKernelWhereItsStageIsKnownAndItMovesNothingOfTheDram) {
  OpRun within_l1 = run(100, 0, 0);
  within_l1.limited_by = "math";
  EXPECT_EQ(summary_of({within_l1}).verdict(), Verdict::kernel_inefficient);
  EXPECT_EQ(summary_of({within_l1}).excess, ps(100));
}

TEST(Bottleneck, CoresInUseAreWeightedByKernelTime) {
  OpRun few = run(300, 30, 10);
  few.cores_used = 0.2;
  OpRun all = run(100, 30, 10);
  all.cores_used = 1;
  EXPECT_DOUBLE_EQ(summary_of({few, all, run(1000, 0, 0)}).cores_used.value(), 0.4);
  EXPECT_FALSE(summary_of({run(100, 30, 10)}).cores_used);
}

TEST(Bottleneck, StatesTheNumbersThatDecide) {
  const WorkSummary summary = summary_of({run(100, 30, 10, 50), run(100, 20, 40, 10)});
  EXPECT_EQ(summary.runs, 2U);
  EXPECT_EQ(summary.idle, ps(60));
  EXPECT_EQ(summary.compute, ps(30));
  EXPECT_EQ(summary.dram, ps(80));
  EXPECT_EQ(summary.excess, ps(90));
  EXPECT_EQ(summary.time(), ps(260));
  EXPECT_EQ(summary.verdict(), Verdict::kernel_inefficient);
  EXPECT_DOUBLE_EQ(summary.share_of(Verdict::kernel_inefficient), 90. / 260);
}

TEST(Bottleneck, PutsARunUnderTheRoofline) {
  const WorkSummary memory_side = summary_of({run(200, 20, 40)});
  EXPECT_DOUBLE_EQ(memory_side.intensity().value(), 0.5);
  EXPECT_DOUBLE_EQ(memory_side.attainable().value(), 0.5 * kBandwidth);
  EXPECT_DOUBLE_EQ(memory_side.achieved().value(), 20 / 200e-12);
  const WorkSummary compute_side = summary_of({run(200, 100, 10)});
  EXPECT_DOUBLE_EQ(compute_side.intensity().value(), 10);
  EXPECT_DOUBLE_EQ(compute_side.attainable().value(), kPeak);
}

TEST(Bottleneck, HasNoPositionWithoutWork) {
  const WorkSummary copy = summary_of({run(200, 0, 40)});
  EXPECT_FALSE(copy.intensity() || copy.attainable() || copy.achieved());
  EXPECT_EQ(copy.verdict(), Verdict::kernel_inefficient);
  const WorkSummary resident = summary_of({run(200, 40, 0)});
  EXPECT_FALSE(resident.intensity());
  EXPECT_TRUE(resident.attainable());
}

TEST(Bottleneck, DoesNotJudgeWorkWithoutPeaks) {
  OpRun unknown_peak = run(100, 50, 10);
  unknown_peak.peak_flops = 0;
  const WorkSummary summary = summary_of({unknown_peak, run(100, 50, 10)});
  EXPECT_EQ(summary.unknown, ps(100));
  EXPECT_EQ(summary.compute, ps(50));
  EXPECT_EQ(summary.flops, Flops(50)) << "of the known run alone";
  EXPECT_DOUBLE_EQ(summary.achieved().value(), 50 / 100e-12);
  OpRun unknown_bandwidth = run(100, 50, 10);
  unknown_bandwidth.peak_bandwidth = 0;
  EXPECT_EQ(summary_of({unknown_bandwidth}).unknown, ps(100));
}

TEST(Bottleneck, AddsUpWhenPeaksAreExceeded) {
  const WorkSummary summary = summary_of({run(100, 500, 10)});
  EXPECT_EQ(summary.compute, ps(100));
  EXPECT_EQ(summary.excess, ps(0));
}

TEST(Bottlenecks, AreByOpTheLargestFirstAndBySectionInOrder) {
  std::vector<OpRun> runs{run(10, 1, 1), run(10, 1, 1, 500), run(30, 1, 1)};
  runs[0].name = "add";
  runs[1].name = "exp";
  runs[2].name = "add";
  runs[0].section = "step 1";
  runs[1].section = "step 0";
  runs[2].section = "step 1";
  const Bottlenecks found = find_bottlenecks(runs);
  ASSERT_EQ(found.by_op.size(), 2U);
  EXPECT_EQ(found.by_op[0].name, "exp");
  EXPECT_EQ(found.by_op[1].name, "add");
  EXPECT_EQ(found.by_op[1].runs, 2U);
  EXPECT_EQ(found.by_op[1].time(), ps(40));
  ASSERT_EQ(found.by_section.size(), 2U);
  EXPECT_EQ(found.by_section[0].name, "step 1");
  EXPECT_EQ(found.by_section[1].idle, ps(500));
}

TEST(Bottlenecks, SumKernelTimeByStage) {
  std::vector<OpRun> runs{run(10, 1, 1), run(40, 1, 1), run(20, 1, 1), run(5, 1, 1)};
  runs[0].limited_by = "math";
  runs[1].limited_by = "unpack";
  runs[2].limited_by = "math";
  const WorkSummary summary = summary_of(runs);
  ASSERT_EQ(summary.stages.size(), 2U) << "a run without a stage has none";
  EXPECT_EQ(summary.stages[0].name, "unpack");
  EXPECT_EQ(summary.stages[0].busy, ps(40));
  EXPECT_EQ(summary.stages[1].busy, ps(30));
}

TEST(Bottlenecks, PartsAddUpForRandomRuns) {
  std::mt19937 random(1);
  constexpr std::array kNames{"a", "b", "c"};
  for (int round = 0; round < 200; ++round) {
    std::vector<OpRun> runs;
    SimTime busy;
    SimTime idle;
    const auto number = [&](std::uint32_t end) {
      return static_cast<std::int64_t>(random() % end);
    };
    for (std::int64_t i = number(30); i > 0; --i) {
      OpRun next =
          run(number(1000), number(2) * number(1500), number(2) * number(700), number(300));
      if (number(5) == 0) next.peak_bandwidth = 0;
      next.name = kNames.at(static_cast<std::size_t>(number(3)));
      next.section = kNames.at(static_cast<std::size_t>(number(3)));
      busy += next.duration;
      idle += next.idle_before;
      runs.push_back(next);
    }
    const Bottlenecks found = find_bottlenecks(runs);
    EXPECT_EQ(found.all.busy(), busy);
    EXPECT_EQ(found.all.idle, idle);
    for (const std::vector<WorkSummary>& groups : {found.by_op, found.by_section}) {
      SimTime time;
      Flops flops;
      for (const WorkSummary& group : groups) {
        time += group.time();
        flops += group.flops;
      }
      EXPECT_EQ(time, busy + idle);
      EXPECT_EQ(flops, found.all.flops);
    }
  }
}

TEST(BottlenecksDeathTest, StopAtANegativeTime) {
  EXPECT_DEATH(summary_of({run(-1, 1, 1)}), "negative time");
  EXPECT_DEATH(summary_of({run(1, 1, 1, -1)}), "negative time");
}

}  // namespace
}  // namespace howard::profiler
