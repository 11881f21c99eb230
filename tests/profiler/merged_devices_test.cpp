// SPDX-License-Identifier: Apache-2.0
#include "profiler/merged_devices.h"

#include <gtest/gtest.h>

#include <string>

namespace howard::profiler {
namespace {

SimTime us(std::int64_t number) { return SimTime::microseconds(number); }

class MergedDevicesTest : public ::testing::Test {
 protected:
  void add(std::uint16_t device, const std::string& op, std::int64_t start, std::int64_t length) {
    ProgramRun& run = timeline_.programs.emplace_back();
    run.device = device;
    run.name = timeline_.names.id(op);
    run.kernel = {us(start), us(start + length)};
  }
  MergedDevices merged(bool knows_starts = true) { return merge_devices(timeline_, knows_starts); }

  Timeline timeline_;
};

TEST_F(MergedDevicesTest, AnOpTakesTheLongestOfTheDevicesAndACollectiveTheMean) {
  add(0, "Matmul", 0, 10);
  add(1, "Matmul", 1000, 16);
  add(0, "AllReduceAsync", 20, 30);
  add(1, "AllReduceAsync", 1020, 10);
  const MergedDevices found = merged();
  ASSERT_EQ(found.ops.size(), 2U);
  EXPECT_EQ(found.devices, 2U);
  EXPECT_TRUE(found.ops[0].collective);
  EXPECT_EQ(found.ops[0].time, us(20));
  EXPECT_EQ(found.ops[0].shortest, us(10));
  EXPECT_FALSE(found.ops[1].collective);
  EXPECT_EQ(found.ops[1].time, us(16));
  EXPECT_EQ(found.time, us(36));
}

TEST_F(MergedDevicesTest, SkewIsCountedFromTheFirstProgramBecauseClocksDiffer) {
  add(0, "a", 0, 1);
  add(1, "a", 500, 1);
  add(0, "b", 10, 1);
  add(1, "b", 517, 1);
  add(0, "b", 20, 1);
  add(1, "b", 522, 1);
  const MergedDevices found = merged();
  EXPECT_EQ(found.worst_skew, us(7));
  EXPECT_EQ(found.median_skew, us(2));
  EXPECT_EQ(merged(false).worst_skew, SimTime());
}

TEST_F(MergedDevicesTest, AProgramOfOneDeviceAloneIsNoOriginOfItsClock) {
  add(0, "only here", 0, 1);
  add(0, "a", 100, 1);
  add(1, "a", 500, 1);
  add(0, "b", 110, 1);
  add(1, "b", 513, 1);
  EXPECT_EQ(merged().worst_skew, us(3));
}

TEST_F(MergedDevicesTest, ProgramsThatNotAllDevicesHaveAreCounted) {
  add(0, "a", 0, 1);
  add(1, "a", 0, 3);
  add(1, "a", 5, 100);
  add(0, "only here", 9, 1);
  const MergedDevices found = merged();
  ASSERT_EQ(found.ops.size(), 1U);
  EXPECT_EQ(found.ops[0].time, us(3));
  EXPECT_EQ(found.unmatched, 2U);
}

TEST(Collectives, AreNotThePartsOfANormBeforeAndAfterItsExchange) {
  EXPECT_TRUE(is_collective("AllGatherAsyncDeviceOperation"));
  EXPECT_FALSE(is_collective("LayerNormPreAllGather"));
  EXPECT_FALSE(is_collective("LayerNormPostAllGatherDeviceOperation"));
}

TEST_F(MergedDevicesTest, OneDeviceIsNotMerged) {
  add(0, "a", 0, 1);
  EXPECT_TRUE(merged().ops.empty());
}

}  // namespace
}  // namespace howard::profiler
