// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/verbs/script_summary.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/error.h"
#include "base/text.h"
#include "engines/chip/profiles/profile.h"
#include "experiments/cases/workload_case.h"
#include "experiments/laboratory/laboratory.h"
#include "harness/cli/command/program.h"
#include "harness/cli/verbs/profile_words.h"
#include "harness/measurement.h"
#include "reports/tables/cell_text.h"
#include "reports/tables/format.h"

namespace howard::cli {
namespace {

void say(std::string_view line) { fmt::print(stderr, "{}\n", line); }

void print_regions(const std::vector<workload::RegionTime>& regions) {
  for (const workload::RegionTime& region : regions) {
    fmt::print(stderr, "  region {:<20} {:>12}  {} runs, {} calls\n", region.name,
               reports::format_time(region.time), region.runs, region.calls);
  }
}

void print_products(const std::vector<std::string>& products) {
  if (!products.empty()) say("  slowest products");
  for (const std::string& product : products) say("    " + product);
}

/// Prints which calls have no kernel of their own.
void print_analogies(const std::string& list) {
  constexpr std::size_t kWidth = 100;
  say("  timed by analogy, with the nearest kernel that the emulator has");
  for (const std::string& line : split(reports::wrapped(list, kWidth), '\n')) say("    " + line);
}

/// Prints what the first calls of programs took, which a longer run does not repeat.
void print_first_calls(const experiments::FirstCalls& first) {
  if (first.programs == 0) return;
  say(fmt::format("  first calls of {} programs: {} of it; {}", first.programs,
                  reports::format_time(first.time),
                  first.compiled == 0
                      ? "their kernels are in ttnn's cache on disk (--kernel-cache cold compiles "
                        "them)"
                      : "their kernels are compiled (--kernel-cache warm finds them on disk)"));
}

void print_head(const ScriptRun& run, const experiments::WorkloadCase& made_of, SimTime time) {
  fmt::print(stderr, "\n{}: {} of virtual time, {} programs asked for\n", run.script.string(),
             reports::format_time(time), made_of.calls());
  print_regions(made_of.regions());
  print_products(made_of.slowest_products());
  print_first_calls(made_of.first_calls());
  if (const Bytes traces = made_of.recorded_traces(); traces > Bytes()) {
    say(fmt::format("  its traces need a trace_region_size of {}", traces.value()));
  }
  if (const std::string list = made_of.by_analogy(); !list.empty()) print_analogies(list);
}

/// Prints what a call costs its host, which decides most verdicts on scripts.
void print_call_cost(const ScriptRun& run) {
  const chip::SoftwareProfile software = chip::load_profiles(run.profiles).software;
  const SimTime in_cpp = software.host_op_call + software.host_allocation;
  const SimTime python = run.as_the_report ? software.host_python_call : software.script.ttnn_call;
  say(fmt::format(
      "a call takes its host {} in C++ and {} more from Python, {}", reports::format_time(in_cpp),
      reports::format_time(python),
      run.as_the_report
          ? "as in the report's own Python engine; --call-times ttnn: as in ttnn alone"
          : "as in ttnn's fast mode; --call-times report: as in the report's own Python engine"));
}

void print_foot(const ScriptRun& run) {
  print_call_cost(run);
  std::string command = "run_experiment explain " + shell_word(run.workload.string());
  for (const std::string& word : profile_words(run.profiles)) command += " " + shell_word(word);
  if (run.is_kept) say("with something changed: " + command);
  say(run.virtual_clock
          ? "time.time() and time.perf_counter() of the script were the virtual clock"
          : "time.time() of the script was the wall clock of this machine; howard.now() or "
            "--virtual-clock give virtual time");
}

/// Explains what a longer run repeats: the programs are known.
void explain_script(const ScriptRun& run, reports::Explanation explanation) {
  constexpr std::size_t kMostChanges = 3;
  if (explanation.tried.size() > kMostChanges) explanation.tried.resize(kMostChanges);
  for (const reports::Table& table : reports::explanation_tables(explanation)) {
    fmt::print(stderr, "\n{}",
               reports::terminal_table(table, terminal_style(STDERR_FILENO, run.color)));
  }
}

void summarize(const ScriptRun& run) {
  const experiments::Laboratory laboratory({.profiles = run.profiles});
  const experiments::PlannedExperiment planned = laboratory.plan(
      laboratory.find("workload"),
      {.backends = {harness::Backend::emulated}, .overrides = {{"file", {run.workload.string()}}}});
  auto prepared =
      planned.experiment->prepare(harness::Backend::emulated, planned.points.front().parameters);
  const auto* const found = std::get_if<std::unique_ptr<harness::Case>>(&prepared);
  if (found == nullptr) {  // the experiment leaves it out
    fmt::print(stderr, "\n{}: no time of virtual time, 0 programs asked for\n",
               run.script.string());
    return;
  }
  const SimTime time = harness::measure_virtual(**found, planned.experiment->timing());
  const auto& made_of = dynamic_cast<const experiments::WorkloadCase&>(**found);
  if (run.has_failed) {
    fmt::print(stderr, "\n{}: failed after {} of virtual time, {} programs asked for\n",
               run.script.string(), reports::format_time(time), made_of.calls());
    return;
  }
  print_head(run, made_of, time);
  if (run.tries_changes && time > SimTime()) {
    if (made_of.first_calls().programs > 0) {
      say("without first calls, as a longer run goes on:");
    }
    explain_script(run, laboratory.explain({.what = run.workload.string(),
                                            .axes = {"first_calls=known"},
                                            .profiles = run.profiles}));
  }
}

}  // namespace

void print_script_summary(const ScriptRun& run) {
  try {
    summarize(run);
  } catch (const Error& failure) {
    complain("no account of {}: {}", run.script.string(), failure.what());
  }
  if (!run.has_failed) print_foot(run);
}

}  // namespace howard::cli
