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
#include "engines/workload/workload_json.h"
#include "experiments/laboratory/laboratory.h"
#include "harness/cli/command/program.h"
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

/// Runs the program once, by the experiment, and returns what it says of itself.
harness::PointResult timed_point(const harness::Experiment& experiment,
                                 harness::PointResult point) {
  auto prepared = experiment.prepare(harness::Backend::emulated, point.parameters);
  auto* const found = std::get_if<std::unique_ptr<harness::Case>>(&prepared);
  if (found == nullptr) return point;
  const SimTime time = harness::measure_virtual(**found, experiment.timing());
  point.metrics.push_back(
      {.name = "time", .value = time.seconds(), .unit = "s", .virtual_time = time});
  (*found)->describe(time.seconds(), point);
  return point;
}

void print_regions(const harness::PointResult& point) {
  constexpr std::string_view kPrefix = "region_time.";
  for (const harness::Metric& metric : point.metrics) {
    if (!metric.name.starts_with(kPrefix) || !metric.virtual_time) continue;
    const std::string name = metric.name.substr(kPrefix.size());
    const std::string* const facts = point.find_detail("region." + name);
    fmt::print(stderr, "  region {:<20} {:>12}  {}\n", name, quantity(*metric.virtual_time),
               facts == nullptr ? "" : *facts);
  }
}

void print_products(const harness::PointResult& point) {
  bool first = true;
  for (const auto& [name, text] : point.details) {
    if (!name.starts_with("product.")) continue;
    if (std::exchange(first, false)) say("  slowest products");
    say("    " + text);
  }
}

/// Prints which calls have no kernel of their own.
void print_analogies(const std::string& list) {
  constexpr std::size_t kWidth = 100;
  say("  timed by analogy, with the nearest kernel that the emulator has");
  for (const std::string& line : split(reports::wrapped(list, kWidth), '\n')) say("    " + line);
}

/// Prints what the first calls of programs took, which a longer run does not repeat.
void print_first_calls(const harness::PointResult& point) {
  const std::string* const count = point.find_detail("first_calls");
  const harness::Metric* const time = point.find_metric("first_calls_time");
  if (count == nullptr || time == nullptr || !time->virtual_time) return;
  say(fmt::format(
      "  first calls of {} programs: {} of it; {}", *count, quantity(*time->virtual_time),
      point.find_detail("compiled") == nullptr
          ? "their kernels are in ttnn's cache on disk (--kernel-cache cold compiles them)"
          : "their kernels are compiled (--kernel-cache warm finds them on disk)"));
}

void print_head(const ScriptRun& run, const harness::PointResult& point) {
  const harness::Metric* const time = point.find_metric("time");
  const std::string* const calls = point.find_detail("calls");
  fmt::print(stderr, "\n{}: {} of virtual time, {} programs asked for\n", run.script.string(),
             time == nullptr || !time->virtual_time ? "no time" : quantity(*time->virtual_time),
             calls == nullptr ? "0" : *calls);
  print_regions(point);
  print_products(point);
  print_first_calls(point);
  if (const std::string* const analogies = point.find_detail("by_analogy")) {
    print_analogies(*analogies);
  }
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
          ? "as in the report's own Python engine; --calls ttnn: as in ttnn alone"
          : "as in ttnn's fast mode; --calls report: as in the report's own Python engine"));
}

void print_foot(const ScriptRun& run) {
  print_call_cost(run);
  say("again, or with something changed: run_experiment explain " + run.workload.string());
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
  const harness::PointResult point = timed_point(*planned.experiment, planned.points.front());
  print_head(run, point);
  if (run.tries_changes && point.find_metric("time") != nullptr &&
      point.find_metric("time")->value > 0) {
    explain_script(run, laboratory.explain(
                            {.what = run.workload.string(), .axes = {}, .profiles = run.profiles}));
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
