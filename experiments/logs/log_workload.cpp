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
#include "experiments/laboratory/devbox.h"
#include "profiler/silicon/log_advice.h"
#include "profiler/silicon/logged_position.h"
#include "reports/tables/format.h"

namespace howard::experiments {
namespace {

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
      workload_.replays.push_back(replay_of(program));
      check(program, place);
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
    for (auto& [op, checked] : checked_) workload_.checked.push_back(std::move(checked));
    std::ranges::stable_sort(workload_.checked, std::greater(), &reports::CheckedOp::logged);
    if (std::string note = unread_.note(); !note.empty())
      workload_.notes.push_back(std::move(note));
  }

 private:
  struct Place {
    SimTime median{};  ///< Of the call's runs.
    bool known = false;
    std::optional<std::size_t> call;
    std::string reason;
    std::optional<SimTime> emulated = {};  ///< Absent where its time tells its position.
  };

  /// Returns the number of the replay that a program is part of: one more with each that begins.
  std::uint32_t replay_of(const profiler::ProgramRun& program) {
    if (program.replay == 0) return 0;
    const std::pair replay{program.trace, program.replay};
    if (replay != latest_replay_) ++replay_count_;
    latest_replay_ = replay;
    return replay_count_;
  }

  void check(const profiler::ProgramRun& program, const Place& place) {
    const SimTime logged = program.kernel.duration();
    if (!place.emulated || logged == SimTime()) return;
    const std::string op(log_.calls.row(program.call).name);
    reports::CheckedOp& sum = checked_[op];
    sum.op = op;
    ++sum.runs;
    sum.logged += logged;
    sum.emulated += *place.emulated;
    sum.apart += *place.emulated > logged ? *place.emulated - logged : logged - *place.emulated;
  }

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
        const chip::PlannedProgram planned = plan_program(program, grid, profiles_);
        require_room(planned);
        std::optional<SimTime> emulated = planned.kernel.total;
        if (profiler::lacks_position(program)) {
          profiler::take_position(program, places_[call].median, grid, profiles_);
          note_positions();
          emulated.reset();
        }
        workload_.calls.push_back(std::move(*logged));
        return {
            .known = true, .call = workload_.calls.size() - 1, .reason = {}, .emulated = emulated};
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
  std::map<std::string, reports::CheckedOp> checked_;
  std::pair<std::uint32_t, std::uint32_t> latest_replay_;
  std::uint32_t replay_count_ = 0;
};

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

bool LogWorkload::is_replayed() const {
  return std::ranges::find(replays, std::uint32_t{0}) == replays.end();
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

}  // namespace howard::experiments
