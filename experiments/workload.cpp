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
#include <map>
#include <mutex>
#include <tuple>
#include <utility>

#include "base/error.h"
#include "engines/workload/workload_json.h"
#include "experiments/axes/axes.h"
#include "experiments/cases/workload_case.h"
#include "experiments/laboratory/devbox.h"
#include "experiments/laboratory/experiment_list.h"
#include "experiments/questions/what_ifs.h"

namespace howard::experiments {
namespace {

using harness::Backend;
using harness::find_parameter;
using harness::Parameters;

bool is(const Parameters& parameters, std::string_view axis, std::string_view value) {
  return find_parameter(parameters, axis) == value;
}

class WorkloadExperiment final : public harness::Experiment {
 public:
  WorkloadExperiment(std::shared_ptr<const DevBox> box, const chip::ProfileChoice& choice)
      : box_(std::move(box)), choice_(choice) {}

  std::string_view name() const override { return "workload"; }
  std::string_view question() const override {
    return "What does a recorded program, such as a Python script for ttnn, take?";
  }
  bool is_tool() const override { return true; }

  std::vector<harness::Axis> axes(Backend backend) const override {
    if (backend == Backend::host) return {};
    return {
        {.name = "file",
         .meaning = "of run_experiment python SCRIPT --save-workload FILE; none: nothing is run",
         .values = {},
         .quick_values = {},
         .canonical = [](std::string_view value) { return std::string(value); }},
        harness::optional_axis(harness::word_axis(
            "dispatch", "where dispatch runs; left out: where it ran when it was recorded",
            {"worker", "eth"}, {"worker"})),
        harness::word_axis("calls", "who makes the calls", {"python", "cpp"}, {"python"}),
        harness::word_axis("first_calls",
                           "first calls of programs take their time, or all programs are known",
                           {"recorded", "known"}, {"recorded"}),
        harness::word_axis("traced", "calls that follow each other as replays of traces",
                           {"no", "yes"}, {"no"}),
        harness::word_axis("waits", "where the program waited, or once at its end",
                           {"recorded", "end"}, {"recorded"})};
  }

  harness::VirtualTiming timing() const override { return {.warmup = 0, .iterations = 1}; }

  harness::Presentation presentation() const override {
    using harness::CellSource;
    return {.timed = "the program from its first call to its end",
            .columns = {{"file", CellSource::parameter, "file"},
                        {"calls from", CellSource::parameter, "calls"},
                        {"traced", CellSource::parameter, "traced"},
                        {"waits", CellSource::parameter, "waits"},
                        {"time", CellSource::metric, "time"},
                        {"calls", CellSource::detail, "calls"},
                        {"largest trace", CellSource::detail, "largest_trace"}},
            .plots = {}};
  }

  std::vector<harness::WhatIf> what_ifs(const Parameters& parameters) const override {
    std::vector<harness::WhatIf> changes;
    const auto change = [&](std::string what, std::string axis, std::string value,
                            std::string reason) {
      const bool is_so = is(parameters, axis, value);
      changes.push_back({.what = std::move(what), .candidates = {}, .reason = std::move(reason)});
      if (!is_so) changes.back().candidates = {{{std::move(axis), std::move(value)}}};
    };
    change("trace", "traced", "yes", "its calls are replays already");
    change("calls from C++", "calls", "cpp", "its calls come from C++ already");
    change("all programs known", "first_calls", "known", "its programs are known already");
    change("waiting once", "waits", "end", "it waits once already");
    const bool eth =
        find_parameter(parameters, "dispatch").value_or(recorded_dispatch(parameters)) ==
        std::string_view("eth");
    if (eth) {
      change("WORKER dispatch", "dispatch", "worker", "");
    } else {
      change("ETH dispatch", "dispatch", "eth", "");
    }
    return changes;
  }

  std::variant<std::unique_ptr<harness::Case>, harness::NotApplicable> prepare(
      Backend /*backend*/, const Parameters& parameters) const override {
    const auto file = find_parameter(parameters, "file");
    if (!file) return harness::NotApplicable{"no program is named: -a file=FILE"};
    const auto program = program_of(std::string(*file));
    require_effect(program->host);
    const bool eth =
        find_parameter(parameters, "dispatch").value_or(program->eth_dispatch ? "eth" : "worker") ==
        "eth";
    auto device = box_->open_chip(
        {.dispatch = eth ? chip::DispatchCoreType::eth : chip::DispatchCoreType::worker,
         .command_queues = program->queues});
    return std::make_unique<WorkloadCase>(
        std::move(device), program,
        WorkloadOptions{.from_python = !is(parameters, "calls", "cpp"),
                        .first_calls = !is(parameters, "first_calls", "known"),
                        .traced = is(parameters, "traced", "yes"),
                        .waits = !is(parameters, "waits", "end")},
        box_->profiles().software);
  }

 private:
  /// Throws Error if a constant was set that a recorded program has in its file, with another
  /// value.
  void require_effect(const workload::HostTimes& recorded) const {
    if (choice_.settings.empty()) return;
    const chip::ScriptTimes& now = box_->profiles().software.script;
    const std::array<std::tuple<std::string_view, SimTime, SimTime>, 3> times{
        {{"host.ttnn_call", now.ttnn_call, recorded.ttnn_call},
         {"host.program_miss", now.program_miss, recorded.program_miss},
         {"host.kernel_compile", now.kernel_compile, recorded.kernel_compile}}};
    for (const auto& [name, time, of_file] : times) {
      const std::string begin = std::string(name) + "=";
      const bool is_set = std::ranges::any_of(
          choice_.settings, [&](const std::string& one) { return one.starts_with(begin); });
      if (!is_set || time == of_file) continue;
      throw Error({.attempted = fmt::format("set {} for a recorded program", name),
                   .value = fmt::format("its file has this time: {} ps", of_file.ps()),
                   .accepted = "constants of the chip and of what C++ does",
                   .hint = fmt::format("run_experiment python --set {}... SCRIPT, which records it "
                                       "with another one",
                                       begin)});
    }
  }

  std::string_view recorded_dispatch(const Parameters& parameters) const {
    const auto file = find_parameter(parameters, "file");
    return file && program_of(std::string(*file))->eth_dispatch ? "eth" : "worker";
  }

  /// Reads the file once, however many points run it.
  std::shared_ptr<const workload::Workload> program_of(const std::string& file) const {
    const std::lock_guard lock(mutex_);
    auto& program = programs_[file];
    if (!program) {
      program = std::make_shared<const workload::Workload>(workload::read_workload(file));
    }
    return program;
  }

  std::shared_ptr<const DevBox> box_;
  chip::ProfileChoice choice_;
  mutable std::mutex mutex_;
  mutable std::map<std::string, std::shared_ptr<const workload::Workload>> programs_;
};

}  // namespace

std::unique_ptr<harness::Experiment> workload_runs(std::shared_ptr<const DevBox> box,
                                                   const chip::ProfileChoice& choice) {
  return std::make_unique<WorkloadExperiment>(std::move(box), choice);
}

}  // namespace howard::experiments
