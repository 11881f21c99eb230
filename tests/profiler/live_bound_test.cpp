// SPDX-License-Identifier: Apache-2.0
#include "profiler/live_bound.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string_view>
#include <vector>

#include "profiler/timeline.h"

namespace howard::profiler {
namespace {

/// Returns programs as a host engine records them: a call of `call` us, then a kernel of `kernel`
/// us. Each call is made when the kernel before it has ended.
std::vector<TimelineEvent> in_turn(std::int64_t call, std::int64_t kernel, std::string_view name) {
  std::vector<TimelineEvent> events;
  SimTime now;
  for (std::uint64_t program = 1; program <= 5; ++program) {
    const SimTime called = now + SimTime::microseconds(call);
    const SimTime ended = called + SimTime::microseconds(kernel);
    events.push_back({.track = {TrackKind::host_thread},
                      .name = name,
                      .category = category::kHost,
                      .start = now,
                      .end = called,
                      .program = program});
    events.push_back({.track = {TrackKind::command_queue},
                      .name = name,
                      .category = category::kKernel,
                      .start = called,
                      .end = ended,
                      .program = program});
    now = ended;
  }
  return events;
}

TEST(LiveBound, IsTheLongestOpWhereProgramsRunMostOfTheTime) {
  std::vector<TimelineEvent> events = in_turn(10, 90, "matmul");
  const SimTime end = events.back().end;
  events.push_back({.track = {TrackKind::command_queue},
                    .name = "add",
                    .category = category::kKernel,
                    .start = end,
                    .end = end + SimTime::microseconds(10),
                    .program = 6});
  const auto bound = live_bound(events);
  ASSERT_TRUE(bound);
  EXPECT_EQ(bound->name, "kernels: matmul");
  EXPECT_NEAR(bound->share, 460.0 / 500.0, 1e-9) << "from the first kernel to the last";
}

TEST(LiveBound, IsTheCauseOfTheGapsWhereNothingRunsMostOfTheTime) {
  const auto bound = live_bound(in_turn(90, 10, "matmul"));
  ASSERT_TRUE(bound);
  EXPECT_EQ(bound->name, "host issuing");
  EXPECT_NEAR(bound->share, 360.0 / 410.0, 1e-9);
}

TEST(LiveBound, IsAbsentWhereNothingRan) { EXPECT_FALSE(live_bound({})); }

}  // namespace
}  // namespace howard::profiler
