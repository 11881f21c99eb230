// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "harness/experiment.h"

namespace howard::harness {

/// Runs on a clock of its own: each run takes `step`, each finish 1 us.
class FakeCase final : public Case {
 public:
  explicit FakeCase(SimTime step) : step_(step) {}

  void run() override {
    ++runs;
    if (fails) throw Error({.attempted = "run", .value = "it fails"});
    now_ += step_;
    if (sink_ == nullptr) return;
    sink_->record({.name = "run", .category = "test", .start = now_ - step_, .end = now_});
    now_ += recording;
  }
  void finish() override {
    ++finishes;
    now_ += SimTime::microseconds(1);
  }
  SimTime now() const override { return now_; }
  void set_trace_sink(EventSink* sink) override { sink_ = sink; }
  void describe(double seconds, PointResult& point) const override {
    point.metrics.push_back({.name = "rate", .value = 1 / seconds, .unit = "1/s"});
  }

  int runs = 0;
  int finishes = 0;
  bool fails = false;
  SimTime recording;  ///< The time that recording a run takes.

 private:
  SimTime step_;
  SimTime now_;
  EventSink* sink_ = nullptr;
};

/// Has the axis "us" (the time of a run; "bad" fails, "none" does not apply) and, emulated only,
/// "mode".
class FakeExperiment : public Experiment {
 public:
  std::string_view name() const override { return "fake"; }
  std::string_view question() const override { return "does the harness work"; }
  std::vector<Axis> axes(Backend backend) const override {
    Axis us = word_axis("us", "microseconds", {"1", "2", "3", "bad", "none"}, {"1", "2"});
    us.quick_values = {"1"};
    if (backend == Backend::host) return {us};
    return {us, word_axis("mode", "a mode", {"fast", "slow"}, {"fast", "slow"})};
  }
  VirtualTiming timing() const override { return {.warmup = 2, .iterations = 5}; }
  Presentation presentation() const override { return {}; }
  std::variant<std::unique_ptr<Case>, NotApplicable> prepare(
      Backend /*backend*/, const Parameters& parameters) const override {
    const std::string us(*find_parameter(parameters, "us"));
    if (us == "none") return NotApplicable{"no such thing"};
    auto result = std::make_unique<FakeCase>(SimTime::microseconds(us == "bad" ? 1 : us[0] - '0'));
    result->fails = us == "bad";
    return result;
  }
};

}  // namespace howard::harness
