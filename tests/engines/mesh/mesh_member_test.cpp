// SPDX-License-Identifier: Apache-2.0
#include "engines/mesh/mesh_member.h"

#include <gtest/gtest.h>

#include <array>
#include <mutex>
#include <numeric>
#include <vector>

#include "base/error.h"
#include "engines/autograd/functions/collective/collectives.h"
#include "engines/autograd/host_values.h"
#include "engines/host/host_device.h"
#include "engines/mesh/thread_ranks.h"
#include "tests/error_of.h"

namespace howard::mesh {
namespace {

using autograd::Calls;
using autograd::DeviceGroup;
using ops::Tensor;

/// What each of `ranks` devices gets when all of them make `call` of their own values of `spec`,
/// which count from 1000 times the rank.
template <class Call>
std::vector<std::vector<float>> on_devices(int ranks, const TensorSpec& spec, const Call& call) {
  std::vector<std::vector<float>> results(static_cast<std::size_t>(ranks));
  run_as_threads(ranks, [&](Communicator& world) {
    std::vector<int> all(static_cast<std::size_t>(ranks));
    std::iota(all.begin(), all.end(), 0);
    host::HostDevice host({.threads = 1});
    MeshMember device(host, world, {all});
    const DeviceGroup group(device, 0, ranks, world.rank());
    const Calls calls(device);
    const Tensor x(device, spec);
    std::vector<float> values(static_cast<std::size_t>(spec.shape.elements()));
    std::iota(values.begin(), values.end(), static_cast<float>(1000 * world.rank()));
    autograd::write_values(calls.queue(), x, values);
    results[static_cast<std::size_t>(world.rank())] =
        autograd::read_values(calls.queue(), call(calls, x, group));
  });
  return results;
}

TEST(Collectives, GatherPutsThePartsInTheOrderOfTheDevices) {
  const TensorSpec spec{.shape = {2, 3}, .dtype = DataType::float32};
  const auto gathered = [&](int dimension) {
    return on_devices(2, spec, [=](const Calls& calls, const Tensor& x, const DeviceGroup& group) {
      return autograd::all_gather(calls, x, group, dimension);
    });
  };
  const auto columns = gathered(3);
  EXPECT_EQ(columns[0], (std::vector<float>{0, 1, 2, 1000, 1001, 1002, 3, 4, 5, 1003, 1004, 1005}));
  EXPECT_EQ(columns[1], columns[0]);
  EXPECT_EQ(gathered(2)[1],
            (std::vector<float>{0, 1, 2, 3, 4, 5, 1000, 1001, 1002, 1003, 1004, 1005}));
}

TEST(Collectives, AReducedTensorIsTheSumOnEachDeviceWhateverDivides) {
  // By columns, by rows, and by neither.
  for (const Shape& shape : {Shape{1, 1, 2, 96}, Shape{2, 1, 96, 5}, Shape{3, 2, 4, 7}}) {
    const TensorSpec spec{.shape = shape, .dtype = DataType::float32};
    const auto sums =
        on_devices(3, spec, [](const Calls& calls, const Tensor& x, const DeviceGroup& group) {
          return autograd::all_reduce(calls, x, group);
        });
    std::vector<float> expected(static_cast<std::size_t>(shape.elements()));
    for (std::size_t i = 0; i < expected.size(); ++i) {
      expected[i] = static_cast<float>(3 * i + 3000);
    }
    for (const std::vector<float>& sum : sums) EXPECT_EQ(sum, expected) << shape.text();
  }
}

TEST(Collectives, SumsOfBfloat16AreRoundedOnce) {
  // 256 + 1 + 1 is 258; rounded after each addition it would stay 256.
  std::array<float, 3> sums{};
  run_as_threads(3, [&](Communicator& world) {
    host::HostDevice host({.threads = 1});
    MeshMember device(host, world, {{0, 1, 2}});
    const DeviceGroup group(device, 0, 3, world.rank());
    const Calls calls(device);
    const Tensor x(device, {.shape = {32, 96}, .dtype = DataType::bfloat16});
    autograd::write_constant(calls.queue(), x, world.rank() == 0 ? 256.0F : 1.0F);
    sums.at(static_cast<std::size_t>(world.rank())) =
        autograd::read_values(calls.queue(), autograd::all_reduce(calls, x, group))[0];
  });
  EXPECT_EQ(sums, (std::array<float, 3>{258, 258, 258}));
}

TEST(Collectives, ATraceWithThemIsReplayedWithTheOtherDevices) {
  std::array<std::vector<float>, 2> squares;
  run_as_threads(2, [&](Communicator& world) {
    host::HostDevice host({.threads = 1});
    MeshMember device(host, world, {{0, 1}});
    const DeviceGroup group(device, 0, 2, world.rank());
    const Calls calls(device);
    const Tensor x(device, {.shape = {32, 64}, .dtype = DataType::float32});
    calls.queue().begin_trace_capture();
    const Tensor twice = calls.multiply(x, 2);
    const Tensor both = autograd::all_gather(calls, twice, group);
    const Tensor square = calls.multiply(both, both);
    const TraceId trace = calls.queue().end_trace_capture();
    for (const float value : {1.0F, 10.0F}) {
      autograd::write_constant(calls.queue(), x, value + static_cast<float>(world.rank()));
      calls.queue().execute_trace(trace);
    }
    squares.at(static_cast<std::size_t>(world.rank())) =
        autograd::read_values(calls.queue(), square);
    device.release_trace(trace);
    EXPECT_THROW(calls.queue().execute_trace(trace), Error);
  });
  for (const std::vector<float>& square : squares) {
    EXPECT_EQ(square.at(0), 400);
    EXPECT_EQ(square.at(64), 484);
  }
}

TEST(ThreadRanks, ARankThatFailsEndsThoseThatWaitForIt) {
  std::mutex mutex;
  std::vector<std::string> others;
  const auto work = [&](Communicator& world) {
    if (world.rank() == 1) {
      throw Error({.attempted = "go on", .value = "the reason"});
    }
    try {
      static_cast<void>(world.receive(1));
    } catch (const Error& error) {
      const std::lock_guard lock(mutex);
      others.emplace_back(error.what());
      throw;
    }
  };
  const std::string message = error_of([&] { run_as_threads(3, work); });
  EXPECT_NE(message.find("the reason"), std::string::npos)
      << "the first failure, not what follows from it: " << message;
  ASSERT_EQ(others.size(), 2U);
  for (const std::string& text : others) EXPECT_NE(text.find("rank 1"), std::string::npos) << text;
}

TEST(ThreadRanks, MessagesAreCountedAndKeepTheirOrder) {
  run_as_threads(2, [](Communicator& world) {
    const std::array<std::byte, 3> message{std::byte{1}, std::byte{2}, std::byte{3}};
    if (world.rank() == 0) {
      world.send(1, std::span(message).first(1));
      world.send(1, message);
      EXPECT_EQ(world.sent().count, 2);
      EXPECT_EQ(world.sent().bytes, 4);
    } else {
      EXPECT_EQ(world.receive(0).size(), 1U);
      EXPECT_EQ(world.receive(0).size(), 3U);
      EXPECT_EQ(world.sent().count, 0);
    }
    wait_for_all(world);
  });
}

}  // namespace
}  // namespace howard::mesh
