// SPDX-License-Identifier: Apache-2.0
#include "engines/chip/memory/value_shadow.h"

#include <gtest/gtest.h>

#include <array>
#include <span>
#include <vector>

#include "base/error.h"
#include "engines/chip/emulated_chip.h"
#include "engines/host/host_device.h"
#include "engines/ops/tensor.h"

namespace howard::chip {
namespace {

constexpr std::int64_t kSide = 32;
constexpr std::size_t kElements = kSide * kSide;
using Matrix = std::vector<float>;

/// Has an emulated device that keeps values, and one that does not.
class ChipValues : public ::testing::Test {
 protected:
  static TensorSpec spec() { return {{kSide, kSide}, DataType::float32}; }

  static void write(EmulatedChip& device, const ops::Tensor& tensor, float diagonal) {
    Matrix values(kElements);
    for (std::size_t i = 0; i < kSide; ++i) values[i * kSide + i] = diagonal;
    device.command_queue(0).write_buffer(tensor.buffer(), std::as_bytes(std::span(values)));
  }
  static float first(EmulatedChip& device, const ops::Tensor& tensor) {
    Matrix values(kElements);
    device.command_queue(0).read_buffer(tensor.buffer(), std::as_writable_bytes(std::span(values)));
    return values[0];
  }

  host::HostDevice host_{{.threads = 1}};
  Profiles profiles_ = load_profiles();
  EmulatedChip device_{profiles_, {.command_queues = 2, .values = &host_}};
  CommandQueue& queue_ = device_.command_queue(0);
};

TEST_F(ChipValues, ProgramsComputeWhileTheyAreTimed) {
  const ops::Tensor a(device_, spec()), b(device_, spec()), c(device_, spec());
  write(device_, a, 3);
  write(device_, b, 5);
  queue_.enqueue(make_program(MatmulAttributes{}, {a, b}, {c}));
  EXPECT_EQ(first(device_, c), 15);
  EXPECT_TRUE(device_.holds_values());
}

TEST_F(ChipValues, ChangeNoTime) {
  EmulatedChip timing(profiles_, {.command_queues = 2});
  const auto run = [](EmulatedChip& device) {
    const ops::Tensor a(device, spec()), c(device, spec());
    write(device, a, 2);
    device.command_queue(0).enqueue(make_program(MatmulAttributes{}, {a, a}, {c}));
    device.command_queue(0).finish();
    return device.now();
  };
  EXPECT_EQ(run(device_), run(timing));
}

TEST_F(ChipValues, ACaptureComputesNothingAndEachReplayDoes) {
  const ops::Tensor a(device_, spec()), b(device_, spec());
  write(device_, a, 2);
  write(device_, b, 1);
  queue_.begin_trace_capture();
  queue_.enqueue(make_program(MatmulAttributes{}, {a, a}, {b}));
  const TraceId trace = queue_.end_trace_capture();
  EXPECT_EQ(first(device_, b), 1);
  queue_.execute_trace(trace);
  EXPECT_EQ(first(device_, b), 4);
  write(device_, a, 3);
  queue_.execute_trace(trace);
  EXPECT_EQ(first(device_, b), 9);
  device_.release_trace(trace);
  EXPECT_THROW(queue_.execute_trace(trace), Error);
}

TEST_F(ChipValues, FlowBetweenTwoQueuesInTheOrderOfTheCalls) {
  const ops::Tensor a(device_, spec()), b(device_, spec()), c(device_, spec());
  write(device_, a, 2);
  device_.set_sub_devices(std::array{CoreRange{0, 0, 3, 6}, CoreRange{4, 0, 7, 6}});
  Program second = make_program(MatmulAttributes{}, {b, a}, {c});
  second.sub_device = 1;
  queue_.enqueue(make_program(MatmulAttributes{}, {a, a}, {b}));
  device_.command_queue(1).wait_for_event(queue_.record_event());
  device_.command_queue(1).enqueue(second);
  device_.command_queue(1).finish();
  EXPECT_EQ(first(device_, c), 8);
}

TEST_F(ChipValues, WhatTheOtherDeviceCannotHoldIsAnErrorAndLeavesNothingBehind) {
  const TensorSpec block{{kSide, kSide}, DataType::bfloat8_b};
  EXPECT_THROW(ops::Tensor(device_, block), Error);
  const ops::Tensor a(device_, spec()), c(device_, spec());
  write(device_, a, 2);
  queue_.enqueue(make_program(MatmulAttributes{}, {a, a}, {c}));
  EXPECT_EQ(first(device_, c), 4);
}

}  // namespace
}  // namespace howard::chip
