// SPDX-License-Identifier: Apache-2.0
#include "engines/chip/emulated_chip.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "base/error.h"
#include "engines/chip/kernels/planner.h"
#include "engines/ops/tensor.h"

namespace howard::chip {
namespace {

struct Product {
  Product(Device& device, std::int64_t size)
      : a(device, {{size, size}}), b(device, {{size, size}}), out(device, {{size, size}}) {}
  Program program() const { return make_program(MatmulAttributes{}, {a, b}, {out}); }
  ops::Tensor a, b, out;
};

class Events : public EventSink {
 public:
  void record(const TimelineEvent& event) override { events.push_back(event); }
  std::vector<TimelineEvent> events;
};

std::string log_of(const std::vector<TimelineEvent>& events) {
  std::string text;
  for (const TimelineEvent& event : events) {
    text += std::to_string(static_cast<int>(event.track.kind)) + ":" +
            std::to_string(static_cast<int>(event.track.lane)) + ":" +
            std::to_string(event.track.index) + " " + std::string(event.name) + " " +
            std::to_string(event.start.ps()) + " " + std::to_string(event.end.ps()) + "\n";
  }
  return text;
}

/// Returns a run with everything in it, as text.
std::string event_log(DispatchCoreType type) {
  EmulatedChip device(load_profiles(), {.dispatch = type});
  Events sink;
  device.set_trace_sink(&sink);
  for (const std::int64_t size : {32, 512, 4096}) {
    const Product product(device, size);
    for (int i = 0; i < 3; ++i) device.command_queue(0).enqueue(product.program());
    device.command_queue(0).finish();
  }
  return log_of(sink.events);
}

class Wormhole : public ::testing::Test {
 protected:
  Profiles profiles_ = load_profiles();
  EmulatedChip device_{profiles_};
  CommandQueue& queue_ = device_.command_queue(0);
};

TEST_F(Wormhole, AProductWithAFinishCostsTheSumOfItsStages) {
  const Product product(device_, 1024);
  const SimTime start = device_.now();
  EXPECT_EQ(start, 3 * profiles_.software.host_allocation);
  queue_.enqueue(product.program());
  EXPECT_EQ(device_.now() - start, profiles_.software.host_op_call) << "the host does not wait";
  queue_.finish();
  const Launch launch =
      launch_of(device_.explain(product.program()), DispatchCoreType::worker, profiles_);
  EXPECT_EQ(device_.now() - start, profiles_.software.host_op_call + launch.dispatch +
                                       launch.kernel + profiles_.software.host_finish);
}

TEST_F(Wormhole, ManyProductsOverlapHostAndDevice) {
  const Product product(device_, 128);
  const Launch launch =
      launch_of(device_.explain(product.program()), DispatchCoreType::worker, profiles_);
  ASSERT_LT(launch.dispatch + launch.go + launch.kernel, profiles_.software.host_op_call);
  const SimTime start = device_.now();
  for (int i = 0; i < 10; ++i) queue_.enqueue(product.program());
  queue_.finish();
  EXPECT_EQ(device_.now() - start, 10 * profiles_.software.host_op_call + launch.dispatch +
                                       launch.kernel + profiles_.software.host_finish)
      << "short programs hide behind the host";
}

TEST_F(Wormhole, EveryRunGivesTheSameEventsOnAnyThread) {
  const std::string once = event_log(DispatchCoreType::eth);
  EXPECT_GT(once.size(), 1000U);
  std::string first, second;
  std::thread a([&] { first = event_log(DispatchCoreType::eth); });
  std::thread b([&] { second = event_log(DispatchCoreType::eth); });
  a.join();
  b.join();
  EXPECT_EQ(first, once);
  EXPECT_EQ(second, once);
  EXPECT_NE(event_log(DispatchCoreType::worker), once);
}

TEST_F(Wormhole, ListeningChangesNoTime) {
  const Product product(device_, 512);
  const SimTime start = device_.now();
  queue_.enqueue(product.program());
  queue_.finish();
  const SimTime silent = device_.now() - start;
  Events sink;
  device_.set_trace_sink(&sink);
  queue_.enqueue(product.program());
  queue_.finish();
  EXPECT_EQ(device_.now() - start, 2 * silent);
  const auto heard = sink.events.size();
  EXPECT_EQ(heard, 4U + 3U * 48U)
      << "host call, finish, dispatch, sub-device and 48 cores of 3 lanes";
  device_.set_trace_sink(nullptr);
  queue_.enqueue(product.program());
  queue_.finish();
  EXPECT_EQ(sink.events.size(), heard);
}

TEST_F(Wormhole, SpansOfATrackNeverOverlap) {
  Events sink;
  device_.set_trace_sink(&sink);
  for (const std::int64_t size : {64, 1024, 2048}) {
    const Product product(device_, size);
    for (int i = 0; i < 5; ++i) queue_.enqueue(product.program());
    queue_.finish();
  }
  std::map<Track, std::vector<TimelineEvent>> tracks;
  for (const TimelineEvent& event : sink.events) tracks[event.track].push_back(event);
  EXPECT_GE(tracks.size(), 3U) << "host, dispatcher and cores";
  for (auto& [track, events] : tracks) {
    std::ranges::sort(events, {}, &TimelineEvent::start);
    for (std::size_t i = 0; i < events.size(); ++i) {
      EXPECT_LE(events[i].start, events[i].end);
      if (i > 0) {
        EXPECT_LE(events[i - 1].end, events[i].start);
      }
    }
  }
}

TEST_F(Wormhole, DramThatIsFullIsAnErrorAndTheDeviceStaysUsable) {
  const ops::Tensor large(device_, {{65536, 65536}});  // 8 GiB of 12
  EXPECT_THROW(ops::Tensor(device_, {{65536, 65536}}), Error);
  const Product product(device_, 256);
  queue_.enqueue(product.program());
  EXPECT_NO_THROW(queue_.finish());
}

TEST_F(Wormhole, AProgramOnAReleasedBufferIsAnError) {
  const Program program = Product(device_, 256).program();
  EXPECT_THROW(queue_.enqueue(program), Error);
}

TEST_F(Wormhole, TransfersTakeTheTimeOfTheirTilesAndCheckTheirSize) {
  const ops::Tensor tensor(device_, {{64, 64}});
  const std::vector<std::byte> values(64 * 64 * 2);
  const SimTime start = device_.now();
  queue_.write_buffer(tensor.buffer(), values);
  EXPECT_EQ(device_.now() - start, transfer_time(Bytes(4 * 2048), profiles_.chip.pcie_write));
  EXPECT_THROW(queue_.write_buffer(tensor.buffer(), std::span(values).first(10)), Error);
}

TEST_F(Wormhole, WithoutValuesAReadTakesItsTimeAndWritesNothing) {
  const ops::Tensor tensor(device_, {{64, 64}});
  std::vector<std::byte> values(64 * 64 * 2, std::byte{7});
  const SimTime start = device_.now();
  queue_.read_buffer(tensor.buffer(), values);
  EXPECT_FALSE(device_.holds_values());
  EXPECT_EQ(device_.now() - start, transfer_time(Bytes(4 * 2048), profiles_.chip.pcie_read));
  EXPECT_EQ(values, std::vector<std::byte>(64 * 64 * 2, std::byte{7}));
}

TEST_F(Wormhole, TheHostsOwnWorkTakesItsTime) {
  device_.host_work(HostWork::python_call, 2);
  device_.host_work(HostWork::graph_node, 3);
  EXPECT_EQ(device_.now(),
            2 * profiles_.software.host_python_call + 3 * profiles_.software.host_graph_node);
}

TEST_F(Wormhole, TwoHostThreadsFeedTwoQueuesAtTheSameTime) {
  EmulatedChip device(profiles_, {.command_queues = 2});
  device.set_sub_devices(std::array{CoreRange{0, 0, 3, 6}, CoreRange{4, 0, 7, 6}});
  const Product product(device, 128);
  Program second = product.program();
  second.sub_device = 1;
  const SimTime start = device.now();
  device.use_host_thread(1);  // its clock starts now
  for (int i = 0; i < 100; ++i) {
    device.use_host_thread(0);
    device.command_queue(0).enqueue(product.program());
    device.use_host_thread(1);
    device.command_queue(1).enqueue(second);
  }
  device.use_host_thread(0);
  device.command_queue(0).finish();
  device.use_host_thread(1);
  device.command_queue(1).finish();
  device.join_host_threads();
  const SimTime both = device.now() - start;
  const Launch launch = launch_of(device.explain(second), DispatchCoreType::worker, profiles_);
  EXPECT_EQ(both, 100 * profiles_.software.host_op_call + launch.dispatch + launch.kernel +
                      profiles_.software.host_finish)
      << "as long as one thread alone";
}

TEST_F(Wormhole, TheProfilerIsReadAfterEachProgramAndOnceAfterATrace) {
  EmulatedChip profiled(profiles_, {.profiled = true});
  const Product product(profiled, 256);
  CommandQueue& queue = profiled.command_queue(0);
  const SimTime start = profiled.now();
  const SimTime push = profiles_.software.profiler_push;
  const Launch launch =
      launch_of(profiled.explain(product.program()), DispatchCoreType::worker, profiles_);
  const SimTime once = launch.dispatch + launch.kernel;
  for (int i = 0; i < 2; ++i) queue.enqueue(product.program());
  EXPECT_EQ(profiled.now() - start,
            2 * (profiles_.software.host_op_call + once + profiles_.software.profiler_read))
      << "nothing overlaps any more";

  queue.begin_trace_capture();
  for (int i = 0; i < 2; ++i) queue.enqueue(product.program());
  const TraceId trace = queue.end_trace_capture();
  const SimTime captured = profiled.now();
  queue.execute_trace(trace);
  const SimTime second = std::max(launch.dispatch, launch.go + push + launch.kernel);
  EXPECT_EQ(profiled.now() - captured, profiles_.software.host_replay +
                                           profiles_.software.dispatch.replay + once + second +
                                           profiles_.software.profiler_read);
}

TEST_F(Wormhole, QueuesAreAsManyAsWereAskedForAndTwoAtMost) {
  EXPECT_EQ(device_.command_queues(), 1);
  EXPECT_THROW(device_.command_queue(1), Error);
  EXPECT_THROW(device_.command_queue(-1), Error);
  EmulatedChip two(profiles_, {.command_queues = 2});
  EXPECT_NO_THROW(two.command_queue(1));
  EXPECT_THROW(two.command_queue(2), Error);
  EXPECT_THROW(EmulatedChip(profiles_, {.command_queues = 3}), Error);
  EXPECT_THROW(EmulatedChip(profiles_, {.command_queues = 0}), Error);
}

TEST_F(Wormhole, ACallOfSeveralLaunchesCostsTheHostAndTheChipEachOfThem) {
  const ops::Tensor x(device_, {{512, 512}});
  const Program program =
      make_program(GeluBackwardAttributes{.fused = /*fused=*/false}, {x, x}, {x});
  Events sink;
  device_.set_trace_sink(&sink);
  const SimTime start = device_.now();
  queue_.enqueue(program);
  EXPECT_EQ(device_.now() - start, 11 * profiles_.software.host_op_call);
  queue_.finish();
  std::vector<std::string_view> names;
  for (const TimelineEvent& event : sink.events) {
    if (event.track.kind == TrackKind::sub_device) names.push_back(event.name);
  }
  ASSERT_EQ(names.size(), 11U);
  EXPECT_EQ(names[1], "erf");
  EXPECT_EQ(device_.launches(program).size(), 11U);
  EXPECT_EQ(&device_.explain(program), &device_.launches(program)[10]);
}

TEST_F(Wormhole, ACallIsPlannedOnceWhateverItsScalarsAndBuffers) {
  const ops::Tensor x(device_, {{512, 512}});
  const ops::Tensor y(device_, {{512, 512}});
  const auto* const first =
      &device_.explain(make_program(eltwise_of(Eltwise::multiply, 0.1F), {x}, {x}));
  EXPECT_EQ(&device_.explain(make_program(eltwise_of(Eltwise::multiply, 0.2F), {y}, {y})), first);
  EXPECT_NE(&device_.explain(make_program(eltwise_of(Eltwise::add, 0.2F), {y}, {y})), first);
}

TEST_F(Wormhole, AViewRunsAsItsShapeOnTheSameBuffer) {
  const ops::Tensor x(device_, {{32, 256, 384}});
  const ops::Tensor rows = x.view({8192, 384});
  const ops::Tensor sum(device_, {{1, 384}});
  const Program program = make_program(
      ReduceAttributes{.reduction = Reduction::sum, .dimension = Dimension::rows}, {rows}, {sum});
  queue_.enqueue(program);
  queue_.finish();
  EXPECT_EQ(device_.explain(program).kernel.cores, 12) << "a core for each column of tiles";
}

class ChipTrace : public Wormhole {
 protected:
  TraceId capture(const Product& product, int programs) {
    queue_.begin_trace_capture();
    for (int i = 0; i < programs; ++i) queue_.enqueue(product.program());
    return queue_.end_trace_capture();
  }
};

TEST_F(ChipTrace, ACaptureRecordsEachLaunchOfACall) {
  const ops::Tensor x(device_, {{512, 512}});
  const SimTime start = device_.now();
  queue_.begin_trace_capture();
  queue_.enqueue(make_program(GeluBackwardAttributes{.fused = /*fused=*/false}, {x, x}, {x}));
  EXPECT_EQ(device_.now() - start, 11 * profiles_.software.host_capture);
  const TraceId trace = queue_.end_trace_capture();
  Events sink;
  device_.set_trace_sink(&sink);
  queue_.execute_trace(trace);
  queue_.finish();
  EXPECT_EQ(std::ranges::count(sink.events, TrackKind::sub_device,
                               [](const TimelineEvent& event) { return event.track.kind; }),
            11);
}

TEST_F(ChipTrace, AReplayRunsThePrograms) {
  const Product product(device_, 256);
  const SimTime start = device_.now();
  const TraceId trace = capture(product, 25);
  const SimTime captured = device_.now();
  EXPECT_EQ(captured - start, 25 * profiles_.software.host_capture) << "a capture runs nothing";
  Events sink;
  device_.set_trace_sink(&sink);
  queue_.execute_trace(trace);
  queue_.finish();
  EXPECT_EQ(std::ranges::count(sink.events, TrackKind::sub_device,
                               [](const TimelineEvent& event) { return event.track.kind; }),
            25);
  const Launch launch =
      launch_of(device_.explain(product.program()), DispatchCoreType::worker, profiles_);
  const SimTime period = std::max(launch.dispatch, launch.go + launch.kernel);
  EXPECT_EQ(device_.now() - captured,
            profiles_.software.host_replay + profiles_.software.dispatch.replay + 24 * period +
                launch.dispatch + launch.kernel + profiles_.software.host_finish)
      << "no host cost between programs";
}

TEST_F(ChipTrace, WhatATraceCannotHoldIsAnErrorAndTheCaptureGoesOn) {
  const Product product(device_, 256);
  std::vector<std::byte> values(256 * 256 * 2);
  queue_.begin_trace_capture();
  EXPECT_THROW(queue_.finish(), Error);
  EXPECT_THROW(queue_.read_buffer(product.a.buffer(), values), Error);
  EXPECT_THROW(queue_.write_buffer(product.a.buffer(), values), Error);
  EXPECT_THROW(queue_.record_event(), Error);
  EXPECT_THROW(queue_.begin_trace_capture(), Error);
  EXPECT_THROW(device_.set_sub_devices({}), Error);
  queue_.enqueue(product.program());
  const TraceId trace = queue_.end_trace_capture();
  EXPECT_NO_THROW(queue_.execute_trace(trace));
  EXPECT_NO_THROW(queue_.finish());
}

TEST_F(ChipTrace, AnEndWithoutABeginningIsAnError) {
  EXPECT_THROW(queue_.end_trace_capture(), Error);
}

TEST_F(ChipTrace, AReleasedTraceIsGone) {
  const TraceId trace = capture(Product(device_, 256), 1);
  device_.release_trace(trace);
  EXPECT_THROW(queue_.execute_trace(trace), Error);
  EXPECT_THROW(device_.release_trace(trace), Error);
}

TEST_F(ChipTrace, ATraceLargerThanItsRegionIsAnErrorUntilOthersAreReleased) {
  Profiles small = profiles_;
  small.software.trace_region = Bytes(20 * 4096);
  EmulatedChip device(small);
  CommandQueue& queue = device.command_queue(0);
  const Product product(device, 128);  // 16 cores have one page
  const auto capture_programs = [&](int count) {
    queue.begin_trace_capture();
    for (int i = 0; i < count; ++i) queue.enqueue(product.program());
    return queue.end_trace_capture();
  };
  const TraceId first = capture_programs(15);
  EXPECT_THROW(capture_programs(6), Error);
  device.release_trace(first);
  EXPECT_NO_THROW(capture_programs(20));
}

class ChipSubDevices : public Wormhole {
 protected:
  /// Returns a product on one half of the chip: 4x7 cores from column 0 or 4.
  static Program half(const Product& product, int sub_device) {
    Program program = make_program(MatmulAttributes{.core_grid = CoreGrid{4, 7}},
                                   {product.a, product.b}, {product.out});
    program.sub_device = sub_device;
    return program;
  }

  EmulatedChip two_{profiles_, {.command_queues = 2}};
  static constexpr std::array kHalves{CoreRange{0, 0, 3, 6}, CoreRange{4, 0, 7, 6}};
};

TEST_F(ChipSubDevices, TwoQueuesOnTwoHalvesRunAtTheSameTime) {
  const Product product(two_, 1024);
  two_.set_sub_devices(kHalves);
  const SimTime start = two_.now();
  for (int i = 0; i < 10; ++i) {
    two_.command_queue(0).enqueue(half(product, 0));
    two_.command_queue(1).enqueue(half(product, 1));
  }
  two_.command_queue(0).finish();
  const SimTime together = two_.now() - start;
  for (int i = 0; i < 20; ++i) two_.command_queue(0).enqueue(half(product, 0));
  const SimTime alone_start = two_.now();
  two_.command_queue(0).finish();
  const SimTime kernel = two_.explain(half(product, 0)).kernel.total;
  EXPECT_GT(2 * kernel, profiles_.software.host_op_call) << "the device is what is waited for";
  EXPECT_LT(together.seconds(), 0.75 * 20 * kernel.seconds());
  EXPECT_GT(two_.now() - alone_start, SimTime());
}

TEST_F(ChipSubDevices, CoresOfTheSecondHalfAreTraced) {
  const Product product(two_, 1024);
  two_.set_sub_devices(kHalves);
  Events sink;
  two_.set_trace_sink(&sink);
  two_.command_queue(1).enqueue(half(product, 1));
  two_.command_queue(1).finish();
  int on_cores = 0;
  for (const TimelineEvent& event : sink.events) {
    if (event.track.kind != TrackKind::core) continue;
    ++on_cores;
    EXPECT_GE(core_x(event.track.index), 4);
  }
  EXPECT_GT(on_cores, 0);
}

TEST_F(ChipSubDevices, BadDivisionsAreErrorsAndTheDeviceStaysUsable) {
  EXPECT_THROW(two_.set_sub_devices(std::array{CoreRange{0, 0, 4, 6}, CoreRange{4, 0, 7, 6}}),
               Error)
      << "a common column";
  EXPECT_THROW(two_.set_sub_devices(std::array{CoreRange{0, 0, 3, 7}}), Error)
      << "row 7 dispatches";
  EXPECT_THROW(two_.set_sub_devices(std::array{CoreRange{0, 0, 8, 6}}), Error) << "no column 8";
  EXPECT_THROW(two_.set_sub_devices(std::array{CoreRange{0, 3, 7, 6}, CoreRange{0, 0, 7, 3}}),
               Error)
      << "a common row";
  EXPECT_THROW(two_.set_sub_devices(std::array{CoreRange{3, 0, 0, 6}}), Error) << "corners swapped";
  std::vector<CoreRange> nine;
  for (int i = 0; i < 9; ++i) nine.push_back({i % 8, i / 8, i % 8, i / 8});
  EXPECT_THROW(two_.set_sub_devices(nine), Error);
  const Product product(two_, 256);
  two_.command_queue(0).enqueue(product.program());
  EXPECT_NO_THROW(two_.command_queue(0).finish());
}

TEST_F(ChipSubDevices, AProgramOutsideItsSubDeviceIsAnError) {
  const Product product(two_, 256);
  EXPECT_THROW(two_.command_queue(0).enqueue(half(product, 1)), Error) << "not divided yet";
  two_.set_sub_devices(kHalves);
  Program wide = make_program(MatmulAttributes{.core_grid = CoreGrid{8, 7}}, {product.a, product.b},
                              {product.out});
  EXPECT_THROW(two_.command_queue(0).enqueue(wide), Error);
  EXPECT_NO_THROW(two_.command_queue(0).enqueue(half(product, 1)));
}

TEST_F(ChipSubDevices, ASubDeviceBelongsToOneQueueUntilTheOtherKnowsItIsFree) {
  const Product product(two_, 256);
  CommandQueue& first = two_.command_queue(0);
  CommandQueue& second = two_.command_queue(1);
  first.enqueue(product.program());
  EXPECT_THROW(second.enqueue(product.program()), Error);
  second.wait_for_event(first.record_event());
  EXPECT_NO_THROW(second.enqueue(product.program()));
  EXPECT_THROW(first.enqueue(product.program()), Error);
  second.finish();
  EXPECT_NO_THROW(first.enqueue(product.program()));
  first.finish();
}

TEST_F(ChipSubDevices, AnEventOfNobodyIsAnError) {
  EXPECT_THROW(two_.command_queue(0).wait_for_event(EventId{0}), Error);
}

TEST_F(Wormhole, DescriptionNamesChipAndGrid) {
  EXPECT_EQ(device_.description(), "wormhole_b0_n300, WORKER dispatch, 8x7 cores");
}

}  // namespace
}  // namespace howard::chip
