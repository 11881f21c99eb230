// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/file.h"
#include "experiments/laboratory/devbox.h"
#include "experiments/laboratory/laboratory.h"
#include "harness/cli/command/known.h"
#include "harness/cli/command/program.h"
#include "harness/cli/exit_status.h"
#include "harness/cli/outputs/bottlenecks.h"
#include "harness/cli/outputs/outputs.h"
#include "harness/cli/outputs/page_of_run.h"
#include "harness/cli/outputs/timeline_files.h"
#include "harness/cli/session.h"
#include "harness/cli/sharing/point_sharing.h"
#include "harness/cli/terminal/interruption.h"
#include "harness/environment.h"
#include "reports/findings/run_summary.h"
#include "reports/published/claims.h"
#include "reports/tables/format.h"

namespace howard::cli {
namespace {

bool has_points(const harness::Experiment& experiment, const std::vector<harness::Backend>& on) {
  return std::ranges::any_of(
      on, [&](harness::Backend backend) { return !experiment.axes(backend).empty(); });
}

std::vector<PlannedExperiment> plan(const experiments::Laboratory& laboratory,
                                    const RunOptions& options) {
  std::vector<PlannedExperiment> planned;
  const bool all = std::ranges::find(options.names, "all") != options.names.end();
  for (const harness::Experiment* const experiment :
       select(laboratory.experiments(), options.names)) {
    // Nobody asked for this experiment by name.
    if (all && !has_points(*experiment, options.plan.backends)) continue;
    planned.push_back(laboratory.plan(*experiment, options.plan));
  }
  return planned;
}

bool runs_on(harness::Backend backend, const std::vector<PlannedExperiment>& planned) {
  return std::ranges::any_of(planned, [&](const PlannedExperiment& one) {
    return std::ranges::find(one.points, backend, &harness::PointResult::backend) !=
           one.points.end();
  });
}

/// Says how far the emulation is from the report: "calibration rows: mean |error| 4.2 % of 6".
std::string describe_errors(const harness::ExperimentResult& result, const std::string& status) {
  double sum = 0;
  std::size_t count = 0;
  for (const harness::PointResult& point : result.points) {
    const auto error = point.relative_error();
    if (!error || point.reference->status != status) continue;
    sum += std::abs(*error);
    ++count;
  }
  if (count == 0) return "";
  return fmt::format("; mean |error| of {} {:.1f} %", reports::counted(count, status + " row"),
                     100 * sum / static_cast<double>(count));
}

void print_summary(const Finished& finished) {
  const auto& points = finished.result.points;
  const auto count = [&](auto predicate) { return std::ranges::count_if(points, predicate); };
  fmt::print(stderr, "{}: {}, {} skipped, {} failed{}{}{}\n", finished.result.experiment,
             reports::counted(points.size(), "point"),
             count([](const auto& p) { return p.skipped && !p.failed; }),
             count([](const auto& p) { return p.failed; }),
             describe_errors(finished.result, "calibration"),
             describe_errors(finished.result, "prediction"),
             finished.result.interrupted ? "; interrupted" : "");
}

/// Says so if no point of the run was measured, because each was skipped. Returns whether it is so.
bool says_that_nothing_ran(const std::vector<Finished>& finished) {
  const harness::PointResult* first = nullptr;
  for (const Finished& one : finished) {
    for (const harness::PointResult& point : one.result.points) {
      if (!point.skipped || point.failed) return false;
      if (first == nullptr) first = &point;
    }
  }
  if (first == nullptr) return false;
  complain("nothing ran: every point was skipped: {}", *first->skipped);
  return true;
}

/// Prints the end of `all`: how far everything is from the published figures, and what that says
/// about the report's claims.
void print_verdicts(const std::vector<Finished>& finished, const Outputs& outputs) {
  std::vector<harness::ExperimentResult> results;
  std::vector<double> seconds;
  for (const Finished& one : finished) {
    results.push_back(one.result);
    seconds.push_back(one.seconds);
  }
  std::vector<reports::Table> tables{reports::summary_table(results, seconds)};
  if (reports::can_judge(results)) {
    tables.push_back(reports::claims_table(reports::report_claims(), results));
  }
  outputs.print(tables);
}

int run_planned(const std::vector<PlannedExperiment>& planned, const RunOptions& options,
                const experiments::Laboratory& laboratory, MemoryWatch& memory, Ranks& ranks) {
  const harness::RunContext context = laboratory.context_of(planned);
  Outputs outputs(options.outputs);
  outputs.require_writable();
  if (options.page) {
    const std::filesystem::path folder = std::filesystem::path(*options.page).parent_path();
    require_writable_folder(folder.empty() ? "." : folder);
  }
  Session session(options, laboratory, context, outputs, memory, ranks);
  for (const std::string& warning : context.warnings) {
    complain("warning: {}", warning);
  }
  std::vector<Finished> finished;
  for (const PlannedExperiment& one : planned) {
    if (!interrupted()) finished.push_back(session.run(one));
  }
  if (std::ranges::find(options.names, "all") != options.names.end()) {
    print_verdicts(finished, outputs);
  }
  if (options.bottlenecks) {
    outputs.print(
        bottleneck_tables(session.traced(), [&]() -> Device& { return *laboratory.box().host(); }));
  }
  bool well = outputs.write(finished);
  if (options.page) well = write_page(finished, session, options, laboratory, outputs) && well;
  well = session.memory_is_complete() && well;
  well = write_traces(session.traced(), options, laboratory.box().profiles().chip) && well;
  for (const Finished& one : finished) {
    print_summary(one);
    well = well && std::ranges::none_of(one.result.points, &harness::PointResult::failed);
  }
  outputs.print_written();
  if (says_that_nothing_ran(finished)) well = false;
  if (interrupted()) return kInterrupted;
  return well ? kOk : kFailed;
}

/// Returns the text on which all ranks must agree: the points, the program and the constants.
std::string plan_text(const std::vector<PlannedExperiment>& planned,
                      const chip::ProfileChoice& profiles) {
  const chip::ProfileConstants constants = load_constants(profiles);
  std::string text =
      harness::git_commit() + constants.chip.to_json() + constants.software.to_json();
  for (const PlannedExperiment& one : planned) {
    for (const harness::PointResult& point : one.points) {
      text += fmt::format("{}/{}\n", one.experiment->name(), point.id());
    }
  }
  return text;
}

/// Plans what the options name. Throws UsageError for a plan that makes no sense.
std::vector<PlannedExperiment> planned_of(RunOptions& options,
                                          const experiments::Laboratory& laboratory) {
  try {
    std::vector<PlannedExperiment> planned = plan(laboratory, options);
    require_chip(laboratory.has_settings(), runs_on(harness::Backend::emulated, planned));
    options.uses_host = runs_on(harness::Backend::host, planned);
    if (options.given != nullptr) options.given->require_applicable();
    return planned;
  } catch (const Error& failure) {
    throw UsageError(failure.what());
  }
}

}  // namespace

int run_experiments(RunOptions& options, Ranks& ranks) {
  MemoryWatch memory;
  const bool watches = !options.outputs.memory.empty() || options.page;
  const auto laboratory = open_laboratory({.profiles = options.profiles,
                                           .host = {.threads = options.threads,
                                                    .binds_threads = options.binding,
                                                    .memory = watches ? memory.host() : nullptr},
                                           .seed = options.seed,
                                           .chip_memory = watches ? memory.chip() : nullptr,
                                           .stop = interrupted});
  const std::vector<PlannedExperiment> planned = planned_of(options, *laboratory);
  if (ranks.agree(true, ranks.size() > 1 ? plan_text(planned, laboratory->profiles()) : ""))
    return kFailed;
  if (options.dry_run) {
    for (const PlannedExperiment& one : planned) {
      if (!ranks.is_first()) break;
      for (const auto& point : one.points)
        fmt::print("{}/{}\n", one.experiment->name(), point.id());
    }
    return kOk;
  }
  catch_signals();
  if (!ranks.is_first()) {
    take_part(ranks, planned, Session::thread_count(options, ranks));
    return kOk;
  }
  return run_planned(planned, options, *laboratory, memory, ranks);
}

}  // namespace howard::cli
