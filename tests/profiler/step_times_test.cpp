// SPDX-License-Identifier: Apache-2.0
#include "profiler/step_times.h"

#include <gtest/gtest.h>

namespace howard::profiler {
namespace {

constexpr StepTimes times(std::int64_t time, std::int64_t compute, std::int64_t sums) {
  const auto us = [](std::int64_t n) { return SimTime::microseconds(n); };
  return {us(time), us(compute), us(sums), us(3), us(2)};
}

TEST(StepTimes, TheRestIsWhatNoPartHas) {
  EXPECT_EQ(times(100, 60, 10).rest(), SimTime::microseconds(25));
  SimTime sum;
  for (const auto& [name, part] : times(100, 60, 10).parts()) sum += part;
  EXPECT_EQ(sum, SimTime::microseconds(100));
}

TEST(StepTimes, EachFurtherMicroBatchTakesWhatTheSecondTook) {
  const StepTimes four = extended(times(100, 60, 10), times(150, 100, 10), 4);
  EXPECT_EQ(four.time, SimTime::microseconds(250));
  EXPECT_EQ(four.compute, SimTime::microseconds(180));
  EXPECT_EQ(four.sums, SimTime::microseconds(10)) << "once in a step";
}

}  // namespace
}  // namespace howard::profiler
