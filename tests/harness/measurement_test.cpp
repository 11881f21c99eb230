// SPDX-License-Identifier: Apache-2.0
#include "harness/measurement.h"

#include <gtest/gtest.h>

#include <array>
#include <map>

#include "tests/harness/fake_experiment.h"

namespace howard::harness {
namespace {

const auto kNeverStop = [] { return false; };

std::map<std::size_t, WallSamples> measure(std::span<Case* const> cases, const WallOptions& options,
                                           const std::function<bool()>& stop = kNeverStop) {
  std::map<std::size_t, WallSamples> samples;
  measure_wall(cases, options, stop, [&](std::size_t i, WallSamples one) {
    EXPECT_TRUE(samples.emplace(i, std::move(one)).second) << "a case is reported once";
  });
  return samples;
}

TEST(MeasureVirtual, DividesTheTimedRegionByItsIterations) {
  FakeCase point(SimTime::microseconds(10));
  // There are five runs of 10 us and the last finish of 1 us; the warm-up does not count.
  EXPECT_EQ(measure_virtual(point, {.warmup = 3, .iterations = 5}), SimTime::nanoseconds(10'200));
  EXPECT_EQ(point.runs, 8);
  EXPECT_EQ(point.finishes, 2);
}

TEST(MeasureWall, GivesEachCaseItsSamplesFromItsOwnClock) {
  FakeCase slow(SimTime::microseconds(2000));
  FakeCase fast(SimTime::microseconds(500));
  const std::array<Case*, 2> cases{&slow, &fast};
  const auto samples = measure(cases, {.repetitions = 7, .min_time = 0.01});
  ASSERT_EQ(samples.size(), 2U);
  ASSERT_EQ(samples.at(0).seconds.size(), 7U);
  for (const double seconds : samples.at(0).seconds) EXPECT_NEAR(seconds, 2e-3, 1e-12);
  for (const double seconds : samples.at(1).seconds) EXPECT_NEAR(seconds, 5e-4, 1e-12);
  // A repetition takes at least 10 ms by the case's clock.
  EXPECT_GE(slow.runs, 7 * 5);
  EXPECT_GE(fast.runs, 7 * 20);
}

class Counter final : public EventSink {
 public:
  void record(const TimelineEvent&) override { ++events; }
  int events = 0;
};

TEST(MeasureWall, AWatchSeesAWarmUpOfEachRepetitionAndEveryTimedIteration) {
  FakeCase point(SimTime::microseconds(1000));
  const std::array<Case*, 1> cases{&point};
  Counter sink;
  int iterations = 0;
  std::vector<double> seconds;
  measure_wall(
      cases, {.repetitions = 2, .min_time = 0.001}, kNeverStop,
      [&](std::size_t, WallSamples samples) { seconds = std::move(samples.seconds); },
      {.warm_up_sink = [&] { return &sink; }, .iterated = [&](std::size_t) { ++iterations; }});
  EXPECT_GE(iterations, 2);
  EXPECT_GE(sink.events, 2) << "and what the library tries out";
  EXPECT_EQ(point.runs, iterations + 2 * sink.events) << "two warm-ups, one of them recorded";
  for (const double each : seconds) EXPECT_NEAR(each, 1e-3, 1e-12);
}

TEST(RecordingCost, IsTheShareThatRecordingAdds) {
  FakeCase point(SimTime::microseconds(998));
  point.recording = SimTime::microseconds(20);
  Counter sink;
  EXPECT_NEAR(recording_cost(point, sink), 0.02, 1e-9) << "of 998 us and two finishes";
  EXPECT_EQ(2 * sink.events, point.runs);
}

TEST(MeasureWall, AFailingCaseDoesNotStopTheOthers) {
  FakeCase bad(SimTime::microseconds(1000));
  bad.fails = true;
  FakeCase good(SimTime::microseconds(1000));
  const std::array<Case*, 2> cases{&bad, &good};
  const auto samples = measure(cases, {.repetitions = 2, .min_time = 0.001});
  EXPECT_EQ(samples.at(0).failure, "cannot run: it fails");
  EXPECT_EQ(samples.at(1).failure, std::nullopt);
  EXPECT_EQ(samples.at(1).seconds.size(), 2U);
}

TEST(MeasureWall, AStopGivesUpWhatIsLeft) {
  FakeCase point(SimTime::microseconds(1000));
  const std::array<Case*, 1> cases{&point};
  const auto samples =
      measure(cases, {.repetitions = 5, .min_time = 0.01}, [&] { return point.runs >= 3; });
  EXPECT_EQ(samples.at(0).failure, kInterrupted);
  EXPECT_LE(point.runs, 4);
}

TEST(MeasureWall, AStopWithinALaterRepetitionKeepsTheOnesBeforeIt) {
  const WallOptions options{.repetitions = 3, .min_time = 0.01};
  FakeCase whole(SimTime::microseconds(1000));
  measure(std::array<Case*, 1>{&whole}, options);
  FakeCase point(SimTime::microseconds(1000));
  const auto samples =
      measure(std::array<Case*, 1>{&point}, options, [&] { return point.runs >= whole.runs - 3; });
  EXPECT_EQ(samples.at(0).failure, kInterrupted);
  EXPECT_EQ(samples.at(0).seconds.size(), 2U);
}

TEST(MeasureWall, NoCasesAreNoSamples) { EXPECT_TRUE(measure({}, {}).empty()); }

}  // namespace
}  // namespace howard::harness
