// SPDX-License-Identifier: Apache-2.0
// These tests check the work of emulated programs, as the bottleneck analysis takes it.
#include "profiler/op_runs.h"

#include <gtest/gtest.h>

#include <vector>

#include "engines/chip/emulated_chip.h"
#include "engines/ops/tensor.h"
#include "profiler/program_recorder.h"

namespace howard::profiler {
namespace {

class OpRuns : public ::testing::Test {
 protected:
  OpRuns() { device_.set_trace_sink(&recorder_); }

  std::vector<OpRun> runs() {
    device_.command_queue(0).finish();
    timeline_ = timeline_of(recorder_.recorder().events());
    return op_runs(timeline_, [&](std::uint64_t program) { return recorder_.facts(program); });
  }

  chip::Profiles profiles_ = chip::load_profiles();
  chip::EmulatedChip device_{profiles_};
  CommandQueue& queue_ = device_.command_queue(0);
  ProgramRecorder recorder_;
  Timeline timeline_;
};

TEST_F(OpRuns, AProductHasItsOperationsBytesAndPeaks) {
  const ops::Tensor a(device_, {{2, 64, 96}});
  const ops::Tensor b(device_, {{160, 96}});
  const ops::Tensor out(device_, {{2, 64, 160}});
  const Program program = make_program(MatmulAttributes{.transpose_b = true}, {a, b}, {out});
  queue_.enqueue(program);
  const std::vector<OpRun> found = runs();
  ASSERT_EQ(found.size(), 1U);
  const chip::KernelCost& kernel = device_.explain(program).kernel;
  EXPECT_EQ(found[0].name, "matmul");
  EXPECT_EQ(found[0].duration, kernel.total);
  EXPECT_EQ(found[0].flops, Flops(2 * 2 * 64 * 160 * 96));
  EXPECT_EQ(found[0].dram, kernel.dram);
  EXPECT_EQ(found[0].peak_flops, profiles_.chip.peak_flops(56, MathFidelity::hifi2));
  EXPECT_EQ(found[0].peak_bandwidth, static_cast<double>(profiles_.chip.dram_bandwidth.value()));
  EXPECT_EQ(found[0].limited_by, name_of(kernel.bottleneck));
  EXPECT_DOUBLE_EQ(found[0].cores_used.value(), kernel.cores / 56.0);
}

TEST_F(OpRuns, AGapIsThatOfTheProgramWhichEndsIt) {
  const ops::Tensor x(device_, {{256, 256}});
  for (int i = 0; i < 3; ++i) {
    queue_.enqueue(make_program(eltwise_of(Eltwise::add), {x, x}, {x}));
    if (i == 0) queue_.finish();
  }
  const std::vector<OpRun> found = runs();
  ASSERT_EQ(found.size(), 3U);
  EXPECT_EQ(found[0].idle_before, SimTime());
  for (const std::size_t i : {1U, 2U}) {
    EXPECT_EQ(found[i].idle_before,
              timeline_.programs[i].kernel.start - timeline_.programs[i - 1].kernel.end);
  }
  EXPECT_GT(found[1].idle_before, found[2].idle_before);
  EXPECT_EQ(found[0].flops, Flops());
}

TEST_F(OpRuns, ProgramsThatNobodyDescribedAreUnknown) {
  const ops::Tensor x(device_, {{64, 64}});
  queue_.enqueue(make_program(eltwise_of(Eltwise::add), {x, x}, {x}));
  static_cast<void>(runs());
  const auto nobody = [](std::uint64_t) { return static_cast<const ProgramFacts*>(nullptr); };
  const std::vector<OpRun> found = op_runs(timeline_, nobody);
  EXPECT_EQ(find_bottlenecks(found).all.verdict(), Verdict::unknown);
}

}  // namespace
}  // namespace howard::profiler
