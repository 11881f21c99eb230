// SPDX-License-Identifier: Apache-2.0
#include "engines/chip/dispatch/event_queue.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace howard::chip {
namespace {

TEST(EventQueue, OrderIsTimeThenKindThenInsertion) {
  EventQueue queue;
  const SimTime early = SimTime::nanoseconds(1);
  const SimTime late = SimTime::nanoseconds(2);
  queue.schedule(late, EventKind::kernel_done, 1, 0);
  queue.schedule(early, EventKind::command_visible, 2, 0);
  queue.schedule(early, EventKind::kernel_done, 3, 0);
  queue.schedule(early, EventKind::command_visible, 4, 0);
  queue.schedule(early, EventKind::config_written, 5, 0);
  std::vector<std::size_t> order;
  while (!queue.empty()) order.push_back(queue.take().subject);
  EXPECT_EQ(order, (std::vector<std::size_t>{3, 5, 2, 4, 1}));
}

TEST(EventQueue, AnyInsertionOrderOfDistinctTimesGivesOneOrder) {
  std::vector<std::int64_t> times(200);
  for (std::size_t i = 0; i < times.size(); ++i) times[i] = static_cast<std::int64_t>(i);
  std::shuffle(times.begin(), times.end(), std::mt19937(1));
  EventQueue queue;
  for (const std::int64_t time : times) {
    queue.schedule(SimTime::nanoseconds(time), EventKind::kernel_done, 0, 0);
  }
  for (std::int64_t expected = 0; expected < 200; ++expected) {
    EXPECT_EQ(queue.take().time, SimTime::nanoseconds(expected));
    EXPECT_EQ(queue.now(), SimTime::nanoseconds(expected));
  }
}

TEST(EventQueueDeathTest, SchedulingIntoThePastIsABug) {
  EventQueue queue;
  queue.schedule(SimTime::nanoseconds(5), EventKind::kernel_done, 1, 0);
  queue.take();
  EXPECT_DEATH(queue.schedule(SimTime::nanoseconds(4), EventKind::kernel_done, 2, 0),
               "an event lies in the future");
  EXPECT_DEATH(queue.take(), "there is an event to take");
}

}  // namespace
}  // namespace howard::chip
