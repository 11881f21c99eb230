// SPDX-License-Identifier: Apache-2.0
#include "engines/chip/dispatch/launch_spans.h"

#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "engines/chip/kernels/planner.h"

namespace howard::chip {
namespace {

SimTime at(std::int64_t nanoseconds) { return SimTime::nanoseconds(nanoseconds); }

class Spans : public EventSink {
 public:
  void record(const TimelineEvent& event) override { spans.push_back(event); }
  std::vector<TimelineEvent> spans;
};

TEST(LaunchSpans, EachCoreWithWorkHasItsReaderComputeAndWriterAtItsPlaceOnTheChip) {
  const PlannedProgram planned{.name = "matmul",
                               .kernel = {.compute_start = at(3),
                                          .reads_end = at(50),
                                          .first_write = at(7),
                                          .math_end = at(60),
                                          .total = at(70),
                                          .grid = {2, 4},
                                          .cores = 3}};
  Spans sink;
  record_launch(sink, 9, 1, {.first_column = 4, .first_row = 2, .last_column = 5, .last_row = 5},
                {.sub_device = 1, .planned = &planned},
                {.dispatch_start = at(10),
                 .dispatch_end = at(20),
                 .kernel_start = at(100),
                 .kernel_end = at(175)});
  ASSERT_EQ(sink.spans.size(), 2U + 3U * 3U);
  const auto expect = [&](std::size_t i, Track track, std::int64_t start, std::int64_t end) {
    const TimelineEvent& span = sink.spans[i];
    EXPECT_EQ(span.track, track) << i;
    EXPECT_EQ(span.start, at(start)) << i;
    EXPECT_EQ(span.end, at(end)) << i;
    EXPECT_EQ(span.program, 9U) << i;
  };
  expect(0, {TrackKind::dispatcher, Lane::none, 1}, 10, 20);
  expect(1, {TrackKind::sub_device, Lane::none, 1}, 100, 175);
  const std::array places{core_index(4, 2), core_index(5, 2), core_index(4, 3)};
  for (std::size_t core = 0; core < places.size(); ++core) {
    expect(2 + 3 * core, {TrackKind::core, Lane::reader, places[core]}, 100, 150);
    expect(3 + 3 * core, {TrackKind::core, Lane::compute, places[core]}, 103, 160);
    expect(4 + 3 * core, {TrackKind::core, Lane::writer, places[core]}, 107, 170);
  }
}

}  // namespace
}  // namespace howard::chip
