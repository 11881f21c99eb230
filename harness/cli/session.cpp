// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/session.h"

#include <fmt/format.h>

#include <csignal>
#include <cstdio>
#include <utility>

#include "harness/cli/progress.h"
#include "reports/reference.h"

namespace howard::cli {
namespace {

// A signal handler can reach nothing but a global.
volatile std::sig_atomic_t interrupted_by_signal = 0;  // NOLINT(*-avoid-non-const-global-variables)

void on_signal(int /*signal*/) { interrupted_by_signal = 1; }

}  // namespace

bool Session::interrupted() { return interrupted_by_signal != 0; }

void Session::catch_signals() {
  struct sigaction action {};
  action.sa_handler = on_signal;
  action.sa_flags = static_cast<int>(SA_RESETHAND);  // the second one kills
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

Session::Session(const Options& options, const harness::RunContext& context, Outputs& outputs)
    : options_(options), context_(context), outputs_(outputs) {}

Finished Session::run(const PlannedExperiment& planned) {
  const std::string name(planned.experiment->name());
  harness::ExperimentResult result{.experiment = name, .context = context_, .interrupted = true};
  {
    Progress progress(name, planned.points.size(), options_.progress);
    harness::RunHooks hooks;
    hooks.stop = interrupted;
    hooks.point_done = [&](std::size_t /*index*/, const harness::PointResult& point) {
      result.points.push_back(point);
      outputs_.checkpoint(result);
      progress.advance(point.id());
    };
    if (!options_.trace.empty() || !options_.device_logs.empty()) {
      hooks.trace_sink = [&](const harness::PointResult& point) -> TraceSink* {
        return &traced_.emplace_back(point).recorder;
      };
    }
    result.points = harness::run_points(*planned.experiment, planned.points, options_.wall, hooks);
  }
  result.interrupted = result.points.size() < planned.points.size();
  reports::attach_references(result);
  Finished finished{std::move(result), planned.experiment->presentation(),
                    planned.experiment->documents()};
  outputs_.finish(finished);
  for (const harness::PointResult& point : finished.result.points) {
    if (point.failed) fmt::print(stderr, "run_experiment: {}: {}\n", point.id(), *point.skipped);
  }
  return finished;
}

}  // namespace howard::cli
