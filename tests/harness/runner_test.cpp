// SPDX-License-Identifier: Apache-2.0
#include "harness/runner.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>

#include "base/error.h"
#include "tests/error_of.h"
#include "tests/harness/fake_experiment.h"

namespace howard::harness {
namespace {

/// An observer made of functions, each of which may be missing.
struct Hooks final : RunObserver {
  std::function<bool()> stops;
  std::function<void(std::size_t, const PointResult&)> done;
  std::function<void(std::size_t)> wall;
  EventSink* sink = nullptr;

  bool stop() override { return stops && stops(); }
  void point_done(std::size_t index, const PointResult& point) override {
    if (done) done(index, point);
  }
  void wall_follows(std::size_t count) override {
    if (wall) wall(count);
  }
  EventSink* trace_sink(const PointResult& /*point*/) override { return sink; }
};

constexpr WallOptions kQuick{.repetitions = 2, .min_time = 0.001};

class Runner : public ::testing::Test {
 protected:
  std::vector<std::string> ids(const PlanOptions& options) const {
    std::vector<std::string> result;
    for (const PointResult& point : plan_points(experiment_, options)) result.push_back(point.id());
    return result;
  }

  std::vector<PointResult> run(const PlanOptions& options) const {
    return run_points(experiment_, plan_points(experiment_, options), kQuick);
  }
  std::vector<PointResult> run(const PlanOptions& options, RunObserver& observer) const {
    return run_points(experiment_, plan_points(experiment_, options), kQuick, observer);
  }

  FakeExperiment experiment_;
};

TEST_F(Runner, PlansTheProductOfEachBackendsAxes) {
  EXPECT_EQ(ids({}), (std::vector<std::string>{"emulated/us:1/mode:fast", "emulated/us:1/mode:slow",
                                               "emulated/us:2/mode:fast", "emulated/us:2/mode:slow",
                                               "host/us:1", "host/us:2"}));
  EXPECT_EQ(ids({.quick = true}).size(), 3U);
  EXPECT_EQ(ids({.backends = {Backend::host}, .overrides = {{"us", {"3"}}}}),
            (std::vector<std::string>{"host/us:3"}));
}

TEST_F(Runner, FiltersById) {
  EXPECT_EQ(ids({.filter = "mode:fast"}),
            (std::vector<std::string>{"emulated/us:1/mode:fast", "emulated/us:2/mode:fast"}));
  EXPECT_EQ(ids({.filter = "-emulated"}), (std::vector<std::string>{"host/us:1", "host/us:2"}));
  EXPECT_THROW(ids({.filter = "("}), Error);
  EXPECT_THROW(ids({.filter = "nothing like this"}), Error);
}

TEST_F(Runner, AnUnknownAxisIsAnErrorWithASuggestion) {
  const ErrorText refusal = error_parts_of([&] { ids({.overrides = {{"mdoe", {"fast"}}}}); });
  EXPECT_EQ(refusal.hint, "-a mode=...");
}

TEST_F(Runner, AnAxisOfTheOtherBackendIsUnknownWhenOnlyOneRuns) {
  EXPECT_NO_THROW(ids({.overrides = {{"mode", {"fast"}}}}));
  EXPECT_THROW(ids({.backends = {Backend::host}, .overrides = {{"mode", {"fast"}}}}), Error);
}

TEST_F(Runner, VirtualPointsCarryTheExactTimeAndWhatFollowsFromIt) {
  const auto points = run({.backends = {Backend::emulated}, .filter = "us:2/mode:fast"});
  ASSERT_EQ(points.size(), 1U);
  const Metric* const time = points[0].find_metric("time");
  ASSERT_NE(time, nullptr);
  EXPECT_EQ(time->virtual_time, SimTime::nanoseconds(2200)) << "5 runs of 2 us and a finish";
  EXPECT_TRUE(time->samples.empty());
  EXPECT_DOUBLE_EQ(points[0].find_metric("rate")->value, 1 / 2.2e-6);
}

TEST_F(Runner, WallPointsCarryTheirSamples) {
  const auto points = run({.backends = {Backend::host}});
  ASSERT_EQ(points.size(), 2U);
  const Metric* const time = points[1].find_metric("time");
  ASSERT_NE(time, nullptr);
  EXPECT_EQ(time->samples.size(), 2U);
  EXPECT_NEAR(time->value, 2e-6, 1e-12);
  EXPECT_EQ(time->virtual_time, std::nullopt);
  EXPECT_EQ(time->ci95, std::nullopt) << "two samples give no 95 % interval";
}

TEST_F(Runner, APointThatFailsIsSkippedWithItsReasonAndTheOthersRun) {
  const auto points = run({.overrides = {{"us", {"bad", "1"}}}});
  ASSERT_EQ(points.size(), 6U);
  for (const PointResult& point : points) {
    const bool bad = find_parameter(point.parameters, "us") == "bad";
    EXPECT_EQ(point.failed, bad);
    EXPECT_EQ(point.skipped.has_value(), bad);
    EXPECT_EQ(point.metrics.empty(), bad);
    if (bad) {
      EXPECT_EQ(*point.skipped, "cannot run: it fails");
    }
  }
}

TEST_F(Runner, WhatDoesNotApplyIsSkippedWithoutFailing) {
  for (const PointResult& point : run({.overrides = {{"us", {"none"}}}})) {
    EXPECT_EQ(point.skipped, "no such thing");
    EXPECT_FALSE(point.failed);
  }
}

TEST_F(Runner, ReportsEachPointOnceWhenItEnds) {
  std::vector<std::size_t> ended;
  Hooks hooks;
  hooks.done = [&](std::size_t index, const PointResult& point) {
    EXPECT_FALSE(point.metrics.empty());
    ended.push_back(index);
  };
  run({}, hooks);
  std::ranges::sort(ended);
  EXPECT_EQ(ended, (std::vector<std::size_t>{0, 1, 2, 3, 4, 5}));
}

TEST_F(Runner, SaysThatTheWallClockFollowsOnceTheVirtualOneIsDone) {
  std::vector<std::size_t> ended_before, follow;
  std::size_t ended = 0;
  Hooks hooks;
  hooks.done = [&](std::size_t, const PointResult&) { ++ended; };
  hooks.wall = [&](std::size_t count) {
    ended_before.push_back(ended);
    follow.push_back(count);
  };
  const std::size_t emulated = run({.backends = {Backend::emulated}}, hooks).size();
  EXPECT_TRUE(follow.empty()) << "nothing is on the wall clock";
  ended = 0;
  const std::size_t host = run({.backends = {Backend::host}}, hooks).size();
  EXPECT_TRUE(follow.empty()) << "nothing came before";
  ended = 0;
  run({}, hooks);
  EXPECT_EQ(ended_before, std::vector<std::size_t>{emulated});
  EXPECT_EQ(follow, std::vector<std::size_t>{host});
}

TEST_F(Runner, AStopKeepsWhatHasEnded) {
  int ended = 0;
  Hooks hooks;
  hooks.done = [&](std::size_t, const PointResult&) { ++ended; };
  hooks.stops = [&] { return ended >= 3; };
  const auto points = run({}, hooks);
  EXPECT_EQ(points.size(), 3U);
  EXPECT_EQ(points[2].id(), "emulated/us:2/mode:fast");
}

TEST_F(Runner, ATraceIsOneMoreIterationThatIsNotTimed) {
  class Counter : public EventSink {
   public:
    void record(const TimelineEvent&) override { ++events; }
    int events = 0;
  };
  Counter sink;
  Hooks hooks;
  hooks.sink = &sink;
  const PlanOptions options{.backends = {Backend::emulated}};
  const auto traced = run(options, hooks);
  EXPECT_EQ(sink.events, 4) << "one of each point";
  const auto silent = run(options);
  for (std::size_t i = 0; i < silent.size(); ++i) {
    EXPECT_EQ(traced[i].find_metric("time")->virtual_time,
              silent[i].find_metric("time")->virtual_time);
  }
}

TEST_F(Runner, AnyNumberOfThreadsGivesTheSamePointsInTheSameOrder) {
  const PlanOptions options{.backends = {Backend::emulated},
                            .overrides = {{"us", {"3", "bad", "1", "none", "2"}}}};
  const auto alone = run(options);
  for (const int threads : {2, 3, 32}) {
    std::vector<std::size_t> ended;
    Hooks hooks;
    hooks.done = [&](std::size_t index, const PointResult&) { ended.push_back(index); };
    const auto together = run_points(experiment_, plan_points(experiment_, options), kQuick, hooks,
                                     {.threads = threads});
    ASSERT_EQ(together.size(), alone.size());
    for (std::size_t i = 0; i < alone.size(); ++i) {
      EXPECT_EQ(together[i].id(), alone[i].id());
      EXPECT_EQ(together[i].skipped, alone[i].skipped);
      if (alone[i].skipped) continue;
      EXPECT_EQ(together[i].find_metric("time")->virtual_time,
                alone[i].find_metric("time")->virtual_time);
    }
    std::ranges::sort(ended);
    EXPECT_EQ(ended.size(), alone.size());
    EXPECT_EQ(std::ranges::unique(ended).begin(), ended.end()) << "each is said to have ended once";
  }
}

TEST_F(Runner, AStopOfSeveralThreadsKeepsWhatHasEnded) {
  std::size_t ended = 0;
  Hooks hooks;
  hooks.done = [&](std::size_t, const PointResult&) { ++ended; };
  hooks.stops = [&] { return ended >= 1; };
  const PlanOptions options{.backends = {Backend::emulated},
                            .overrides = {{"us", {"1", "2", "3"}}}};
  const auto points =
      run_points(experiment_, plan_points(experiment_, options), kQuick, hooks, {.threads = 2});
  EXPECT_EQ(points.size(), ended);
  EXPECT_GE(points.size(), 1U);
  EXPECT_LE(points.size(), 2U) << "one more may have been on its way";
}

TEST_F(Runner, OthersTakePointsAndGiveThemBack) {
  const PlanOptions options{.overrides = {{"us", {"1", "2", "3"}}}};
  const auto alone = run({.backends = {Backend::emulated}, .overrides = options.overrides});
  RunObserver nobody;
  std::vector<std::size_t> taken;
  const Workers workers{
      .threads = 0, .others = [&](PointQueue& queue) {
        for (auto places = queue.take(2); !places.empty(); places = queue.take(2)) {
          EXPECT_LE(places.size(), 2U);
          for (const std::size_t place : places) {
            EXPECT_EQ(queue.planned(place).backend, Backend::emulated) << "none of the wall clock";
            taken.push_back(place);
            queue.end(place, alone[place]);
          }
        }
        EXPECT_EQ(queue.left(), 0U);
      }};
  const auto points =
      run_points(experiment_, plan_points(experiment_, options), kQuick, nobody, workers);
  EXPECT_EQ(taken, (std::vector<std::size_t>{0, 1, 2, 3, 4, 5}));
  ASSERT_EQ(points.size(), 9U);
  for (std::size_t i = 0; i < alone.size(); ++i) {
    EXPECT_EQ(points[i].find_metric("time")->virtual_time,
              alone[i].find_metric("time")->virtual_time);
  }
}

/// Says in which thread its points are prepared.
class SharingExperiment : public FakeExperiment {
 public:
  explicit SharingExperiment(bool shares) : shares_(shares) {}
  bool shares_work() const override { return shares_; }
  std::variant<std::unique_ptr<Case>, NotApplicable> prepare(
      Backend backend, const Parameters& parameters) const override {
    const bool alone = std::this_thread::get_id() == caller_;
    // It waits for a point in the other thread, so that the answer does not depend on luck.
    if (!alone) helped_ = true;
    while (alone && !shares_ && !helped_) std::this_thread::yield();
    // It also gives a point that should not be there the time to show itself.
    if (shares_) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    return FakeExperiment::prepare(backend, parameters);
  }
  bool helped() const { return helped_; }

 private:
  bool shares_;
  std::thread::id caller_ = std::this_thread::get_id();
  mutable std::atomic<bool> helped_ = false;
};

TEST(SharingRunner, PointsThatShareWorkStayOnOneThread) {
  for (const bool shares : {false, true}) {
    const SharingExperiment experiment(shares);
    RunObserver nobody;
    run_points(experiment, plan_points(experiment, {.backends = {Backend::emulated}}), kQuick,
               nobody, {.threads = 2});
    EXPECT_EQ(experiment.helped(), !shares);
  }
}

/// Its points are given up, like one that waits for another process when Ctrl-C is pressed.
class GivenUpExperiment final : public FakeExperiment {
 public:
  std::variant<std::unique_ptr<Case>, NotApplicable> prepare(
      Backend /*backend*/, const Parameters& /*parameters*/) const override {
    stop_ = true;
    throw Error({.attempted = "run", .value = "no answer"});
  }
  bool stop() const { return stop_; }

 private:
  mutable bool stop_ = false;
};

TEST(StoppedRunner, APointThatIsGivenUpIsLeftOut) {
  const GivenUpExperiment experiment;
  Hooks hooks;
  hooks.stops = [&] { return experiment.stop(); };
  const auto planned = plan_points(experiment, {.backends = {Backend::host}});
  EXPECT_TRUE(run_points(experiment, planned, kQuick, hooks).empty());
  EXPECT_TRUE(experiment.stop());
}

/// Says how often it ran.
class CountingCase final : public Case {
 public:
  void run() override { ++runs_; }
  void finish() override {}
  SimTime now() const override { return {}; }
  void set_trace_sink(EventSink* /*sink*/) override {}
  void describe(double /*seconds*/, PointResult& point) const override {
    point.details = {{"runs", std::to_string(runs_)}};
  }

 private:
  int runs_ = 0;
};

class UntimedExperiment final : public Experiment {
 public:
  std::string_view name() const override { return "untimed"; }
  std::string_view question() const override { return "what is worked out, not timed"; }
  std::vector<Axis> axes(Backend backend) const override {
    if (backend == Backend::host) return {};
    return {word_axis("what", "a thing", {"a", "b"}, {"a", "b"})};
  }
  VirtualTiming timing() const override { return {.warmup = 0, .iterations = 0}; }
  Presentation presentation() const override { return {}; }
  std::variant<std::unique_ptr<Case>, NotApplicable> prepare(
      Backend /*backend*/, const Parameters& /*parameters*/) const override {
    return std::make_unique<CountingCase>();
  }
};

TEST(UntimedRunner, RunsEachPointOnceAndGivesItNoTime) {
  const UntimedExperiment experiment;
  const auto points = run_points(experiment, plan_points(experiment, {}), kQuick);
  ASSERT_EQ(points.size(), 2U);
  for (const PointResult& point : points) {
    EXPECT_EQ(*point.find_detail("runs"), "1");
    EXPECT_EQ(point.find_metric("time"), nullptr);
    EXPECT_FALSE(point.skipped.has_value());
  }
}

}  // namespace
}  // namespace howard::harness
