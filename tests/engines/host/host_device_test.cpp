// SPDX-License-Identifier: Apache-2.0
#include "engines/host/host_device.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <map>
#include <string>
#include <thread>

#include "base/error.h"
#include "profiler/program_recorder.h"
#include "profiler/timeline.h"
#include "tests/engines/host/kernels/matmul/host_products.h"
#include "tests/error_of.h"

namespace howard::host {
namespace {

/// Keeps what it receives, and notices if two threads call it at once.
class Events : public EventSink {
 public:
  void record(const TimelineEvent& event) override {
    if (busy_.exchange(true)) collided = true;
    events.push_back(event);
    for (int i = 0; i < 20; ++i) std::this_thread::yield();
    busy_ = false;
  }
  std::vector<TimelineEvent> events;
  std::atomic<bool> collided = false;

 private:
  std::atomic<bool> busy_ = false;
};

Program filled(float value, const Operand& out) {
  return make_program(EltwiseAttributes{.function = Eltwise::fill, .scalar = value}, {}, {out});
}

/// Fails while a program runs, as the system may.
class FailingSink : public EventSink {
 public:
  void record(const TimelineEvent& event) override {
    if (event.track.kind != TrackKind::command_queue) return;
    ++programs;
    if (event.program != failing_program) return;
    throw Error({.attempted = "run", .value = "broken"});
  }
  std::uint64_t failing_program = 1;
  int programs = 0;  ///< The number of programs that ran.
};

/// Remembers on which thread a program ran.
class WhoRuns : public EventSink {
 public:
  void record(const TimelineEvent& event) override {
    if (event.track.kind != TrackKind::command_queue) return;
    thread = std::this_thread::get_id();
    ran = true;
  }
  std::thread::id thread;
  std::atomic<bool> ran = false;
};

class Host : public ::testing::Test {
 protected:
  Operand tensor(const Values& values) { return put(device_, {{2, 2}, DataType::float32}, values); }
  Operand empty() { return tensor({0, 0, 0, 0}); }
  /// Makes 256x256 operands, whose products take too long to run while they are enqueued.
  Operand large(float value) {
    return put(device_, {{256, 256}, DataType::float32}, Values(256 * 256, value));
  }

  HostDevice device_;
  CommandQueue& queue_ = device_.command_queue(0);
};

TEST_F(Host, CommandsRunInOrder) {
  const Operand a = tensor({1, 2, 3, 4});
  const Operand out = empty();
  const Operand twice = empty();
  queue_.enqueue(product(a, a, out));
  queue_.enqueue(product(out, a, twice));
  EXPECT_EQ(get(device_, twice), (Values{37, 54, 81, 118})) << "the third power of a";
  queue_.write_buffer(a.buffer, to_bytes({1, 0, 0, 1}, DataType::float32));
  queue_.enqueue(product(out, a, twice));
  EXPECT_EQ(get(device_, twice), (Values{7, 10, 15, 22}));
}

TEST_F(Host, AWriteWaitsForTheProgramsThatReadTheOldValues) {
  const TensorSpec spec{{128, 128}, DataType::float32};
  const Operand a = put(device_, spec, Values(128 * 128, 1));
  const Operand out = put(device_, spec, Values(128 * 128, 0));
  for (int i = 0; i < 20; ++i) queue_.enqueue(product(a, a, out));
  queue_.write_buffer(a.buffer, to_bytes(Values(128 * 128, 2), DataType::float32));
  EXPECT_EQ(get(device_, out), Values(128 * 128, 128));
}

TEST_F(Host, AReleasedBufferLivesUntilItsCommandsHaveRun) {
  const Operand a = large(1);
  const Operand out = large(0);
  for (int i = 0; i < 20; ++i) queue_.enqueue(product(a, a, out));
  device_.release(a.buffer);
  device_.allocate({{1024, 1024}, DataType::float32});  // What was kept of it goes.
  EXPECT_EQ(get(device_, out), Values(256 * 256, 256));
}

TEST_F(Host, TheNextOwnerOfAReleasedBufferComesAfterItsCommands) {
  const Operand a = large(1);
  const Operand out = large(0);
  for (int i = 0; i < 20; ++i) queue_.enqueue(product(a, a, out));
  device_.release(a.buffer);
  const Operand next{device_.allocate(a.spec), a.spec};
  queue_.enqueue(filled(2, next));
  EXPECT_EQ(get(device_, out), Values(256 * 256, 256));
  EXPECT_EQ(get(device_, next), Values(256 * 256, 2));
}

TEST_F(Host, WhatATraceOrAListUsesGoesToNoOtherBuffer) {
  const Operand a = tensor({1, 2, 3, 4});
  const Operand b = tensor({1, 0, 0, 1});
  const Operand out = empty();
  const Operand unread = empty();
  queue_.begin_trace_capture();
  queue_.enqueue(product(a, a, out));
  queue_.enqueue(product(a, b, unread));
  const TraceId trace = queue_.end_trace_capture();
  ProgramList list{.programs = {product(b, b, out)}, .ready = {}};
  queue_.enqueue_all(list);
  device_.release(a.buffer);
  device_.release(b.buffer);
  device_.release(unread.buffer);
  std::vector<Operand> others;
  for (int i = 0; i < 3; ++i) others.push_back(tensor({9, 9, 9, 9}));
  queue_.execute_trace(trace);
  EXPECT_EQ(get(device_, out), (Values{7, 10, 15, 22}));
  queue_.enqueue_all(list);
  EXPECT_EQ(get(device_, out), (Values{1, 0, 0, 1}));
  for (const Operand& other : others) EXPECT_EQ(get(device_, other), (Values{9, 9, 9, 9}));
}

TEST_F(Host, ASmallProgramRunsAtOnceAndBehindALargeOneInItsTurn) {
  const Operand a = tensor({1, 2, 3, 4});
  const Operand out = empty();
  const Operand ones = large(1);
  const Operand product_of_ones = large(0);
  Events sink;
  device_.set_trace_sink(&sink);
  queue_.enqueue(product(a, a, out));
  ASSERT_EQ(sink.events.size(), 2U) << "the kernel and the call, without a wait";
  EXPECT_EQ(sink.events[0].category, "kernel");
  for (int i = 0; i < 20; ++i) {
    queue_.enqueue(product(ones, ones, product_of_ones));
    queue_.enqueue(product(a, a, out));
  }
  queue_.finish();
  device_.set_trace_sink(nullptr);
  std::vector<std::uint64_t> order;
  for (const TimelineEvent& event : sink.events) {
    if (event.category == "kernel") order.push_back(event.program);
  }
  EXPECT_EQ(order.size(), 41U);
  EXPECT_TRUE(std::ranges::is_sorted(order));
}

TEST_F(Host, AProgramOfManyOperationsOrBytesIsLeftToTheQueuesThread) {
  const Operand a = tensor({1, 2, 3, 4});
  const Operand ones = large(1);
  const Program few = product(a, a, empty());
  Program many_operations = few;
  many_operations.flops = Flops(2 << 20);
  Program many_bytes = product(ones, ones, large(0));
  many_bytes.flops = Flops();
  WhoRuns sink;
  device_.set_trace_sink(&sink);
  const auto runs_here = [&](const Program& program) {
    sink.ran = false;
    queue_.enqueue(program);
    while (!sink.ran) std::this_thread::yield();
    return sink.thread == std::this_thread::get_id();
  };
  EXPECT_TRUE(runs_here(few));
  EXPECT_FALSE(runs_here(many_operations));
  EXPECT_FALSE(runs_here(many_bytes));
  queue_.finish();
  device_.set_trace_sink(nullptr);
}

TEST_F(Host, AListRunsAsItsProgramsDoEachTimeWithTheValuesOfThen) {
  const Operand a = tensor({1, 2, 3, 4});
  const Operand square = empty();
  const Operand cube = empty();
  ProgramList list{.programs = {product(a, a, square), product(square, a, cube)}, .ready = {}};
  queue_.enqueue_all(list);
  EXPECT_EQ(get(device_, cube), (Values{37, 54, 81, 118}));
  queue_.write_buffer(a.buffer, to_bytes({2, 0, 0, 2}, DataType::float32));
  queue_.enqueue_all(list);
  EXPECT_EQ(get(device_, cube), (Values{8, 0, 0, 8}));
  list.programs[1] = product(a, a, cube);
  list.ready.reset();
  queue_.enqueue_all(list);
  EXPECT_EQ(get(device_, cube), (Values{4, 0, 0, 4}));
}

TEST_F(Host, WhoListensSeesEachProgramOfAList) {
  const Operand a = tensor({1, 2, 3, 4});
  const Operand out = empty();
  ProgramList list{.programs = {product(a, a, out), product(a, a, out)}, .ready = {}};
  queue_.enqueue_all(list);
  Events sink;
  queue_.finish();
  device_.set_trace_sink(&sink);
  queue_.enqueue_all(list);
  queue_.finish();
  device_.set_trace_sink(nullptr);
  const auto on = [&](TrackKind kind) {
    return std::ranges::count_if(sink.events, [&](const TimelineEvent& event) {
      return event.track.kind == kind && event.name == "matmul";
    });
  };
  EXPECT_EQ(on(TrackKind::host_thread), 2);
  EXPECT_EQ(on(TrackKind::command_queue), 2);
}

TEST_F(Host, AListWithABadProgramIsAnErrorAndRunsNone) {
  const Operand a = tensor({1, 2, 3, 4});
  const Operand out = empty();
  ProgramList list{.programs = {product(a, a, out), product(a, a, a)}, .ready = {}};
  EXPECT_THROW(queue_.enqueue_all(list), Error);
  EXPECT_EQ(get(device_, out), (Values{0, 0, 0, 0}));
}

TEST_F(Host, ProgramsThatCannotRunAreErrorsAndTheDeviceStaysUsable) {
  const Operand a = tensor({1, 2, 3, 4});
  const Operand out = empty();
  const Operand wide = put(device_, {{2, 3}, DataType::float32}, Values(6));
  EXPECT_THROW(queue_.enqueue(product(a, a, a)), Error) << "in place";
  EXPECT_THROW(queue_.enqueue(product(a, {a.buffer, wide.spec}, wide)), Error)
      << "a spec that is not the buffer's";
  EXPECT_THROW(queue_.enqueue(product(a, {BufferId{999}, a.spec}, out)), Error);
  queue_.enqueue(product(a, a, out));
  EXPECT_EQ(get(device_, out), (Values{7, 10, 15, 22}));
}

TEST_F(Host, ABufferIsTakenUnderAnyShapeOfAsManyElements) {
  const Operand a = tensor({1, 2, 3, 4});
  const auto as = [&](const TensorSpec& spec) { return Operand{a.buffer, spec}; };
  const auto doubled = [&](const Operand& x) {
    queue_.enqueue(make_program(EltwiseAttributes{.function = Eltwise::add}, {x, x}, {x}));
  };
  doubled(as({{1, 4}, DataType::float32}));
  EXPECT_EQ(get(device_, a), (Values{2, 4, 6, 8}));
  EXPECT_THROW(doubled(as({{1, 1}, DataType::float32})), Error) << "fewer elements";
  EXPECT_THROW(doubled(as({{1, 4}, DataType::bfloat16})), Error) << "another data type";
  EXPECT_THROW(doubled(as({{1, 4}, DataType::float32, Layout::row_major})), Error);
}

TEST_F(Host, AFailureOfARunningProgramIsReportedByFinishOrReadAndTheDeviceGoesOn) {
  FailingSink sink;
  device_.set_trace_sink(&sink);
  const Operand a = tensor({1, 2, 3, 4});
  const Operand out = empty();
  queue_.enqueue(product(a, a, out));
  EXPECT_THROW(queue_.finish(), Error);
  EXPECT_NO_THROW(queue_.finish());
  sink.failing_program = 2;
  queue_.enqueue(product(a, a, out));
  queue_.enqueue(filled(5, a));
  EXPECT_EQ(sink.programs, 2) << "what is behind the failed program is dropped";
  EXPECT_NO_THROW(queue_.write_buffer(a.buffer, to_bytes({1, 0, 0, 1}, DataType::float32)));
  EXPECT_THROW(get(device_, out), Error);
  queue_.enqueue(product(a, a, out));
  EXPECT_EQ(get(device_, out), (Values{1, 0, 0, 1}));
  device_.set_trace_sink(nullptr);
}

TEST_F(Host, TransfersCheckTheirSize) {
  const Operand a = tensor({1, 2, 3, 4});
  std::vector<std::byte> bytes(15);
  EXPECT_THROW(queue_.write_buffer(a.buffer, bytes), Error);
  EXPECT_THROW(queue_.read_buffer(a.buffer, bytes), Error);
  EXPECT_THROW(queue_.read_buffer(BufferId{999}, bytes), Error);
  EXPECT_EQ(get(device_, a), (Values{1, 2, 3, 4}));
}

TEST_F(Host, MemoryThatIsNotThereIsAnErrorThatNamesTheHolders) {
  const Operand held = put(device_, {{512, 512}, DataType::float32}, Values(512 * 512));
  const std::string message = error_of([&] {
    device_.allocate({{1 << 22, 1 << 22}, DataType::float32});
  });
  EXPECT_NE(message.find("512x512 float32"), std::string::npos) << message;
  EXPECT_EQ(get(device_, held).size(), 512U * 512U);
}

TEST_F(Host, BlockFormatsAreForTheEmulatedDevice) {
  EXPECT_THROW(device_.allocate({{32, 32}, DataType::bfloat8_b}), Error);
}

TEST_F(Host, ThereIsOneQueueAndNothingToDivide) {
  EXPECT_EQ(device_.command_queues(), 1);
  EXPECT_THROW(device_.command_queue(1), Error);
  EXPECT_THROW(device_.set_sub_devices(std::array{CoreRange{0, 0, 0, 0}}), Error);
  EXPECT_NO_THROW(device_.set_sub_devices({}));
}

TEST_F(Host, ThreadCountsOutsideTheMachineAreErrors) {
  EXPECT_THROW(HostDevice({.threads = -1}), Error);
  EXPECT_THROW(HostDevice({.threads = 100'000}), Error);
  EXPECT_EQ(HostDevice({.threads = 1}).threads(), 1);
  EXPECT_GE(device_.threads(), 1);
}

TEST_F(Host, AReplayComputesWithTheValuesOfThatMoment) {
  const Operand a = tensor({1, 2, 3, 4});
  const Operand out = empty();
  queue_.begin_trace_capture();
  queue_.enqueue(product(a, a, out));
  const TraceId trace = queue_.end_trace_capture();
  EXPECT_EQ(get(device_, out), (Values{0, 0, 0, 0})) << "a capture runs nothing";
  queue_.execute_trace(trace);
  EXPECT_EQ(get(device_, out), (Values{7, 10, 15, 22}));
  queue_.write_buffer(a.buffer, to_bytes({1, 0, 0, 1}, DataType::float32));
  queue_.execute_trace(trace);
  EXPECT_EQ(get(device_, out), (Values{1, 0, 0, 1}));
  device_.release_trace(trace);
  EXPECT_THROW(queue_.execute_trace(trace), Error);
}

TEST_F(Host, EachReplayHasProgramsOfItsOwnAndItsCallNamesTheTrace) {
  const Operand a = tensor({1, 2, 3, 4});
  const Operand out = empty();
  const Program program = product(a, a, out);
  queue_.begin_trace_capture();
  for (int i = 0; i < 2; ++i) queue_.enqueue(program);
  const TraceId trace = queue_.end_trace_capture();
  profiler::ProgramRecorder recorder;
  device_.set_trace_sink(&recorder);
  queue_.enqueue(program);
  for (int i = 0; i < 2; ++i) queue_.execute_trace(trace);
  queue_.enqueue(program);
  queue_.finish();
  device_.set_trace_sink(nullptr);
  profiler::Timeline timeline = profiler::timeline_of(recorder.recorder().events());
  std::ranges::sort(timeline.programs, {}, &profiler::ProgramRun::number);
  std::vector<std::uint32_t> replays;
  for (const profiler::ProgramRun& run : timeline.programs) {
    replays.push_back(run.replay);
    EXPECT_EQ(run.trace, run.replay > 0 ? static_cast<std::uint32_t>(trace) : 0U);
    ASSERT_TRUE(run.host_call) << run.number;
    const ProgramFacts* const facts = recorder.facts(run.number);
    ASSERT_NE(facts, nullptr) << run.number;
    EXPECT_EQ(facts->work.flops, Flops(16));
    EXPECT_EQ(facts->work.dram, Bytes(3 * 16));
  }
  EXPECT_EQ(replays, (std::vector<std::uint32_t>{0, 1, 1, 2, 2, 0}));
}

TEST(HostTrace, WhatIsReleasedDuringTheCaptureLivesOnInTheTraceAloneAndIsGivenBackWithIt) {
  const TensorSpec spec{{2, 2}, DataType::float32};
  const auto sum = [](const Operand& a, const Operand& b, const Operand& out) {
    return make_program(EltwiseAttributes{.function = Eltwise::add}, {a, b}, {out});
  };
  for (const bool fuses : {false, true}) {
    HostDevice device({.fuse_traces = fuses});
    device.begin_phase("all");
    CommandQueue& queue = device.command_queue(0);
    const auto allocated = [&] { return Operand{device.allocate(spec), spec}; };
    const auto current = [&] { return device.memory_phases().front().current; };
    const Operand a = put(device, spec, {1, 2, 3, 4});
    const Operand state = put(device, spec, {1, 0, 0, 1});
    const Operand out = allocated();
    queue.begin_trace_capture();
    const Operand square = allocated();
    queue.enqueue(product(a, a, square));
    const Operand cube = allocated();
    queue.enqueue(product(square, a, cube));
    device.release(square.buffer);
    const Operand shifted = allocated();
    queue.enqueue(sum(cube, state, shifted));
    device.release(cube.buffer);
    device.release(state.buffer);
    queue.enqueue(product(shifted, a, out));
    device.release(shifted.buffer);
    const Bytes left = current();
    EXPECT_EQ(left, Bytes(2 * 16)) << "a and out";
    const TraceId trace = queue.end_trace_capture();
    // What others allocate now must not be where the trace computes.
    const Operand other = put(device, spec, {5, 6, 7, 8});
    for (int i = 0; i < 2; ++i) queue.execute_trace(trace);
    EXPECT_EQ(get(device, out), (Values{200, 292, 438, 638})) << "a^4 + a, fuses: " << fuses;
    EXPECT_EQ(get(device, other), (Values{5, 6, 7, 8}));
    device.release(other.buffer);
    device.release_trace(trace);
    EXPECT_EQ(current(), left) << "fuses: " << fuses;
  }
}

TEST_F(Host, WhatATraceCannotHoldIsAnError) {
  const Operand a = tensor({1, 2, 3, 4});
  std::vector<std::byte> bytes(16);
  EXPECT_THROW(queue_.end_trace_capture(), Error);
  queue_.begin_trace_capture();
  EXPECT_THROW(queue_.begin_trace_capture(), Error);
  EXPECT_THROW(queue_.finish(), Error);
  EXPECT_THROW(queue_.read_buffer(a.buffer, bytes), Error);
  EXPECT_THROW(queue_.write_buffer(a.buffer, bytes), Error);
  EXPECT_THROW(queue_.record_event(), Error);
  EXPECT_NO_THROW(queue_.end_trace_capture());
  EXPECT_NO_THROW(queue_.finish());
}

TEST_F(Host, EventsOfItsOwnNeedNoWaitAndOthersAreErrors) {
  EXPECT_THROW(queue_.wait_for_event(EventId{0}), Error);
  EXPECT_NO_THROW(queue_.wait_for_event(queue_.record_event()));
}

TEST_F(Host, EveryKernelRunsBetweenItsEnqueueAndTheFinish) {
  const Operand a = tensor({1, 2, 3, 4});
  const Operand out = empty();
  Events sink;
  device_.set_trace_sink(&sink);
  for (int i = 0; i < 500; ++i) queue_.enqueue(product(a, a, out));
  queue_.finish();
  std::map<std::uint64_t, SimTime> called;
  std::map<std::uint64_t, TimelineEvent> kernels;
  SimTime finished;
  for (const TimelineEvent& event : sink.events) {
    if (event.category == "host") called[event.program] = event.start;
    if (event.category == "kernel") kernels[event.program] = event;
    if (event.category == "finish") finished = event.end;
  }
  ASSERT_EQ(called.size(), 500U);
  ASSERT_EQ(kernels.size(), 500U);
  for (const auto& [program, kernel] : kernels) {
    EXPECT_GE(kernel.start, called.at(program)) << program;
    EXPECT_LE(kernel.end, finished) << program;
  }
  EXPECT_FALSE(sink.collided) << "two threads recorded at once";
}

TEST_F(Host, SpansAreNestedInTimeAndNeverOverlapOnATrack) {
  const Operand a = tensor({1, 2, 3, 4});
  const Operand out = empty();
  Events sink;
  device_.set_trace_sink(&sink);
  for (int i = 0; i < 20; ++i) queue_.enqueue(product(a, a, out));
  queue_.finish();
  device_.set_trace_sink(nullptr);
  queue_.enqueue(product(a, a, out));
  queue_.finish();
  EXPECT_EQ(sink.events.size(), 20U + 20U + 1U) << "calls, kernels and the finish";
  std::map<Track, std::vector<TimelineEvent>> tracks;
  SimTime first_call = device_.now();
  SimTime last_end;
  for (const TimelineEvent& event : sink.events) {
    tracks[event.track].push_back(event);
    EXPECT_LE(event.start, event.end);
    if (event.track.kind == TrackKind::host_thread) {
      first_call = std::min(first_call, event.start);
      last_end = std::max(last_end, event.end);
    }
  }
  for (auto& [track, events] : tracks) {
    std::ranges::sort(events, {}, &TimelineEvent::start);
    for (std::size_t i = 0; i < events.size(); ++i) {
      EXPECT_GE(events[i].start, first_call);
      EXPECT_LE(events[i].end, last_end);
      if (i > 0) {
        EXPECT_LE(events[i - 1].end, events[i].start);
      }
    }
  }
}

}  // namespace
}  // namespace howard::host
