// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "experiments/cases/emulated_case.h"
#include "experiments/cases/host_time.h"
#include "experiments/cases/kernel_account.h"
#include "experiments/cases/program_changes.h"
#include "experiments/experiment.h"
#include "experiments/laboratory/devbox.h"
#include "experiments/logs/log_workload.h"
#include "experiments/questions/what_ifs.h"
#include "reports/tables/format.h"

namespace howard::experiments {
namespace {

using harness::Backend;

struct LogOptions {
  chip::DispatchCoreType dispatch{};
  std::optional<bool> trace;  ///< Absent: what was replayed is replayed.
  bool python = true;
  ProgramChanges changes;
};

LogOptions log_options(const Point& point, const LogWorkload& workload) {
  return {.dispatch = point[kDispatch],
          .trace = point.has(kTrace) ? std::optional(point[kTrace]) : std::nullopt,
          .python = point.get(kFromPython, workload.python),
          .changes = changes_of(point)};
}

/// Runs the programs of a log on an emulated chip. It is no WorkloadCase, because a log is one
/// measured run, whose host waits once, after all iterations; a recorded program waits in each
/// where its script did. Nor does a log say when its tensors came and went: one tile stands for all
/// operands of a specification, while a recorded program makes, keeps and releases its own.
class LogCase final : public EmulatedCase {
 public:
  LogCase(const DevBox& box, const LogOptions& options, const LogWorkload& workload)
      : EmulatedCase(box.open_chip({.dispatch = options.dispatch})), python_(options.python) {
    std::vector<profiler::LoggedProgram> calls = workload.calls;
    std::vector<bool> kept;
    for (profiler::LoggedProgram& call : calls) {
      kept.push_back(options.changes.apply(call.program));
      place(call.program);
    }
    std::vector<std::int64_t> runs(calls.size());
    for (std::size_t i = 0; i < workload.order.size(); ++i) {
      const std::size_t call = workload.order[i];
      if (!kept[call]) continue;
      add(call, options.trace ? std::uint32_t{*options.trace} : workload.replays[i]);
      ++runs[call];
    }
    for (std::size_t i = 0; i < calls.size(); ++i) {
      if (runs[i] > 0) add_known(calls[i], runs[i]);
    }
    if (parts_.empty()) {
      throw Error(
          {.attempted = "run the log without its movements", .value = "nothing else is in it"});
    }
    programs_.reserve(calls.size());
    for (profiler::LoggedProgram& call : calls) programs_.push_back(std::move(call.program));
    for (const Part& part : parts_) run_calls(part);  // they are compiled from here on
    finish();
    capture();
    host_ = host_time(device(), [&] { run(); });
  }

  void run() override {
    for (const Part& part : parts_) {
      if (part.trace) {
        queue().execute_trace(*part.trace);
      } else {
        run_calls(part);
      }
    }
  }
  void finish() override { queue().finish(); }

  void describe(double seconds, harness::PointResult& point) const override {
    std::size_t launches = 0;
    for (const Part& part : parts_) launches += part.calls.size();
    point.details.emplace_back("launches", std::to_string(launches));
    kernels_.describe_error({.whole = seconds, .host = host_.seconds()}, point);
  }

 private:
  /// Programs that were called one after the other, or that are one replay.
  struct Part {
    std::uint32_t replay = 0;  ///< Its number; 0: they are called.
    std::vector<std::size_t> calls;
    std::optional<TraceId> trace = {};
  };

  void add(std::size_t call, std::uint32_t replay) {
    if (parts_.empty() || parts_.back().replay != replay) parts_.push_back({.replay = replay});
    parts_.back().calls.push_back(call);
  }

  /// Captures what is replayed: replays of the same programs are of one trace.
  void capture() {
    std::map<std::vector<std::size_t>, TraceId> traces;
    for (Part& part : parts_) {
      if (part.replay == 0) continue;
      const auto found = traces.find(part.calls);
      if (found != traces.end()) {
        part.trace = found->second;
        continue;
      }
      queue().begin_trace_capture();
      for (const std::size_t call : part.calls) queue().enqueue(programs_[call]);
      part.trace = traces.emplace(part.calls, queue().end_trace_capture()).first->second;
    }
  }

  void add_known(const profiler::LoggedProgram& logged, std::int64_t runs) {
    const auto call = profiler::plan_call(logged, device().compute_grid(), device().profiles());
    kernels_.add(call.planned.name, call.planned, *call.band, runs);
  }

  void place(Program& program) {
    for (std::vector<Operand>* const operands : {&program.inputs, &program.outputs}) {
      for (Operand& operand : *operands) operand.buffer = buffer_of(operand.spec);
    }
  }

  /// Operands of one specification share a buffer: what is in it takes no time. Those of a whole
  /// log do not fit the chip at once, as they did not have to; a tile stands for each.
  BufferId buffer_of(const TensorSpec& spec) {
    const auto found = std::ranges::find(
        buffers_, spec, [](const std::pair<TensorSpec, BufferId>& entry) { return entry.first; });
    if (found != buffers_.end()) return found->second;
    const TensorSpec tile{.shape = {kTileSide, kTileSide}};
    return buffers_.emplace_back(spec, device().allocate(tile)).second;
  }

  void run_calls(const Part& part) {
    for (const std::size_t call : part.calls) {
      if (python_) device().host_work(HostWork::python_call, 1);
      queue().enqueue(programs_[call]);
    }
  }

  bool python_;
  std::vector<std::pair<TensorSpec, BufferId>> buffers_;
  std::vector<Program> programs_;  ///< By call.
  std::vector<Part> parts_;        ///< As they ran.
  KernelAccount kernels_;
  SimTime host_;
};

std::vector<harness::Axis> log_axes(const LogWorkload& workload) {
  std::vector<harness::Axis> axes{
      kDispatch.with({kDispatch.print(workload.dispatch)}),
      kTrace.means("whether all of it is one trace; not set: what was replayed is").with({}),
      kFromPython.means("whose calls they are; not set: as slow as in the log").optional()};
  add_change_axes(axes);
  return axes;
}

std::vector<harness::WhatIf> log_what_ifs(const LogWorkload& workload, const Point& point) {
  constexpr const char* kAlready = "it is so already";
  harness::WhatIf from_cpp = set_axis("calls from C++", point, kFromPython, false, kAlready);
  if (!point.get(kFromPython, workload.python)) {
    from_cpp = {"calls from C++", {}, "its calls take no longer than those of C++"};
  }
  harness::WhatIf trace = set_axis("trace", point, kTrace, true, kAlready);
  if (!point.has(kTrace) && workload.is_replayed()) {
    trace = {"trace", {}, "the log is of replays already"};
  }
  std::vector<harness::WhatIf> changes{std::move(trace), from_cpp, eth_dispatch(point)};
  ChangeablePrograms programs;
  for (const profiler::LoggedProgram& call : workload.calls) programs.add(call.program);
  std::ranges::move(programs.what_ifs(point), std::back_inserter(changes));
  return changes;
}

/// Sets the expected error to what it was for the kernels of the log, and takes the verdict back
/// where they are too far off.
void check_against_log(const LogWorkload& workload, reports::Explanation& explanation) {
  explanation.checked = workload.checked;
  const reports::CheckedOp all = reports::sum_of(workload.checked);
  if (all.logged == SimTime()) return;
  const double error = all.apart.seconds() / all.logged.seconds();
  constexpr double kTooFar = 0.25;
  if (error > kTooFar) {
    explanation.headline = fmt::format(
        "no verdict: the emulator is {:.0f} % off this log's kernels; the advice below is of the "
        "log's own times, where it does not say emulated",
        100 * error);
  }
  if (explanation.run.pace() == profiler::Pace::host) return;
  explanation.run.expected_error = error;
  explanation.run.known = fmt::format("the log's kernels, {:+.1f} % in sum",
                                      100 * (all.emulated.seconds() / all.logged.seconds() - 1));
}

}  // namespace

std::unique_ptr<harness::Experiment> log_experiment(const Box& box, LogWorkload logged) {
  const auto workload = std::make_shared<const LogWorkload>(std::move(logged));
  return runnable(
      {.name = "log",
       .question = "what would make a logged run faster?",
       .is_tool = true,
       .axes = log_axes(*workload),
       .timing = {.warmup = 1, .iterations = 3},
       .presentation = {.timed = "a pass over the ops of the log, one finish after all",
                        .columns = {{"dispatch", harness::CellSource::parameter, "dispatch"},
                                    {"time", harness::CellSource::metric, "time"}}},
       .prepare = [=](Backend, const Point& point) -> Prepared {
         return std::make_unique<LogCase>(*box, log_options(point, *workload), *workload);
       },
       .what_ifs = [=](const Point& point) { return log_what_ifs(*workload, point); }},
      box);
}

reports::Explanation explain_log(const DevBox& box, const ExplainQuestion& question,
                                 const harness::Experiment& experiment,
                                 const LogWorkload& workload) {
  const PlannedExperiment planned = plan_explanation(question, experiment);
  reports::Explanation explanation = answer(box, question, planned);
  check_against_log(workload, explanation);
  std::vector<std::string>& notes = explanation.notes;
  notes.insert(notes.end(), workload.notes.begin(), workload.notes.end());
  if (workload.left.empty()) {
    notes.push_back(coverage_text(workload));
    return explanation;
  }
  explanation.beside = workload.kernels_left;
  constexpr double kEnough = 0.5;
  if (workload.share() < kEnough) {
    explanation.headline = fmt::format(
        "{} of the kernels' logged time is emulated: too little to say what the log is bound by",
        reports::format_quantity(workload.share(), "1"));
  }
  notes.push_back(fmt::format("{}; the others keep their logged {}, in every time and gain here",
                              coverage_text(workload),
                              reports::format_time(workload.kernels_left)));
  std::vector<std::pair<SimTime, std::string>> left;
  for (const auto& [why, time] : workload.left) left.emplace_back(time, why);
  std::ranges::stable_sort(left, std::greater(), [](const auto& entry) { return entry.first; });
  constexpr std::size_t kMostReasons = 5;
  for (std::size_t i = 0; i < std::min(left.size(), kMostReasons); ++i) {
    notes.push_back(
        fmt::format("not emulated, {}: {}", reports::format_time(left[i].first), left[i].second));
  }
  return explanation;
}

}  // namespace howard::experiments
