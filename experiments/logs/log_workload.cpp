// SPDX-License-Identifier: Apache-2.0
#include "experiments/logs/log_workload.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <string>
#include <utility>

#include "base/error.h"
#include "base/text.h"
#include "engines/chip/emulated_chip.h"
#include "engines/chip/kernels/planner.h"
#include "engines/chip/profiles/profile.h"
#include "experiments/cases/emulated_case.h"
#include "experiments/cases/host_time.h"
#include "experiments/cases/kernel_account.h"
#include "experiments/cases/program_changes.h"
#include "experiments/experiment.h"
#include "experiments/laboratory/devbox.h"
#include "experiments/questions/what_ifs.h"
#include "profiler/silicon/log_advice.h"
#include "profiler/silicon/logged_position.h"
#include "reports/tables/format.h"

namespace howard::experiments {
namespace {

using harness::Backend;

/// Returns the usual time from one call of the host to the next, where the device did not hold it
/// up; absent when the log has no host times.
std::optional<SimTime> time_of_calls(const std::vector<const profiler::ProgramRun*>& programs) {
  std::vector<SimTime> calls;
  const profiler::ProgramRun* last = nullptr;
  for (const profiler::ProgramRun* const program : programs) {
    if (!program->host_call) continue;
    if (last != nullptr) calls.push_back(program->host_call->start - last->host_call->start);
    last = program;
  }
  if (calls.empty()) return std::nullopt;
  const auto middle = calls.begin() + static_cast<std::ptrdiff_t>(calls.size() / 2);
  std::ranges::nth_element(calls, middle);
  return *middle;
}

/// Says whether the time of the log's calls is nearer to the emulator's for calls from Python than
/// to that for calls from C++.
bool calls_like_python(const chip::Profiles& profiles, SimTime call) {
  chip::EmulatedChip device(profiles);
  const SimTime begin = device.now();
  device.host_work(HostWork::python_call, 1);
  return 2 * call > device.now() - begin;
}

/// Returns where the log's programs were dispatched, by the cores that were left for them.
chip::DispatchCoreType dispatch_of(const profiler::LoggedDevice* device,
                                   const chip::ChipProfile& chip) {
  const bool tells = device != nullptr && device->worker_cores > 0;
  const int used = device != nullptr ? device->used_cores : 0;
  const int cores = tells ? device->worker_cores : profiler::grid_by_use(used, chip).cores();
  const bool has_all = chip.dispatch_takes_row && cores > chip.worker_grid.cores();
  return has_all ? chip::DispatchCoreType::eth : chip::DispatchCoreType::worker;
}

/// Adds programs to the workload, or their times to what is left.
class Collector {
 public:
  Collector(const profiler::Log& log, const chip::Profiles& profiles, LogWorkload& workload)
      : log_(log), profiles_(profiles), workload_(workload), places_(log.calls.size() + 1) {}

  /// Leaves out the calls whose runs differ by more than one shape allows.
  void doubt(const std::vector<const profiler::ProgramRun*>& programs) {
    std::vector<std::vector<SimTime>> times(places_.size());
    for (const profiler::ProgramRun* const program : programs) {
      times[program->call].push_back(program->kernel.duration());
    }
    for (std::uint32_t call = 1; call < times.size(); ++call) {
      if (times[call].empty()) continue;
      const auto middle = times[call].begin() + static_cast<std::ptrdiff_t>(times[call].size() / 2);
      std::ranges::nth_element(times[call], middle);
      places_[call].median = *middle;
      const std::string_view op = log_.calls.row(call).name;
      if (!profiler::has_doubtful_shapes(op, std::move(times[call]))) continue;
      places_[call] = {.median = *middle,
                       .known = true,
                       .call = {},
                       .reason = fmt::format("{} (its runs differ by more than the shape that the "
                                             "log has allows)",
                                             op)};
    }
  }

  void add(const profiler::ProgramRun& program) {
    ++workload_.programs;
    Place& place = places_[program.call];
    if (!place.known) place = place_of(program.call);
    if (place.call) {
      workload_.order.push_back(*place.call);
      const auto& unread = workload_.calls[*place.call].unread;
      if (!unread.empty()) unread_.add(log_.calls.row(program.call).name, unread);
      workload_.kernels += program.kernel.duration();
    } else {
      workload_.kernels_left += program.kernel.duration();
      workload_.left[place.reason] += program.kernel.duration();
    }
  }

  /// Adds what is known when all programs were added.
  void finish() {
    if (std::string note = unread_.note(); !note.empty())
      workload_.notes.push_back(std::move(note));
  }

 private:
  struct Place {
    SimTime median{};  ///< Of the call's runs.
    bool known = false;
    std::optional<std::size_t> call;
    std::string reason;
  };

  void note_positions() {
    if (notes_positions_) return;
    notes_positions_ = true;
    workload_.notes.emplace_back(
        "decode attention sees as many places as its time tells: its position is a tensor, whose "
        "number the log does not have");
  }

  Place place_of(std::uint32_t call) {
    if (call == 0) return {.known = true, .call = {}, .reason = "more calls than are kept"};
    const profiler::OpRow& row = log_.calls.row(call);
    if (!row.architecture.empty() && row.architecture != profiles_.chip.architecture) {
      return {.known = true,
              .call = {},
              .reason = fmt::format("programs of {}, which --chip can choose", row.architecture)};
    }
    std::string why = "the emulator has no such op";
    try {
      if (auto logged = profiler::logged_program(row)) {
        Program& program = logged->program;
        // A configuration that does not fit is refused here, not while the others run.
        const CoreGrid grid = profiles_.chip.compute_grid(workload_.dispatch);
        require_room(plan_program(program, grid, profiles_));
        if (profiler::lacks_position(program)) {
          profiler::take_position(program, places_[call].median, grid, profiles_);
          note_positions();
        }
        workload_.calls.push_back(std::move(*logged));
        return {.known = true, .call = workload_.calls.size() - 1, .reason = {}};
      }
    } catch (const Error& failure) {
      why = profiler::reason_of(failure);
    }
    return {.known = true, .call = {}, .reason = fmt::format("{} ({})", row.name, why)};
  }

  /// Throws Error if the emulator's kernel has no room on a core, as the device would when it runs.
  void require_room(const chip::PlannedProgram& planned) const {
    const Bytes needed = planned.buffers.least, room = profiles_.chip.l1_circular_buffers;
    if (needed <= room) return;
    throw Error({.attempted = "run it",
                 .value = fmt::format("its circular buffers need {} bytes of each core's L1",
                                      needed.value()),
                 .accepted = fmt::format("{} bytes at the most", room.value())});
  }

  const profiler::Log& log_;
  const chip::Profiles& profiles_;
  LogWorkload& workload_;
  std::vector<Place> places_;
  bool notes_positions_ = false;
  profiler::UnreadAttributes unread_;
};

struct LogOptions {
  chip::DispatchCoreType dispatch{};
  bool trace = false, python = true;
  ProgramChanges changes;
};

LogOptions log_options(const Point& point, const LogWorkload& workload) {
  return {.dispatch = point[kDispatch],
          .trace = point[kTrace],
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
    for (const std::size_t i : workload.order) {
      if (!kept[i]) continue;
      programs_.push_back(calls[i].program);
      ++runs[i];
    }
    for (std::size_t i = 0; i < calls.size(); ++i) {
      if (runs[i] > 0) add_known(calls[i], runs[i]);
    }
    if (programs_.empty()) {
      throw Error(
          {.attempted = "run the log without its movements", .value = "nothing else is in it"});
    }
    run_calls();  // the programs are compiled from here on
    finish();
    if (options.trace) {
      queue().begin_trace_capture();
      for (const Program& program : programs_) queue().enqueue(program);
      trace_ = queue().end_trace_capture();
    }
    host_ = host_time(device(), [&] { run(); });
  }

  void run() override {
    if (trace_) {
      queue().execute_trace(*trace_);
    } else {
      run_calls();
    }
  }
  void finish() override { queue().finish(); }

  void describe(double seconds, harness::PointResult& point) const override {
    point.details.emplace_back("launches", std::to_string(programs_.size()));
    kernels_.describe_error({.whole = seconds, .host = host_.seconds()}, point);
  }

 private:
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

  void run_calls() {
    for (const Program& program : programs_) {
      if (python_) device().host_work(HostWork::python_call, 1);
      queue().enqueue(program);
    }
  }

  bool python_;
  std::vector<std::pair<TensorSpec, BufferId>> buffers_;
  std::vector<Program> programs_;
  KernelAccount kernels_;
  SimTime host_;
  std::optional<TraceId> trace_;
};

std::vector<harness::Axis> log_axes(const LogWorkload& workload) {
  std::vector<harness::Axis> axes{
      kDispatch.with({kDispatch.print(workload.dispatch)}), kTrace.optional(),
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
  std::vector<harness::WhatIf> changes{set_axis("trace", point, kTrace, true, kAlready), from_cpp,
                                       eth_dispatch(point)};
  ChangeablePrograms programs;
  for (const profiler::LoggedProgram& call : workload.calls) programs.add(call.program);
  std::ranges::move(programs.what_ifs(point), std::back_inserter(changes));
  return changes;
}

struct DeviceOfRun {
  const profiler::LoggedRun* run = nullptr;
  std::uint16_t device = 0;
};

/// Returns the first device that ran a program on a chip of the family, by what the program's row
/// names or else the device's. Throws Error if there is none.
DeviceOfRun device_of(const profiler::Log& log, std::string_view architecture) {
  std::string other;
  for (const profiler::LoggedRun& run : log.runs) {
    for (const profiler::ProgramRun& program : run.timeline.programs) {
      const auto card = std::ranges::find(run.devices, program.device, &profiler::LoggedDevice::id);
      std::string_view named =
          program.call > 0 ? log.calls.row(program.call).architecture : std::string_view();
      if (named.empty() && card != run.devices.end()) named = card->architecture;
      if (named.empty() || named == architecture) return {&run, program.device};
      other = named;
    }
  }
  throw Error({.attempted = "explain a log of " + other,
               .value = "the emulator is of " + std::string(architecture),
               .accepted = "programs of that chip"});
}

}  // namespace

double LogWorkload::share() const {
  const SimTime all = kernels + kernels_left;
  return all > SimTime() ? kernels.seconds() / all.seconds() : 0;
}

std::string coverage_text(const LogWorkload& workload) {
  if (workload.left.empty()) {
    return fmt::format(
        "all {} programs that could be read are emulated, 100 % of the kernels' logged time",
        workload.programs);
  }
  return fmt::format("{} of {} programs are emulated, {} of the kernels' logged time",
                     workload.order.size(), workload.programs,
                     reports::format_quantity(workload.share(), "1"));
}

LogWorkload log_workload(const profiler::Log& log, const std::string& file,
                         const chip::Profiles& profiles) {
  const auto fail = [&](std::string value, std::string hint) {
    throw Error({.attempted = "explain the log " + file,
                 .value = std::move(value),
                 .accepted = "an ops_perf_results CSV of ops that the emulator has",
                 .hint = std::move(hint)});
  };
  LogWorkload workload{.log = file};
  if (log.runs.empty() || log.runs.front().timeline.programs.empty() || log.calls.size() == 0) {
    fail("it has no device ops whose operands it says", "");
  }
  const auto [found, device] = device_of(log, profiles.chip.architecture);
  const profiler::LoggedRun& run = *found;
  const auto described = std::ranges::find(run.devices, device, &profiler::LoggedDevice::id);
  const profiler::LoggedDevice* const card = described != run.devices.end() ? &*described : nullptr;
  workload.dispatch = dispatch_of(card, profiles.chip);
  if (log.runs.size() > 1) {
    workload.notes.push_back(fmt::format("the log has {} runs: this is number {}", log.runs.size(),
                                         &run - log.runs.data() + 1));
  }
  std::vector<const profiler::ProgramRun*> programs;
  for (const profiler::ProgramRun& program : run.timeline.programs) {
    if (program.device == device) programs.push_back(&program);
  }
  if (programs.size() < run.timeline.programs.size()) {
    workload.notes.push_back(fmt::format("of several devices, this is device {}, of {}", device,
                                         profiles.chip.architecture));
  }
  std::ranges::stable_sort(programs, {}, [](const auto* program) { return program->kernel.start; });
  if (programs.size() > kMostLogPrograms) {
    workload.notes.push_back(fmt::format("the first {} of {} programs; --from and --to take others",
                                         kMostLogPrograms, programs.size()));
    programs.resize(kMostLogPrograms);
  }
  if (const auto call = time_of_calls(programs)) {
    workload.python = calls_like_python(profiles, *call);
    workload.notes.push_back(fmt::format("the log's calls come every {}: they are taken to be {}'s",
                                         reports::format_time(*call),
                                         workload.python ? "Python" : "C++"));
  }
  for (const std::string& warning : warnings_of(log)) {
    workload.notes.push_back("warning: " + warning);
  }
  Collector collector(log, profiles, workload);
  collector.doubt(programs);
  for (const profiler::ProgramRun* const program : programs) collector.add(*program);
  collector.finish();
  if (workload.order.empty()) {
    fail("the emulator can run none of its ops: " + workload.left.begin()->first,
         "run_experiment analyze " + shell_word(file) + " --compare-emulated");
  }
  return workload;
}

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
