// SPDX-License-Identifier: Apache-2.0
//
// Question: what does a recorded program take, and what would it take under other circumstances?
//
// `file` is what `run_experiment python SCRIPT --save-workload FILE` leaves behind: everything that
// a script asked of its device. It is run again as it was, or with one thing changed: its calls
// from C++, its calls as replays of traces, its waits left out, the dispatch on other cores.
//
// Timing: one run is timed from the first command to the end of its finish; nothing warms up.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <mutex>
#include <tuple>
#include <utility>

#include "base/error.h"
#include "engines/workload/workload_json.h"
#include "experiments/cases/workload_case.h"
#include "experiments/experiment.h"
#include "experiments/questions/what_ifs.h"

namespace howard::experiments {
namespace {

using harness::Backend;
using harness::CellSource;

const WordAxis kFile("file");
const auto kFirstCalls = choice_axis<bool>(
    "first_calls", "first calls of programs take their time, or all programs are known",
    {{"recorded", true}, {"known", false}});
const auto kWaits = choice_axis<bool>("waits", "where the program waited, or once at its end",
                                      {{"recorded", true}, {"end", false}});

/// Reads each file once, however many points run it.
class RecordedPrograms {
 public:
  std::shared_ptr<const workload::Workload> of(const std::string& file) {
    const std::lock_guard lock(mutex_);
    auto& program = programs_[file];
    if (!program) {
      program = std::make_shared<const workload::Workload>(workload::read_workload(file));
    }
    return program;
  }

 private:
  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<const workload::Workload>> programs_;
};

/// Returns where a point dispatches: as it says, or as the recorded program did.
chip::DispatchCoreType dispatch_of(const Point& point, const workload::Workload& program) {
  return point.get(kDispatch, program.eth_dispatch ? chip::DispatchCoreType::eth
                                                   : chip::DispatchCoreType::worker);
}

/// Throws Error if a constant was set that a recorded program has in its file, with another value.
void require_effect(const DevBox& box, const workload::HostTimes& recorded) {
  const chip::ScriptTimes& now = box.profiles().software.script;
  const std::array<std::tuple<std::string_view, SimTime, SimTime>, 3> times{
      {{"host.ttnn_call", now.ttnn_call, recorded.ttnn_call},
       {"host.program_miss", now.program_miss, recorded.program_miss},
       {"host.kernel_compile", now.kernel_compile, recorded.kernel_compile}}};
  for (const auto& [name, time, of_file] : times) {
    const bool is_set = box.constants().software.at(name).source == "set by the user";
    if (!is_set || time == of_file) continue;
    throw Error({.attempted = fmt::format("set {} for a recorded program", name),
                 .value = fmt::format("its file has this time: {} ps", of_file.ps()),
                 .accepted = "constants of the chip and of what C++ does",
                 .hint = fmt::format("run_experiment python --set {}=... SCRIPT, which records "
                                     "it with another one",
                                     name)});
  }
}

std::vector<harness::Axis> workload_axes() {
  std::vector<harness::Axis> axes{
      {.name = kFile.name,
       .meaning = "of run_experiment python SCRIPT --save-workload FILE; none: nothing is run",
       .values = {},
       .quick_values = {},
       .canonical = kFile.parse},
      kDispatch.means("where dispatch runs; left out: where it ran when it was recorded").with({}),
      kFromPython.with({"python"}),
      kFirstCalls.with({"recorded"}),
      kTrace.means("calls that follow each other as replays of traces").with({"no"}),
      kWaits.with({"recorded"})};
  add_change_axes(axes);
  return axes;
}

bool has_first_calls(const workload::Workload& program) {
  return std::ranges::any_of(program.commands, [](const workload::Command& command) {
    return command.step == workload::Step::miss || command.step == workload::Step::compile;
  });
}

/// Leaves the first calls of programs out, or adds them.
harness::WhatIf first_calls_or_none(RecordedPrograms& programs, const Point& point) {
  if (point.has(kFile) && !has_first_calls(*programs.of(point[kFile]))) {
    return {"first calls", {}, "no program of it is called for the first time"};
  }
  return point[kFirstCalls] ? set_axis("all programs known", point, kFirstCalls, false, "")
                            : set_axis("with first calls", point, kFirstCalls, true, "");
}

std::vector<harness::WhatIf> workload_what_ifs(RecordedPrograms& programs, const Point& point) {
  std::vector<harness::WhatIf> changes{
      set_axis("trace", point, kTrace, true, "its calls are replays already"),
      set_axis("calls from C++", point, kFromPython, false, "its calls come from C++ already"),
      first_calls_or_none(programs, point),
      set_axis("waiting once", point, kWaits, false, "it waits once already")};
  const bool eth = point.has(kFile) &&
                   dispatch_of(point, *programs.of(point[kFile])) == chip::DispatchCoreType::eth;
  changes.push_back(
      eth ? set_axis("WORKER dispatch", point, kDispatch, chip::DispatchCoreType::worker, "")
          : eth_dispatch(point));
  if (point.has(kFile)) {
    const ChangeablePrograms calls(*programs.of(point[kFile]));
    std::ranges::move(calls.what_ifs(point), std::back_inserter(changes));
  }
  return changes;
}

}  // namespace

Experiment workload(const Box& box) {
  const auto programs = std::make_shared<RecordedPrograms>();
  return {.name = "workload",
          .question = "What does a recorded program, such as a Python script for ttnn, take?",
          .is_tool = true,
          .axes = workload_axes(),
          .timing = {.warmup = 0, .iterations = 1},
          .presentation = {.timed = "the program from its first call to its end",
                           .columns = {{"file", CellSource::parameter, "file"},
                                       {"calls from", CellSource::parameter, "calls"},
                                       {"trace", CellSource::parameter, "trace"},
                                       {"waits", CellSource::parameter, "waits"},
                                       {"time", CellSource::metric, "time"},
                                       {"calls", CellSource::detail, "calls"},
                                       {"traces", CellSource::metric, "trace_bytes",
                                        harness::Room::spare,
                                        "what its own take of the region for traces"},
                                       {"largest trace", CellSource::detail, "largest_trace"}}},
          .prepare = [=](Backend, const Point& point) -> Prepared {
            if (!point.has(kFile)) {
              return harness::NotApplicable{"no program is named: -a file=FILE"};
            }
            const auto program = programs->of(point[kFile]);
            require_effect(*box, program->host);
            auto device = box->open_chip(
                {.dispatch = dispatch_of(point, *program), .command_queues = program->queues});
            return std::make_unique<WorkloadCase>(std::move(device), program,
                                                  WorkloadOptions{.from_python = point[kFromPython],
                                                                  .first_calls = point[kFirstCalls],
                                                                  .traced = point[kTrace],
                                                                  .waits = point[kWaits],
                                                                  .changes = changes_of(point)});
          },
          .what_ifs = [=](const Point& point) { return workload_what_ifs(*programs, point); }};
}

}  // namespace howard::experiments
