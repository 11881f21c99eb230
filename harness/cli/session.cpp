// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/session.h"

#include <fmt/format.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <map>
#include <ranges>
#include <utility>

#include "harness/cli/point_sharing.h"
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

Session::Session(const Options& options, const harness::RunContext& context, Outputs& outputs,
                 Ranks& ranks)
    : options_(options), context_(context), outputs_(outputs), ranks_(ranks) {}

int Session::thread_count(const Options& options, const Ranks& ranks) {
  return options.threads > 0 ? options.threads : ranks.cores();
}

Finished Session::run(PlannedExperiment planned) {
  const std::string name(planned.experiment->name());
  const std::size_t count = planned.points.size();
  const auto start = std::chrono::steady_clock::now();
  harness::ExperimentResult result{.experiment = name, .context = context_, .points = {}};
  {
    Progress progress(name, count, options_.progress);
    const harness::ExperimentResult running{
        .experiment = name, .context = context_, .points = {}, .interrupted = true};
    std::map<std::size_t, const harness::PointResult*> ended;  // in the order of the plan
    harness::RunHooks hooks;
    hooks.stop = interrupted;
    hooks.point_done = [&](std::size_t index, const harness::PointResult& point) {
      ended.emplace(index, &point);
      if (outputs_.wants_checkpoint()) {
        const auto points = ended | std::views::values;
        outputs_.checkpoint(running, {points.begin(), points.end()});
      }
      progress.advance(point.id());
    };
    if (options_.records()) {
      hooks.trace_sink = [&](const harness::PointResult& point) -> TraceSink* {
        return &traced_.emplace_back(point).recorder;
      };
    }
    if (ranks_.size() > 1) {
      hooks.others = [&](harness::PointQueue& queue) { hand_out(ranks_, runs_, queue); };
    }
    // One thread keeps what is recorded of the points in order.
    const int threads =
        options_.trace.empty() && !options_.bottlenecks ? thread_count(options_, ranks_) : 1;
    result.points = harness::run_points(*planned.experiment, std::move(planned.points),
                                        options_.wall, hooks, threads);
  }
  ++runs_;
  result.interrupted = result.points.size() < count;
  reports::attach_references(result);
  Finished finished{
      std::move(result), planned.experiment->presentation(), planned.experiment->documents(),
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count()};
  outputs_.finish(finished);
  for (const harness::PointResult& point : finished.result.points) {
    if (point.failed) fmt::print(stderr, "run_experiment: {}: {}\n", point.id(), *point.skipped);
  }
  return finished;
}

}  // namespace howard::cli
