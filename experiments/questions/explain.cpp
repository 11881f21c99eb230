// SPDX-License-Identifier: Apache-2.0
#include "experiments/questions/explain.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/error.h"
#include "experiments/axes/axes.h"
#include "experiments/axes/machines.h"
#include "experiments/laboratory/devbox.h"
#include "harness/measurement.h"
#include "profiler/program_recorder.h"

namespace howard::experiments {
namespace {

using harness::Backend;
using harness::NotApplicable;
using harness::Parameters;
using harness::WhatIf;
using profiler::TimeAccount;
using reports::Explanation;

/// Keeps all events but those of the cores' lanes, which are many and are not accounted for.
class LaunchRecorder final : public EventSink {
 public:
  void record(const TimelineEvent& event) override {
    if (event.track.kind != TrackKind::core) programs_.record(event);
  }
  void describe(std::uint64_t program, const ProgramFacts& facts) override {
    programs_.describe(program, facts);
  }
  bool wants_facts() const override { return true; }
  const profiler::ProgramRecorder& programs() const { return programs_; }

 private:
  profiler::ProgramRecorder programs_;
};

/// Notes when its clock is read, because the measurement reads it where the timed iterations begin
/// and where they end.
class NotedCase final : public harness::Case {
 public:
  explicit NotedCase(harness::Case& noted) : noted_(noted) {}

  void run() override { noted_.run(); }
  void finish() override { noted_.finish(); }
  SimTime now() const override { return readings_.emplace_back(noted_.now()); }
  void set_trace_sink(EventSink* sink) override { noted_.set_trace_sink(sink); }
  void describe(double seconds, harness::PointResult& point) const override {
    noted_.describe(seconds, point);
  }
  profiler::Span window() const { return {readings_.front(), readings_.back()}; }

 private:
  harness::Case& noted_;
  mutable std::vector<SimTime> readings_;
};

TimeAccount account_of(const chip::ChipProfile& chip, const Parameters& parameters,
                       const LaunchRecorder& recorder, const profiler::Span& window,
                       int iterations) {
  std::vector<TimelineEvent> events;
  for (const TimelineEvent& event : recorder.programs().recorder().events()) {
    if (event.start >= window.start) events.push_back(event);
  }
  // These are all cores of the device, not only those that a program uses: idle cores are a waste
  // of kernels.
  const int cores = chip.compute_grid(Point(parameters)[kDispatch]).cores();
  return profiler::account_for(
      profiler::timeline_of(events, recorder.programs().recorder().losses()), window,
      [&](std::uint64_t program, profiler::OpRun& run) {
        const ProgramFacts* const facts = recorder.programs().facts(program);
        if (facts == nullptr) return;
        run.flops = facts->work.flops;
        run.dram = facts->work.dram;
        run.limited_by = facts->work.limited_by;
        run.peak_bandwidth = facts->work.peak_bandwidth;
        const auto fidelity =
            facts->fidelity.empty() ? MathFidelity::hifi2 : parse_math_fidelity(facts->fidelity);
        run.peak_flops = chip.peak_flops(cores, fidelity);
      },
      iterations);
}

/// Works a point out that is not timed, whose metrics say what its time consists of.
TimeAccount work_out(const harness::Experiment& experiment, harness::Case& prepared) {
  prepared.run();
  harness::PointResult described{.backend = Backend::emulated, .parameters = {}};
  prepared.describe(0, described);
  const harness::Metric* const time = described.find_metric("time");
  HOWARD_CHECK(time != nullptr, "a point with parts has a time");
  TimeAccount run{.time = time->virtual_time.value_or(SimTime()),
                  .warnings = std::move(described.warnings)};
  const std::string_view prefix = experiment.parts();
  for (const harness::Metric& metric : described.metrics) {
    if (metric.name.starts_with(prefix)) {
      run.costs.push_back({.name = metric.name.substr(prefix.size()),
                           .time = metric.virtual_time.value_or(SimTime())});
    }
  }
  run.worked_out = !run.costs.empty();
  std::ranges::stable_sort(run.costs, std::greater(), &profiler::Cost::time);
  run.shortage = described.find(harness::kShortage).value_or("");
  return run;
}

/// Throws Error if the point cannot run. Its text is the reason alone if the point just makes no
/// sense.
TimeAccount run_point(const DevBox& box, const harness::Experiment& experiment,
                      const Parameters& parameters) {
  auto prepared = experiment.prepare(Backend::emulated, parameters);
  if (auto* const reason = std::get_if<NotApplicable>(&prepared)) {
    throw Error({.attempted = "run it", .value = reason->reason});
  }
  if (experiment.timing().iterations == 0) {
    return work_out(experiment, *std::get<std::unique_ptr<harness::Case>>(prepared));
  }
  NotedCase noted(*std::get<std::unique_ptr<harness::Case>>(prepared));
  LaunchRecorder recorder;
  noted.set_trace_sink(&recorder);
  const SimTime time = measure_virtual(noted, experiment.timing());
  noted.set_trace_sink(nullptr);
  if (const std::uint64_t lost = recorder.programs().recorder().losses(); lost > 0) {
    throw Error({.attempted = "account for every program",
                 .value = fmt::format("{} events more than are recorded", lost),
                 .accepted = fmt::format("{} in the timed iterations and their warm-up",
                                         profiler::EventRecorder::kDefaultCapacity),
                 .hint = "fewer layers or ops"});
  }
  harness::PointResult described{.backend = Backend::emulated, .parameters = parameters};
  noted.describe(time.seconds(), described);
  const chip::ChipProfile chip =
      described.own_chip ? on(box, *described.own_chip)->profiles().chip : box.profiles().chip;
  TimeAccount run =
      account_of(chip, parameters, recorder, noted.window(), experiment.timing().iterations);
  run.warnings = std::move(described.warnings);
  if (auto error = described.expected_error()) {
    run.expected_error = error->share;
    run.known = std::move(error->known);
  }
  return run;
}

/// Throws Error once the user wants to stop, because large models take minutes.
void require_wanted(const DevBox& box) {
  if (!box.stop() || !box.stop()()) return;
  throw Error({.attempted = "explain a point", .value = "interrupted"});
}

/// Runs the candidates of a change and keeps the fastest, or says why none could run.
void try_change(const DevBox& box, const harness::Experiment& experiment, const WhatIf& change,
                Explanation& explanation) {
  std::string reason = change.reason;
  std::vector<reports::TriedChange> runs;
  for (const Parameters& changes : change.candidates) {
    require_wanted(box);
    try {
      const Parameters parameters = harness::changed(explanation.parameters, changes);
      runs.push_back({.what = change.what,
                      .changes = changes,
                      .work = change.work,
                      .run = run_point(box, experiment, parameters)});
    } catch (const Error& failure) {
      const auto& [attempted, value, accepted, hint] = failure.text();
      reason = accepted.empty() ? value : value + "; accepted: " + accepted;
    }
  }
  if (runs.empty()) {
    explanation.untried.push_back({change.what, reason});
    return;
  }
  auto fastest = std::ranges::min_element(
      runs, {}, [](const reports::TriedChange& tried) { return tried.run.time; });
  fastest->candidates = runs.size();
  explanation.tried.push_back(std::move(*fastest));
}

}  // namespace

bool is_explained(const harness::Experiment& experiment) {
  if (experiment.axes(Backend::emulated).empty()) return false;
  return experiment.timing().iterations > 0 || !experiment.parts().empty();
}

Explanation explain(const DevBox& box, const harness::Experiment& experiment,
                    const Parameters& parameters) {
  HOWARD_CHECK(is_explained(experiment), "only what has a time is explained");
  Explanation explanation{.experiment = std::string(experiment.name()),
                          .parameters = parameters,
                          .run = run_point(box, experiment, parameters)};
  for (const WhatIf& change : experiment.what_ifs(parameters)) {
    try_change(box, experiment, change, explanation);
  }
  std::ranges::stable_sort(
      explanation.tried, std::greater(),
      [&](const reports::TriedChange& tried) { return explanation.gain(tried); });
  return explanation;
}

}  // namespace howard::experiments
