// SPDX-License-Identifier: Apache-2.0
// These tests check the gaps of emulated runs, whose causes follow from the profile's constants.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <utility>
#include <vector>

#include "engines/chip/emulated_chip.h"
#include "engines/chip/kernels/plan/footprint.h"
#include "engines/chip/kernels/planner.h"
#include "engines/ops/tensor.h"
#include "profiler/dispatch_gaps.h"
#include "profiler/event_recorder.h"
#include "profiler/timeline.h"

namespace howard::profiler {
namespace {

using chip::DispatchCoreType;
using chip::EmulatedChip;

class EmulatedGaps : public ::testing::Test {
 protected:
  EmulatedGaps() { device_.set_trace_sink(&recorder_); }

  Program product(std::int64_t size, int sub_device = 0) {
    const TensorSpec spec{Shape({size, size}), DataType::bfloat16};
    for (int i = 0; i < 3; ++i) tensors_.emplace_back(device_, spec);
    const auto last = tensors_.end();
    Program program = make_program(MatmulAttributes{}, {last[-3], last[-2]}, {last[-1]});
    program.sub_device = sub_device;
    return program;
  }

  std::vector<BusyLane> lanes(LaneKind kind) const {
    return find_gaps(timeline_of(recorder_.events(), recorder_.losses()), kind);
  }

  const chip::SoftwareProfile& software() const { return profiles_.software; }

  chip::Profiles profiles_ = chip::load_profiles();
  EmulatedChip device_{profiles_, {.command_queues = 2}};
  CommandQueue& queue_ = device_.command_queue(0);
  EventRecorder recorder_;
  std::vector<ops::Tensor> tensors_;
};

TEST_F(EmulatedGaps, AfterEachFinishAreTheStepsOfTheNextProgram) {
  const Program program = product(512);
  const auto launch =
      chip::launch_of(device_.explain(program), DispatchCoreType::worker, profiles_);
  constexpr int kPrograms = 5;
  for (int i = 0; i < kPrograms; ++i) {
    queue_.enqueue(program);
    queue_.finish();
  }
  const std::vector<BusyLane> found = lanes(LaneKind::sub_device);
  ASSERT_EQ(found.size(), 1U);
  const CauseTimes causes = time_by_cause(found);
  constexpr std::int64_t kGaps = kPrograms - 1;
  EXPECT_EQ(found[0].gaps.size(), std::size_t{kGaps});
  EXPECT_EQ(found[0].busy, kPrograms * launch.kernel);
  EXPECT_EQ(causes[GapCause::finish], kGaps * software().host_finish);
  EXPECT_EQ(causes[GapCause::host_issuing], kGaps * software().host_op_call);
  EXPECT_EQ(causes[GapCause::dispatch], kGaps * launch.dispatch);
  EXPECT_EQ(causes.total(), found[0].idle);
  EXPECT_EQ(causes[GapCause::finish] + causes[GapCause::host_issuing] + causes[GapCause::dispatch],
            found[0].idle)
      << "and no others";
}

TEST_F(EmulatedGaps, OfAWellFedQueueAreGoLatencyAlone) {
  const Program program = product(2048);
  const auto launch =
      chip::launch_of(device_.explain(program), DispatchCoreType::worker, profiles_);
  constexpr int kPrograms = 20;
  for (int i = 0; i < kPrograms; ++i) queue_.enqueue(program);
  queue_.finish();
  const std::vector<BusyLane> found = lanes(LaneKind::queue);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].idle, (kPrograms - 1) * launch.go);
  EXPECT_EQ(time_by_cause(found)[GapCause::go_latency], found[0].idle);
}

TEST_F(EmulatedGaps, OfAReplayAreNotTheHosts) {
  const Program program = product(256);
  queue_.begin_trace_capture();
  for (int i = 0; i < 10; ++i) queue_.enqueue(program);
  const TraceId trace = queue_.end_trace_capture();
  queue_.execute_trace(trace);
  queue_.finish();
  const std::vector<BusyLane> found = lanes(LaneKind::sub_device);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].programs, 10U);
  EXPECT_GT(found[0].idle, SimTime());
  const CauseTimes causes = time_by_cause(found);
  EXPECT_EQ(causes[GapCause::dispatch] + causes[GapCause::go_latency], found[0].idle);
}

TEST_F(EmulatedGaps, ProgramsKnowWhichReplayOfWhichTraceTheyAreOf) {
  const Program program = product(256);
  std::vector<TraceId> traces;
  for (int i = 0; i < 2; ++i) {
    queue_.begin_trace_capture();
    for (int k = 0; k < 2; ++k) queue_.enqueue(program);
    traces.push_back(queue_.end_trace_capture());
  }
  queue_.execute_trace(traces[1]);
  queue_.enqueue(program);
  queue_.execute_trace(traces[1]);
  queue_.execute_trace(traces[0]);
  queue_.finish();
  Timeline timeline = timeline_of(recorder_.events());
  std::ranges::sort(timeline.programs, {}, &ProgramRun::number);
  std::vector<std::pair<std::uint32_t, std::uint32_t>> found;
  for (const ProgramRun& run : timeline.programs) found.emplace_back(run.trace, run.replay);
  using Pairs = std::vector<std::pair<std::uint32_t, std::uint32_t>>;
  EXPECT_EQ(found, (Pairs{{2, 1}, {2, 1}, {0, 0}, {2, 2}, {2, 2}, {1, 1}, {1, 1}}));
}

TEST_F(EmulatedGaps, OfAQueueThatWaitsForAnotherAreItsEvent) {
  device_.set_sub_devices(std::array{CoreRange{0, 0, 3, 6}, CoreRange{4, 0, 7, 6}});
  recorder_.clear();
  CommandQueue& other = device_.command_queue(1);
  const Program here = product(512, 0);
  const Program there = product(2048, 1);
  queue_.enqueue(here);
  other.enqueue(there);
  queue_.wait_for_event(other.record_event());
  queue_.enqueue(here);
  queue_.finish();
  const std::vector<BusyLane> found = lanes(LaneKind::queue);
  ASSERT_EQ(found.size(), 2U);
  ASSERT_EQ(found[0].gaps.size(), 1U);
  const CauseTimes causes = found[0].causes_of(0);
  // The event happens when the other queue's program ends.
  EXPECT_GT(causes[GapCause::event_wait], SimTime());
  EXPECT_EQ(causes[GapCause::dispatcher_held], SimTime());
  EXPECT_EQ(causes[GapCause::unknown], SimTime());
}

TEST_F(EmulatedGaps, OfOneQueueMayBeTheOtherOnesFullIssueQueue) {
  device_.set_sub_devices(std::array{CoreRange{0, 0, 3, 6}, CoreRange{4, 0, 7, 6}});
  recorder_.clear();
  CommandQueue& other = device_.command_queue(1);
  const Program here = product(256, 0);
  const Program there = product(1024, 1);
  queue_.enqueue(here);
  const int entries = software().issue_entries(DispatchCoreType::worker);
  for (int i = 0; i < 2 * entries; ++i) other.enqueue(there);
  queue_.enqueue(here);
  queue_.finish();
  other.finish();
  const std::vector<BusyLane> found = lanes(LaneKind::sub_device);
  ASSERT_EQ(found.size(), 2U);
  const CauseTimes causes = time_by_cause({found.data(), 1});
  EXPECT_GT(causes[GapCause::queue_full], SimTime());
  EXPECT_GT(causes[GapCause::host_issuing], SimTime());
}

}  // namespace
}  // namespace howard::profiler
