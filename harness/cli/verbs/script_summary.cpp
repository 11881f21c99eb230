// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/verbs/script_summary.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
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

/// Prints a line of the summary. A terminal breaks it between words, and each part is indented as
/// `line` is.
void say(std::string_view line) {
  const std::size_t indent = std::min(line.find_first_not_of(' '), line.size());
  const std::optional<int> width = terminal_width(STDERR_FILENO);
  const std::size_t room = width ? static_cast<std::size_t>(std::max(*width, 1)) : line.size();
  const std::string broken = reports::wrapped(line.substr(indent), room - std::min(room, indent));
  for (const std::string& part : split(broken, '\n')) {
    fmt::print(stderr, "{}{}\n", line.substr(0, indent), part);
  }
}

std::string quantity(SimTime time) { return reports::format_quantity(time.seconds(), "s"); }

/// Holds a run of the program by the experiment `workload`.
struct ScriptAccount {
  SimTime time;
  experiments::WorkloadAccount made_of;
};

/// Returns nothing for a program that the experiment leaves out.
std::optional<ScriptAccount> account_of(const harness::Experiment& experiment,
                                        const harness::PointResult& point) {
  auto prepared = experiment.prepare(harness::Backend::emulated, point.parameters);
  auto* const found = std::get_if<std::unique_ptr<harness::Case>>(&prepared);
  if (found == nullptr) return std::nullopt;
  const SimTime time = harness::measure_virtual(**found, experiment.timing());
  return ScriptAccount{time, dynamic_cast<const experiments::WorkloadCase&>(**found).account()};
}

void print_regions(const std::vector<workload::RegionTime>& regions) {
  for (const workload::RegionTime& region : regions) {
    fmt::print(stderr, "  region {:<20} {:>12}  {} runs, {} calls\n", region.name,
               quantity(region.time), region.runs, region.calls);
  }
}

void print_products(const experiments::WorkloadAccount& account) {
  if (!account.products.empty()) say("  slowest products");
  for (const auto& product : account.products) say("    " + product.text());
}

/// Prints which calls have no kernel of their own.
void print_analogies(const std::string& list) {
  constexpr std::size_t kWidth = 100;
  say("  timed by analogy, with the nearest kernel that the emulator has");
  for (const std::string& line : split(reports::wrapped(list, kWidth), '\n')) say("    " + line);
}

/// Prints what the first calls of programs took, which a longer run does not repeat.
void print_first_calls(const experiments::WorkloadAccount& account) {
  if (account.first_calls == 0) return;
  say(fmt::format("  first calls of {} programs: {} of it; {}", account.first_calls,
                  quantity(account.first_calls_time),
                  account.compiled == 0
                      ? "their kernels are in ttnn's cache on disk (--kernel-cache cold compiles "
                        "them)"
                      : "their kernels are compiled (--kernel-cache warm finds them on disk)"));
}

void print_head(const ScriptRun& run, const std::optional<ScriptAccount>& found) {
  const experiments::WorkloadAccount account =
      found ? found->made_of : experiments::WorkloadAccount{};
  fmt::print(stderr, "\n{}: {} of virtual time, {} programs asked for\n", run.script.string(),
             found ? quantity(found->time) : "no time", account.calls);
  print_regions(account.regions);
  print_products(account);
  print_first_calls(account);
  if (!account.by_analogy.empty()) print_analogies(account.by_analogy);
}

/// Prints what a call costs its host, which decides most verdicts on scripts.
void print_call_cost(const ScriptRun& run) {
  const chip::SoftwareProfile software = chip::load_profiles(run.profiles).software;
  const SimTime in_cpp = software.host_op_call + software.host_allocation;
  const SimTime python = run.as_the_report ? software.host_python_call : software.script.ttnn_call;
  say(fmt::format(
      "a call takes its host {} in C++ and {} more from Python, {}", quantity(in_cpp),
      quantity(python),
      run.as_the_report
          ? "as in the report's own Python engine; --call-times ttnn: as in ttnn alone"
          : "as in ttnn's fast mode; --call-times report: as in the report's own Python engine"));
}

void print_foot(const ScriptRun& run) {
  print_call_cost(run);
  std::string command = "run_experiment explain " + run.workload.string();
  for (const std::string& word : profile_words(run.profiles)) command += " " + word;
  say("without first calls, or with something changed: " + command);
  say(run.virtual_clock
          ? "time.time() and time.perf_counter() of the script were the virtual clock"
          : "time.time() of the script was the wall clock of this machine; howard.now() or "
            "--virtual-clock give virtual time");
}

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
  const auto found = account_of(*planned.experiment, planned.points.front());
  print_head(run, found);
  if (run.tries_changes && found && found->time > SimTime()) {
    explain_script(run, laboratory.explain({.what = run.workload.string(),
                                            .axes = {"first_calls=recorded"},
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
  print_foot(run);
}

}  // namespace howard::cli
