// SPDX-License-Identifier: Apache-2.0
//
// Question: how much of the time does the chip wait between programs, and for what?
//
// The report (part 3, profiler table) counts 764 dispatches with 229.16 ms of gaps, 83.4 % of the
// time, but shows no script that gave them. Its core_grid benchmark under tt-metal's device
// profiler fits: it has 24 programs an iteration, 15 eager iterations and a replay, on the full
// grid and partitioned, and 768 programs in four streams have 764 gaps between them. 300 us of each
// gap belong to the profiler, because the host fetches its records after each program.
// `profiled:no` is the same run without it.
//
// Gaps are defined as in the report: programs by their start, gap = max(0, next start - end), share
// = gaps / (gaps + programs). `idle_time` is the time in which nothing ran, and each moment of it
// has a cause. For mlp and gpt2 (1 layer) the streams are 15 static steps and a replay.
//
// Timing: nothing warms up, and there is a finish after each iteration.

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <utility>

#include "experiments/cases/four_networks.h"
#include "experiments/cases/gpt2_case.h"
#include "experiments/cases/training_case.h"
#include "experiments/experiment.h"
#include "profiler/dispatch_gaps.h"
#include "profiler/event_recorder.h"

namespace howard::experiments {
namespace {

using harness::Backend;
using harness::CellSource;

constexpr int kEagerIterations = 15;

/// Sums up the streams of a workload.
struct Waiting {
  profiler::SequentialGaps sequential;
  profiler::CauseTimes causes;
};

/// Records what `run` does, as a stream of its own.
void add_stream(Waiting& waiting, const std::function<void(EventSink*)>& set_sink,
                const std::function<void()>& run) {
  profiler::EventRecorder recorder;
  set_sink(&recorder);
  run();
  set_sink(nullptr);
  const profiler::Timeline timeline = profiler::timeline_of(recorder.events(), recorder.losses());
  const auto devices = profiler::find_gaps(timeline, profiler::LaneKind::device);
  waiting.sequential += profiler::sequential_gaps(devices);
  waiting.causes += profiler::time_by_cause(devices);
}

Waiting wait_of_networks(const DevBox& box, bool profiled) {
  Waiting waiting;
  for (const CoreParts parts : {CoreParts::full_grid, CoreParts::partitioned}) {
    const auto chip = box.open_chip({.profiled = profiled});
    FourNetworks networks(*chip, parts);
    CommandQueue& queue = chip->command_queue(0);
    const auto set_sink = [&](EventSink* sink) { chip->set_trace_sink(sink); };
    add_stream(waiting, set_sink, [&] {
      for (int i = 0; i < kEagerIterations; ++i) {
        networks.enqueue();
        queue.finish();
      }
    });
    const TraceId trace = networks.capture();
    add_stream(waiting, set_sink, [&] {
      queue.execute_trace(trace);
      queue.finish();
    });
  }
  return waiting;
}

Waiting wait_of_training(const DevBox& box, bool profiled, bool gpt2) {
  Waiting waiting;
  for (const Engine engine : {Engine::static_step, Engine::traced}) {
    TrainingOptions options{
        .backend = Backend::emulated, .engine = engine, .as_published = true, .profiled = profiled};
    models::Gpt2Options sizes = gpt2_options(32, 1, 384);
    sizes.as_published = true;
    TrainingCase steps(box, options, [&](Device& device) {
      return gpt2 ? train_gpt2(device, sizes)
                  : train_mlp(device, {}, models::MlpFunctions::by_layer);
    });
    const int iterations = engine == Engine::traced ? 1 : kEagerIterations;
    add_stream(
        waiting, [&](EventSink* sink) { steps.set_trace_sink(sink); },
        [&] {
          for (int i = 0; i < iterations; ++i) {
            steps.run();
            steps.finish();
          }
        });
  }
  return waiting;
}

/// Returns "profiler 88.1 %, host issuing 9.0 %, ...", the largest first.
std::string text_of(const profiler::CauseTimes& causes) {
  std::vector<std::pair<SimTime, profiler::GapCause>> parts;
  for (std::size_t i = 0; i < profiler::kGapCauses; ++i) {
    const auto cause = static_cast<profiler::GapCause>(i);
    if (causes[cause] > SimTime()) parts.emplace_back(causes[cause], cause);
  }
  std::ranges::stable_sort(parts, [](const auto& a, const auto& b) { return a.first > b.first; });
  std::string text;
  for (const auto& [time, cause] : parts) {
    text += fmt::format("{}{} {:.1f} %", text.empty() ? "" : ", ", name_of(cause),
                        100 * time.seconds() / causes.total().seconds());
  }
  return text;
}

void describe_waiting(const Waiting& waiting, harness::PointResult& found) {
  const profiler::SequentialGaps& gaps = waiting.sequential;
  found.metrics = {exact_time("gap_time", gaps.idle),
                   {.name = "gap_share", .value = gaps.share().value_or(0), .unit = "1"},
                   {.name = "dispatches", .value = static_cast<double>(gaps.gaps), .unit = "count"},
                   exact_time("busy_time", gaps.busy),
                   exact_time("idle_time", waiting.causes.total()),
                   exact_time("span", gaps.busy + waiting.causes.total())};
  for (std::size_t i = 0; i < profiler::kGapCauses; ++i) {
    const auto cause = static_cast<profiler::GapCause>(i);
    std::string name = fmt::format("idle.{}", name_of(cause));
    std::ranges::replace(name, ' ', '_');
    if (waiting.causes[cause] > SimTime()) {
      found.metrics.push_back(exact_time(std::move(name), waiting.causes[cause]));
    }
  }
  found.details = {{"programs", std::to_string(gaps.programs)},
                   {"gaps", std::to_string(gaps.gaps)},
                   {"causes", text_of(waiting.causes)}};
}

}  // namespace

Experiment dispatch_gaps(const Box& box) {
  enum class Waits : std::uint8_t { core_grid, mlp, gpt2 };
  const auto workload = choice_axis<Waits>(
      "workload", "the workload that runs",
      {{"core_grid", Waits::core_grid}, {"mlp", Waits::mlp}, {"gpt2", Waits::gpt2}});
  const auto profiled = choice_axis<bool>("profiled", "whether tt-metal's device profiler is on",
                                          {{"yes", true}, {"no", false}});
  return {.name = "dispatch_gaps",
          .question = "How long is the chip idle between programs, and what does it wait for?",
          .axes = {workload.with(workload.choices), profiled.with({"yes", "no"})},
          .presentation = {.columns = {{"workload", CellSource::parameter, "workload"},
                                       {"profiled", CellSource::parameter, "profiled"},
                                       {"programs", CellSource::detail, "programs"},
                                       {"gaps", CellSource::detail, "gaps"},
                                       {"gap time", CellSource::metric, "gap_time"},
                                       {"published", CellSource::reference, ""},
                                       {"error", CellSource::error, ""},
                                       {"share", CellSource::metric, "gap_share"},
                                       {"busy", CellSource::metric, "busy_time"},
                                       {"idle", CellSource::metric, "idle_time"},
                                       {"of it", CellSource::detail, "causes"}},
                           .bar_charts = {{.title = "What the chip waits for",
                                           .label = "share of the time",
                                           .metric = "span",
                                           .bars = {"workload", "profiled"},
                                           .parts = "idle.",
                                           .rest = "busy",
                                           .shares = true,
                                           .published_share = "gap_share"}}},
          .prepare = [=](Backend, const Point& point) -> Prepared {
            return finding([=, what = point[workload],
                            is_profiled = point[profiled]](harness::PointResult& found) {
              describe_waiting(what == Waits::core_grid
                                   ? wait_of_networks(*box, is_profiled)
                                   : wait_of_training(*box, is_profiled, what == Waits::gpt2),
                               found);
            });
          }};
}

}  // namespace howard::experiments
