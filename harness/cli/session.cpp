// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/session.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <exception>
#include <map>
#include <ranges>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/file.h"
#include "harness/cli/command/program.h"
#include "harness/cli/sharing/point_sharing.h"
#include "harness/cli/terminal/interruption.h"
#include "harness/cli/terminal/progress.h"
#include "reports/published/reference.h"
#include "reports/tables/table.h"

namespace howard::cli {
namespace {

/// This says why there is nothing to look into for a point.
constexpr std::string_view kElsewhere = "its steps run in another process";

}  // namespace

Session::Session(const RunOptions& options, const experiments::Laboratory& laboratory,
                 const harness::RunContext& context, Outputs& outputs, MemoryWatch& memory,
                 Ranks& ranks)
    : options_(options),
      laboratory_(laboratory),
      context_(context),
      outputs_(outputs),
      memory_(memory),
      ranks_(ranks) {}

void Session::record_memory(const harness::Experiment& experiment,
                            const harness::PointResult& point) {
  try {
    const profiler::MemoryUse use = memory_.record(experiment, point);
    if (use.phases.empty()) {
      fmt::print(stderr, "{}: no memory to show: {}\n", point.id(), kElsewhere);
      return;
    }
    const auto tables = memory_tables(use, point.id());
    outputs_.print(tables);
    reports::Canvas canvas = options_.outputs.canvas;
    canvas.folder = options_.outputs.memory / experiment.name() / file_name_of(point.id());
    write_memory(use, tables, fmt::format("{}, {}", experiment.name(), point.id()), canvas);
  } catch (const std::exception& failure) {
    complain("{}: {}", point.id(), reason_of(failure));
    memory_is_complete_ = false;
  }
}

int Session::thread_count(const RunOptions& options, const Ranks& ranks) {
  return options.threads > 0 ? options.threads : ranks.cores();
}

void Session::record_for_page(const harness::Experiment& experiment,
                              const std::vector<harness::PointResult>& points) {
  if (experiment.timing().iterations == 0) return;
  const auto first = std::ranges::find_if(points, [](const harness::PointResult& point) {
    return point.backend == harness::Backend::emulated && !point.skipped;
  });
  if (first == points.end()) return;
  TracedPoint& traced = shown_.emplace_back(experiment.name(), *first);
  try {
    traced.memory = memory_.record(experiment, *first, &traced.recorder);
  } catch (const std::exception& failure) {
    complain("no timeline of {}: {}", first->id(), reason_of(failure));
    shown_.pop_back();
    memory_is_complete_ = false;
  }
}

void Session::show_emulated(const std::vector<const harness::PointResult*>& emulated,
                            const harness::Experiment& experiment, std::size_t count) const {
  Finished part{{.experiment = std::string(experiment.name()), .context = context_, .points = {}},
                experiment.presentation(),
                {}};
  for (const harness::PointResult* const point : emulated) part.result.points.push_back(*point);
  reports::attach_references(part.result);
  outputs_.show(part);
  const double seconds =
      static_cast<double>(count) * options_.wall.repetitions * options_.wall.min_time;
  fmt::print(stderr,
             "{}: {} on this machine's CPU, which take{} {:.0f} s or more "
             "(--backend emulated leaves them out)\n",
             part.result.experiment,
             count == 1 ? "1 point follows" : fmt::format("{} points follow", count),
             count == 1 ? "s" : "", std::max(1.0, seconds));
}

/// Shows progress, keeps checkpoints and records what the options ask for.
class Session::Watch final : public harness::RunObserver {
 public:
  Watch(Session& session, const PlannedExperiment& planned)
      : session_(session),
        planned_(planned),
        running_{.experiment = std::string(planned.experiment->name()),
                 .context = session.context_,
                 .points = {},
                 .interrupted = true},
        progress_(running_.experiment, planned.points.size(), session.options_.progress) {}

  bool emulated_is_shown() const { return emulated_is_shown_; }
  /// Returns a line for each recorded point of the host: what recording cost.
  const std::vector<std::string>& costs() const { return costs_; }

  bool stop() override { return interrupted(); }

  void point_done(std::size_t index, const harness::PointResult& point) override {
    ended_.emplace(index, &point);
    if (session_.outputs_.wants_checkpoint()) session_.outputs_.checkpoint(running_, ended());
    progress_.advance(point);
  }

  void wall_follows(std::size_t count) override {
    progress_.pause();
    session_.show_emulated(ended(), *planned_.experiment, count);
    emulated_is_shown_ = true;
  }

  EventSink* warm_up_sink() override { return progress_.live_sink(); }
  void iterated(const harness::PointResult& point) override { progress_.iterated(point); }

  EventSink* trace_sink(const harness::PointResult& point) override {
    if (!session_.options_.records()) return nullptr;
    return &session_.traced_.emplace_back(running_.experiment, point).recorder;
  }

  EventSink* scratch_sink() override {
    std::optional<profiler::EventRecorder>& scratch = session_.scratch_;
    if (!scratch) scratch.emplace();
    scratch->clear();
    return &*scratch;
  }

  void recording_cost(const harness::PointResult& point, double share) override {
    if (session_.traced_.back().recorder.recorder().events().empty()) {
      session_.traced_.pop_back();
      costs_.push_back(fmt::format("{}: no events: {}", point.id(), kElsewhere));
      return;
    }
    costs_.push_back(
        fmt::format("{}: recording added {:+.1f} % to an iteration", point.id(), 100 * share));
  }

 private:
  /// Returns the points that have ended, in the order of the plan.
  std::vector<const harness::PointResult*> ended() const {
    const auto points = ended_ | std::views::values;
    return {points.begin(), points.end()};
  }

  Session& session_;
  const PlannedExperiment& planned_;
  const harness::ExperimentResult running_;
  Progress progress_;
  std::map<std::size_t, const harness::PointResult*> ended_;
  std::vector<std::string> costs_;  // printed when no status line is in their way
  bool emulated_is_shown_ = false;
};

void Session::follow_up(const harness::Experiment& experiment,
                        const harness::ExperimentResult& result) {
  if (options_.page && !interrupted()) {
    record_for_page(experiment, result.points);
  }
  for (const harness::PointResult& point : result.points) {
    const bool wanted = !options_.outputs.memory.empty() && !point.skipped && !interrupted();
    if (wanted) record_memory(experiment, point);
  }
  for (const harness::PointResult& point : result.points) {
    if (point.failed) complain("{}: {}", point.id(), *point.skipped);
  }
}

Finished Session::run(const PlannedExperiment& planned) {
  const harness::Experiment& experiment = *planned.experiment;
  const auto start = std::chrono::steady_clock::now();
  const std::string forewarning = experiment.forewarning(planned.points);
  if (!forewarning.empty()) fmt::print(stderr, "{}: {}\n", experiment.name(), forewarning);
  Finished finished;
  std::vector<std::string> costs;
  {
    Watch watch(*this, planned);
    harness::Workers workers;
    if (ranks_.size() > 1) {
      workers.others = [&](harness::PointQueue& queue) { hand_out(ranks_, runs_, queue); };
    }
    // One thread keeps what is recorded of the points in order.
    const bool in_order = !options_.outputs.trace.empty() || options_.bottlenecks;
    workers.threads = in_order ? 1 : thread_count(options_, ranks_);
    finished.result = laboratory_.run(planned, context_, options_.wall, watch, workers);
    costs = watch.costs();
    finished.emulated_is_shown = watch.emulated_is_shown();
  }
  ++runs_;
  finished.presentation = experiment.presentation();
  finished.documents = experiment.documents();
  finished.seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  finished.question = experiment.question();
  outputs_.finish(finished);
  for (const std::string& cost : costs) fmt::print(stderr, "{}\n", cost);
  follow_up(experiment, finished.result);
  return finished;
}

}  // namespace howard::cli
