// SPDX-License-Identifier: Apache-2.0
#include "engines/wormhole/wormhole_device.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "base/error.h"
#include "engines/ops/matmul.h"

namespace howard::wormhole {
namespace {

struct Product {
  Product(Device& device, std::int64_t size)
      : a(device, {{size, size}}), b(device, {{size, size}}), out(device, {{size, size}}) {}
  Program program() const { return ops::matmul(a, b, out); }
  ops::Tensor a, b, out;
};

class Events : public TraceSink {
 public:
  void record(const TraceEvent& event) override { events.push_back(event); }
  std::vector<TraceEvent> events;
};

std::string log_of(const std::vector<TraceEvent>& events) {
  std::string text;
  for (const TraceEvent& event : events) {
    text += std::to_string(static_cast<int>(event.track.kind)) + ":" +
            std::to_string(static_cast<int>(event.track.lane)) + ":" +
            std::to_string(event.track.index) + " " + std::string(event.name) + " " +
            std::to_string(event.start.ps()) + " " + std::to_string(event.end.ps()) + "\n";
  }
  return text;
}

/// A run with everything in it, as a text.
std::string event_log(DispatchCoreType type) {
  WormholeDevice device(load_profiles(), type);
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
  WormholeDevice device_{profiles_, DispatchCoreType::worker};
  CommandQueue& queue_ = device_.command_queue(0);
};

TEST_F(Wormhole, AProductWithAFinishCostsTheSumOfItsStages) {
  const Product product(device_, 1024);
  queue_.enqueue(product.program());
  EXPECT_EQ(device_.now(), profiles_.software.host_op_call) << "the host does not wait";
  queue_.finish();
  EXPECT_EQ(device_.now(), profiles_.software.host_op_call + profiles_.software.worker.program +
                               profiles_.software.dispatch_go +
                               device_.explain(product.program()).cost.total +
                               profiles_.software.host_finish);
}

TEST_F(Wormhole, ManyProductsOverlapHostAndDevice) {
  const Product product(device_, 128);
  const SimTime kernel = device_.explain(product.program()).cost.total;
  ASSERT_LT(kernel, profiles_.software.host_op_call);
  for (int i = 0; i < 10; ++i) queue_.enqueue(product.program());
  queue_.finish();
  EXPECT_EQ(device_.now(), 10 * profiles_.software.host_op_call +
                               profiles_.software.worker.program + profiles_.software.dispatch_go +
                               kernel + profiles_.software.host_finish)
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
  queue_.enqueue(product.program());
  queue_.finish();
  const SimTime silent = device_.now();
  Events sink;
  device_.set_trace_sink(&sink);
  queue_.enqueue(product.program());
  queue_.finish();
  EXPECT_EQ(device_.now(), 2 * silent);
  const auto heard = sink.events.size();
  EXPECT_EQ(heard, 4U + 3U * 48U) << "host call, finish, dispatch, queue and 48 cores of 3 lanes";
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
  std::map<Track, std::vector<TraceEvent>> tracks;
  for (const TraceEvent& event : sink.events) tracks[event.track].push_back(event);
  for (auto& [track, events] : tracks) {
    std::ranges::sort(events, {}, &TraceEvent::start);
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
  queue_.write_buffer(tensor.buffer(), values);
  EXPECT_EQ(device_.now(), transfer_time(Bytes(4 * 2048), profiles_.chip.pcie_write));
  EXPECT_THROW(queue_.write_buffer(tensor.buffer(), std::span(values).first(10)), Error);
}

TEST_F(Wormhole, ThereAreNoValuesToRead) {
  const ops::Tensor tensor(device_, {{32, 32}});
  std::vector<std::byte> values(32 * 32 * 2);
  EXPECT_THROW(queue_.read_buffer(tensor.buffer(), values), Error);
}

TEST_F(Wormhole, ThereIsOneCommandQueue) {
  EXPECT_THROW(device_.command_queue(1), Error);
  EXPECT_THROW(device_.command_queue(-1), Error);
}

TEST_F(Wormhole, DescriptionNamesChipAndGrid) {
  EXPECT_EQ(device_.description(), "wormhole_b0_n300, WORKER dispatch, 8x7 cores");
}

}  // namespace
}  // namespace howard::wormhole
