// SPDX-License-Identifier: Apache-2.0
#include "harness/runner.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <memory>
#include <mutex>
#include <regex>
#include <thread>

#include "base/check.h"
#include "base/error.h"
#include "base/text.h"
#include "harness/statistics.h"

namespace howard::harness {
namespace {

/// Fails for an override that no chosen backend has an axis for.
void require_known_axes(const Experiment& experiment, const PlanOptions& options) {
  std::vector<std::string> known;
  for (const Backend backend : options.backends) {
    for (const Axis& axis : experiment.axes(backend)) known.push_back(axis.name);
  }
  std::ranges::sort(known);
  known.erase(std::ranges::unique(known).begin(), known.end());
  for (const AxisOverride& override : options.overrides) {
    if (std::ranges::find(known, override.axis) != known.end()) continue;
    const auto suggestion = closest(override.axis, known);
    throw Error({.attempted = "set an axis of " + std::string(experiment.name()),
                 .value = "there is no axis '" + override.axis + "' on the chosen backends",
                 .accepted = join(known, ", "),
                 .hint = suggestion ? "-a " + *suggestion + "=..." : ""});
  }
}

/// Whether an id passes the filter.
std::function<bool(const std::string&)> compile_filter(const std::string& filter) {
  if (filter.empty()) return [](const std::string&) { return true; };
  const bool exclude = filter.front() == '-';
  try {
    const std::regex pattern(exclude ? filter.substr(1) : filter);
    return [=](const std::string& id) { return std::regex_search(id, pattern) != exclude; };
  } catch (const std::regex_error& failure) {
    throw Error({.attempted = "read option --filter",
                 .value = "'" + filter + "' (" + failure.what() + ")",
                 .accepted = "a regular expression, with a leading - to exclude",
                 .hint = "--filter 'shape:1024.*eth'"});
  }
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

/// Runs a step of a point; an exception there is the point's failure.
void attempt(PointResult& point, const std::function<void()>& step) {
  try {
    step();
  } catch (const std::exception& failure) {
    fail(point, failure.what());
  }
}

/// The hooks for several threads: one call at a time.
RunHooks one_at_a_time(const RunHooks& hooks, std::mutex& mutex) {
  RunHooks locked;
  locked.stop = [&] {
    const std::scoped_lock lock(mutex);
    return hooks.stop();
  };
  locked.point_done = [&](std::size_t index, const PointResult& point) {
    const std::scoped_lock lock(mutex);
    hooks.point_done(index, point);
  };
  locked.trace_sink = [&](const PointResult& point) {
    const std::scoped_lock lock(mutex);
    return hooks.trace_sink(point);
  };
  return locked;
}

/// Derives what follows from the time, and traces one more iteration when somebody listens.
void complete(Case& measured, Metric time, const RunHooks& hooks, PointResult& point) {
  const double seconds = time.value;
  point.metrics.push_back(std::move(time));
  measured.describe(seconds, point);
  if (TraceSink* const sink = hooks.trace_sink(point)) {
    measured.set_trace_sink(sink);
    measured.run();
    measured.finish();
    measured.set_trace_sink(nullptr);
    if (point.backend != Backend::host) return;  // a virtual clock does not see the recorder
    if (TraceSink* const scratch = hooks.scratch_sink()) {
      hooks.recording_cost(point, recording_cost(measured, *scratch));
    }
  }
}

/// The case of a point; null when it has none, which the point then says.
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

/// A point that is not timed, or timed on the virtual clock.
void run_now(const Experiment& experiment, const RunHooks& hooks, PointResult& point) {
  const std::unique_ptr<Case> prepared = prepare(experiment, point);
  if (prepared == nullptr) return;
  attempt(point, [&] {
    if (experiment.timing().iterations == 0) {
      prepared->run();
      prepared->describe(0, point);
      return;
    }
    const SimTime time = measure_virtual(*prepared, experiment.timing());
    complete(*prepared, exact_time(time), hooks, point);
  });
}

/// Runs the points that no wall clock times: those on the virtual clock, and all of an experiment
/// without timed iterations. True for those that ended.
void run_all_now(const Experiment& experiment, std::vector<PointResult>& points,
                 std::vector<char>& ended, const RunHooks& hooks, int threads) {
  std::mutex mutex;
  const RunHooks locked = one_at_a_time(hooks, mutex);
  std::atomic<std::size_t> next = 0;
  const bool untimed = experiment.timing().iterations == 0;
  const auto work = [&] {
    // A point at a time: their costs differ by orders of magnitude.
    for (std::size_t i = next++; i < points.size() && !locked.stop(); i = next++) {
      if (points[i].backend != Backend::emulated && !untimed) continue;
      run_now(experiment, locked, points[i]);
      ended[i] = 1;
      locked.point_done(i, points[i]);
    }
  };
  if (experiment.shares_work() || untimed) threads = 1;
  std::vector<std::jthread> helpers;
  for (int i = 1; i < threads; ++i) helpers.emplace_back(work);
  work();
}

/// Runs the wall-clock points together; true for those that ended.
void run_wall(const Experiment& experiment, std::vector<PointResult>& points,
              std::vector<char>& ended, const WallOptions& options, const RunHooks& hooks) {
  std::vector<std::unique_ptr<Case>> cases;
  std::vector<Case*> borrowed;
  std::vector<std::size_t> places;
  const auto end = [&](std::size_t place) {
    ended[place] = 1;
    hooks.point_done(place, points[place]);
  };
  for (std::size_t i = 0; i < points.size() && !hooks.stop(); ++i) {
    if (points[i].backend != Backend::host) continue;
    if (std::unique_ptr<Case> prepared = prepare(experiment, points[i])) {
      borrowed.push_back(prepared.get());
      cases.push_back(std::move(prepared));
      places.push_back(i);
    } else {
      end(i);
    }
  }
  const WallWatch watch{.warm_up_sink = hooks.warm_up_sink, .iterated = [&](std::size_t index) {
                          hooks.iterated(points[places[index]]);
                        }};
  const auto done = [&](std::size_t index, WallSamples samples) {
    PointResult& point = points[places[index]];
    if (samples.failure == kInterrupted) return;
    if (samples.failure) {
      fail(point, std::move(*samples.failure));
    } else {
      attempt(point, [&] {
        complete(*cases[index], sampled_time(std::move(samples.seconds)), hooks, point);
      });
    }
    end(places[index]);
  };
  measure_wall(borrowed, options, hooks.stop, done, watch);
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
  if (points.empty()) {
    throw Error({.attempted = "plan " + std::string(experiment.name()),
                 .value = "no point is left after --backend and --filter",
                 .accepted = "",
                 .hint = "--dry-run without --filter to see the points' names"});
  }
  return points;
}

std::vector<PointResult> run_points(const Experiment& experiment, std::vector<PointResult> points,
                                    const WallOptions& wall, const RunHooks& hooks, int threads) {
  std::vector<char> ended(points.size(), 0);  // not bool: threads write neighbours
  const bool untimed = experiment.timing().iterations == 0;
  run_all_now(experiment, points, ended, hooks, threads);
  if (!untimed) run_wall(experiment, points, ended, wall, hooks);
  std::vector<PointResult> result;
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (ended[i] != 0) result.push_back(std::move(points[i]));
  }
  return result;
}

}  // namespace howard::harness
