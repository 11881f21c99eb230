// SPDX-License-Identifier: Apache-2.0
#include "harness/runner.h"

#include <algorithm>
#include <array>
#include <exception>
#include <memory>
#include <thread>

#include "base/check.h"
#include "base/error.h"
#include "base/pattern.h"
#include "base/text.h"
#include "harness/statistics.h"

namespace howard::harness {
namespace {

/// Former names of axes, each with the present one.
constexpr std::array<std::pair<std::string_view, std::string_view>, 3> kRenamedAxes{
    {{"traced", "trace"}, {"config", "layout"}, {"host", "calls"}}};

/// Returns the present name of an axis, if `known` has it.
std::optional<std::string> present_name(const std::string& former,
                                        const std::vector<std::string>& known) {
  for (const auto& [old_name, name] : kRenamedAxes) {
    if (former == old_name && std::ranges::find(known, name) != known.end()) {
      return std::string(name);
    }
  }
  return closest(former, known);
}

/// Throws Error for an override if no chosen backend has its axis.
void require_known_axes(const Experiment& experiment, const PlanOptions& options) {
  std::vector<std::string> known;
  for (const Backend backend : options.backends) {
    for (const Axis& axis : experiment.axes(backend)) known.push_back(axis.name);
  }
  std::ranges::sort(known);
  known.erase(std::ranges::unique(known).begin(), known.end());
  for (const AxisOverride& override : options.overrides) {
    if (std::ranges::find(known, override.axis) != known.end()) continue;
    const auto suggestion = present_name(override.axis, known);
    throw Error({.attempted = "set an axis of " + std::string(experiment.name()),
                 .value = "there is no axis '" + override.axis + "' on the chosen backends",
                 .accepted = join(known, ", "),
                 .hint = suggestion ? "-a " + *suggestion + "=..." : ""});
  }
}

/// Returns a function that says whether an id passes the filter.
std::function<bool(const std::string&)> compile_filter(const std::string& filter) {
  if (filter.empty()) return [](const std::string&) { return true; };
  const bool exclude = filter.front() == '-';
  const Pattern pattern(std::string_view(filter).substr(exclude ? 1 : 0),
                        "choose points by a filter");
  return [=](const std::string& id) { return pattern.find(id).has_value() != exclude; };
}

Metric exact_time(SimTime time) {
  return {.name = "time", .value = time.seconds(), .unit = "s", .virtual_time = time};
}

Metric sampled_time(std::vector<double> seconds) {
  const double middle = median(seconds).value_or(0);
  const auto interval = median_interval95(seconds);
  return {.name = "time",
          .value = middle,
          .unit = "s",
          .samples = std::move(seconds),
          .ci95 = interval};
}

void fail(PointResult& point, std::string reason) {
  point.metrics.clear();
  point.skipped = std::move(reason);
  point.failed = true;
}

/// Runs a step of a point. An exception in it is the point's failure.
void attempt(PointResult& point, const std::function<void()>& step) {
  try {
    step();
  } catch (const std::exception& failure) {
    fail(point, reason_of(failure));
  }
}

/// Returns the sink in which a point is to be recorded; null if it is not.
using SinkOf = std::function<EventSink*(const PointResult&)>;

/// Derives what follows from the time. If there is a sink, it records one more iteration and
/// returns true.
bool complete(Case& measured, Metric time, const SinkOf& sink_of, PointResult& point) {
  const double seconds = time.value;
  point.metrics.push_back(std::move(time));
  measured.describe(seconds, point);
  if (EventSink* const sink = sink_of(point)) {
    measured.set_trace_sink(sink);
    measured.run();
    measured.finish();
    measured.set_trace_sink(nullptr);
    return true;
  }
  return false;
}

/// Returns the case of a point; null if it has none, and the point then says why.
std::unique_ptr<Case> prepare(const Experiment& experiment, PointResult& point) {
  std::unique_ptr<Case> result;
  attempt(point, [&] {
    auto prepared = experiment.prepare(point.backend, point.parameters);
    if (auto* const reason = std::get_if<NotApplicable>(&prepared)) {
      point.skipped = std::move(reason->reason);
    } else {
      result = std::move(std::get<std::unique_ptr<Case>>(prepared));
    }
  });
  return result;
}

/// Runs a point that is not timed or is timed on the virtual clock.
void run_now(const Experiment& experiment, const SinkOf& sink_of, PointResult& point) {
  const std::unique_ptr<Case> prepared = prepare(experiment, point);
  if (prepared == nullptr) return;
  attempt(point, [&] {
    if (experiment.timing().iterations == 0) {
      prepared->run();
      prepared->describe(0, point);
      return;
    }
    const SimTime time = measure_virtual(*prepared, experiment.timing());
    complete(*prepared, exact_time(time), sink_of, point);
  });
}

/// Runs the points that no wall clock times: those on the virtual clock, and all points of an
/// experiment without timed iterations. `ended` turns 1 for each that ended.
void run_all_now(const Experiment& experiment, std::vector<PointResult>& points,
                 std::vector<char>& ended, RunObserver& observer, const Workers& workers) {
  const bool untimed = experiment.timing().iterations == 0;
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (untimed || points[i].backend == Backend::emulated) places.push_back(i);
  }
  PointQueue queue(points, std::move(places), ended, observer);
  const SinkOf sink_of = [&](const PointResult& point) { return queue.trace_sink(point); };
  const auto work = [&] {
    // Points are taken one at a time, because their costs differ by orders of magnitude.
    for (auto place = queue.take(1); !place.empty(); place = queue.take(1)) {
      PointResult point = queue.planned(place.front());
      run_now(experiment, sink_of, point);
      queue.end(place.front(), std::move(point));
    }
  };
  if (!can_share(experiment)) return work();
  std::vector<std::jthread> helpers;
  for (int i = workers.others ? 0 : 1; i < workers.threads; ++i) helpers.emplace_back(work);
  workers.others ? workers.others(queue) : work();
}

/// Runs the wall-clock points together and sets `ended` for those that ended.
void run_wall(const Experiment& experiment, std::vector<PointResult>& points,
              std::vector<char>& ended, const WallOptions& options, RunObserver& observer) {
  std::vector<std::unique_ptr<Case>> cases;
  std::vector<Case*> borrowed;
  std::vector<std::size_t> places;
  const auto end = [&](std::size_t place) {
    // A point that waits for another process gives up when the user wants to stop.
    if (points[place].failed && observer.stop()) return;
    ended[place] = 1;
    observer.point_done(place, points[place]);
  };
  for (std::size_t i = 0; i < points.size() && !observer.stop(); ++i) {
    if (points[i].backend != Backend::host) continue;
    if (std::unique_ptr<Case> prepared = prepare(experiment, points[i])) {
      borrowed.push_back(prepared.get());
      cases.push_back(std::move(prepared));
      places.push_back(i);
    } else {
      end(i);
    }
  }
  const WallWatch watch{
      .warm_up_sink = [&] { return observer.warm_up_sink(); },
      .iterated = [&](std::size_t index) { observer.iterated(points[places[index]]); }};
  const SinkOf sink_of = [&](const PointResult& point) { return observer.trace_sink(point); };
  const auto done = [&](std::size_t index, WallSamples samples) {
    PointResult& point = points[places[index]];
    if (samples.failure == kInterrupted) return;
    if (samples.failure) {
      fail(point, std::move(*samples.failure));
    } else {
      attempt(point, [&] {
        Case& measured = *cases[index];
        Metric time = sampled_time(std::move(samples.seconds));
        if (!complete(measured, std::move(time), sink_of, point)) return;
        // A virtual clock does not see the recorder, but this one does.
        if (EventSink* const scratch = observer.scratch_sink()) {
          observer.recording_cost(point, recording_cost(measured, *scratch));
        }
      });
    }
    end(places[index]);
  };
  measure_wall(
      borrowed, options, [&] { return observer.stop(); }, done, watch);
}

}  // namespace

std::vector<PointResult> plan_points(const Experiment& experiment, const PlanOptions& options) {
  require_known_axes(experiment, options);
  const auto passes = compile_filter(options.filter);
  std::vector<PointResult> points;
  for (const Backend backend : options.backends) {
    std::vector<Axis> axes = experiment.axes(backend);
    if (axes.empty()) continue;
    if (options.quick) {
      for (Axis& axis : axes) axis.values = axis.quick_values;
    }
    apply_overrides(axes, options.overrides);
    for (Parameters& parameters : expand(axes)) {
      PointResult point{.backend = backend, .parameters = std::move(parameters)};
      if (passes(point.id())) points.push_back(std::move(point));
    }
  }
  const bool unknown_here = std::ranges::all_of(
      options.backends, [&](Backend backend) { return experiment.axes(backend).empty(); });
  if (unknown_here) {
    const bool emulated = !experiment.axes(Backend::emulated).empty();
    throw Error({.attempted = "plan " + std::string(experiment.name()),
                 .value = "it has no points on the chosen backend",
                 .hint = "--backend " +
                         std::string(name_of(emulated ? Backend::emulated : Backend::host))});
  }
  if (points.empty()) {
    throw Error({.attempted = "plan " + std::string(experiment.name()),
                 .value = "no point is left after --backend and --filter",
                 .hint = "--dry-run without --filter to see the points' names"});
  }
  return points;
}

bool can_share(const Experiment& experiment) {
  return experiment.timing().iterations > 0 && !experiment.shares_work();
}

std::vector<PointResult> run_points(const Experiment& experiment, std::vector<PointResult> points,
                                    const WallOptions& wall, RunObserver& observer,
                                    const Workers& workers) {
  std::vector<char> ended(points.size(), 0);  // not bool: threads write neighbours
  const bool untimed = experiment.timing().iterations == 0;
  run_all_now(experiment, points, ended, observer, workers);
  const auto on_wall =
      static_cast<std::size_t>(std::ranges::count(points, Backend::host, &PointResult::backend));
  const bool both = on_wall > 0 && on_wall < points.size();
  if (both && !untimed && !observer.stop()) observer.wall_follows(on_wall);
  if (!untimed) run_wall(experiment, points, ended, wall, observer);
  std::vector<PointResult> result;
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (ended[i] != 0) result.push_back(std::move(points[i]));
  }
  return result;
}

std::vector<PointResult> run_points(const Experiment& experiment, std::vector<PointResult> points,
                                    const WallOptions& wall) {
  RunObserver nobody;
  return run_points(experiment, std::move(points), wall, nobody);
}

}  // namespace howard::harness
