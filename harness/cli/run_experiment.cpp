// SPDX-License-Identifier: Apache-2.0
//
// This is the composition root. It builds the development box and the list of experiments, runs
// what the command line names and writes the results. Its manual is help.md.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/text.h"
#include "experiments/all.h"
#include "experiments/workloads/chip_context.h"
#include "experiments/workloads/questions/design_space.h"
#include "harness/cli/bottlenecks.h"
#include "harness/cli/command_line.h"
#include "harness/cli/exit_status.h"
#include "harness/cli/given_options.h"
#include "harness/cli/options.h"
#include "harness/cli/outputs.h"
#include "harness/cli/page_of_run.h"
#include "harness/cli/session.h"
#include "harness/cli/sharing/point_sharing.h"
#include "harness/cli/sharing/ranks.h"
#include "harness/cli/terminal/interruption.h"
#include "harness/cli/terminal/streams.h"
#include "harness/cli/timeline_files.h"
#include "harness/cli/verbs/manual/help.h"
#include "harness/cli/verbs/manual/list.h"
#include "harness/cli/verbs/manual/manual.h"
#include "harness/cli/verbs/verbs.h"
#include "reports/findings/run_summary.h"
#include "reports/published/claims.h"
#include "reports/tables/format.h"

namespace howard::cli {
namespace {

bool has_points(const harness::Experiment& experiment, const std::vector<harness::Backend>& on) {
  return std::ranges::any_of(
      on, [&](harness::Backend backend) { return !experiment.axes(backend).empty(); });
}

std::vector<PlannedExperiment> plan(const std::vector<const harness::Experiment*>& selected,
                                    const Options& options) {
  std::vector<PlannedExperiment> planned;
  planned.reserve(selected.size());
  const bool all = std::ranges::find(options.names, "all") != options.names.end();
  for (const harness::Experiment* const experiment : selected) {
    // Nobody asked for this experiment by name.
    if (all && !has_points(*experiment, options.plan.backends)) continue;
    planned.push_back({experiment, harness::plan_points(*experiment, options.plan)});
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
  fmt::print(stderr, "{}: nothing ran: every point was skipped: {}\n", program_name(),
             *first->skipped);
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

int run_planned(std::vector<PlannedExperiment> planned, const Options& options,
                const harness::RunContext& context, const experiments::DevBox& box,
                MemoryWatch& memory, Ranks& ranks) {
  Outputs outputs(options);
  outputs.require_writable();
  Session session(options, context, outputs, memory, ranks);
  for (const std::string& warning : context.warnings) {
    fmt::print(stderr, "run_experiment: warning: {}\n", warning);
  }
  std::vector<Finished> finished;
  for (PlannedExperiment& one : planned) {
    if (!interrupted()) finished.push_back(session.run(std::move(one)));
  }
  if (std::ranges::find(options.names, "all") != options.names.end()) {
    print_verdicts(finished, outputs);
  }
  if (options.bottlenecks) {
    BottleneckTables bottlenecks([&]() -> Device& { return *box.host(); });
    for (const TracedPoint& point : session.traced()) outputs.print(bottlenecks.of(point));
  }
  bool well = outputs.write(finished);
  if (options.page) well = write_page(finished, session.shown(), options, outputs) && well;
  well = session.memory_is_complete() && well;
  well = write_traces(session.traced(), options, box.profiles().chip) && well;
  for (const Finished& one : finished) {
    print_summary(one);
    well = well && std::ranges::none_of(one.result.points, &harness::PointResult::failed);
  }
  outputs.print_written();
  if (says_that_nothing_ran(finished)) well = false;
  if (interrupted()) return kInterrupted;
  return well ? kOk : kFailed;
}

/// Throws Error if a tool is to have several sets of constants. A tool looks at one set.
void require_one_design(const std::vector<PlannedExperiment>& planned,
                        const experiments::DesignSpace& space) {
  for (const PlannedExperiment& one : planned) {
    if (space.axes.empty() || !one.experiment->is_tool()) continue;
    throw Error({.attempted = fmt::format("run {}", one.experiment->name()),
                 .value = fmt::format("--set gives {} several values", space.axes.front().name),
                 .accepted = "one value",
                 .hint = "a run for each value"});
  }
}

/// Returns the text on which all ranks must agree: the points, the program and the constants.
std::string plan_text(const std::vector<PlannedExperiment>& planned, const Options& options) {
  const chip::ProfileConstants constants = load_constants(options.profiles);
  std::string text =
      harness::git_commit() + constants.chip.to_json() + constants.software.to_json();
  for (const PlannedExperiment& one : planned) {
    for (const harness::PointResult& point : one.points) {
      text += fmt::format("{}/{}\n", one.experiment->name(), point.id());
    }
  }
  return text;
}

/// Throws UsageError if `what`, which works in one process only, is asked for in several.
void require_alone(const Ranks& ranks, std::string_view what) {
  if (ranks.size() == 1) return;
  throw UsageError(fmt::format("{} works in one process, not in {}: start it without mpirun", what,
                               ranks.size()));
}

int run_selected(const experiments::ExperimentList& list, const Options& options,
                 const experiments::DevBox& box, const experiments::DesignSpace& space,
                 MemoryWatch& memory, Ranks& ranks) {
  std::vector<PlannedExperiment> planned;
  try {
    planned = plan(select(list, options.names), options);
    require_one_design(planned, space);
    require_chip(!space.fixed.is_default() || !space.axes.empty(),
                 runs_on(harness::Backend::emulated, planned));
    require_use(options.given, {"repetitions", "min-time", "no-tuning", "no-binding"},
                runs_on(harness::Backend::host, planned),
                "wall-clock points, and all of this runs on the emulated chip; leave it out");
  } catch (const Error& failure) {
    throw UsageError(failure.what());
  }
  if (ranks.agree(true, ranks.size() > 1 ? plan_text(planned, options) : "")) return kFailed;
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
  harness::RunContext context = harness::describe_environment();
  if (runs_on(harness::Backend::host, planned)) context.threads = box.host()->threads();
  experiments::describe_chip(options.profiles, context);
  // If a constant has several values, the points belong to as many chips.
  if (!space.axes.empty()) context.published_chip = false;
  context.seed = options.seed;
  return run_planned(std::move(planned), options, context, box, memory, ranks);
}

int run(int argc, const char* const* argv, Ranks& ranks) {
  if (const Verb* const verb = argc > 1 ? find_verb(argv[1]) : nullptr) {
    if (!verb->is_text && !verb->is_shared) require_alone(ranks, verb->name);
    return ranks.is_first() || verb->is_shared ? verb->run(argc - 1, argv + 1) : kOk;
  }
  Options options = parse_options(argc, argv);
  if (!options.trace.empty()) require_alone(ranks, "--trace");
  if (!options.device_logs.empty()) require_alone(ranks, "--device-logs");
  if (!options.memory.empty()) require_alone(ranks, "--memory");
  if (options.bottlenecks) require_alone(ranks, "--bottlenecks");
  if (options.page) require_alone(ranks, "--page");
  if (options.help || options.version) {
    if (ranks.is_first()) fmt::print("{}", options.help ? help_of(options.names) : version_text());
    return kOk;
  }
  const experiments::DesignSpace space =
      read_settings(options.profiles, experiments::parse_design_space);
  options.profiles = space.fixed;
  const chip::Profiles profiles = read_settings(options.profiles, chip::load_profiles);
  MemoryWatch memory;
  const bool watches = !options.memory.empty() || options.page;
  const auto box = std::make_shared<const experiments::DevBox>(
      profiles,
      host::HostOptions{.threads = options.threads,
                        .tunes_products = options.tuning,
                        .binds_threads = options.binding,
                        .memory = watches ? memory.host() : nullptr},
      options.seed, watches ? memory.chip() : nullptr, interrupted);
  const experiments::ExperimentList list =
      experiments::vary(experiments::all_experiments(box, options.profiles), box, space);
  return run_selected(list, options, *box, space, memory, ranks);
}

/// Reports what has gone wrong, once for all ranks that it concerns.
void complain(Ranks& ranks, const char* text) {
  const bool speaks = ranks.has_agreed() ? true : ranks.agree(false, "") == ranks.rank();
  if (speaks) fmt::print(stderr, "{}: {}\n", program_name(), text);
}

int run_as_rank(int argc, const char* const* argv) {
  Ranks ranks;
  try {
    return run(argc, argv, ranks);
  } catch (const UsageError& failure) {
    complain(ranks, failure.what());
    return kUsage;
  } catch (const std::exception& failure) {
    complain(ranks, reason_of(failure).c_str());
    return kFailed;
  }
}

}  // namespace
}  // namespace howard::cli

int main(int argc, char** argv) {
  howard::cli::prepare_streams();
  int status = howard::cli::kFailed;
  try {
    status = howard::cli::run_as_rank(argc, argv);
  } catch (const std::exception& failure) {
    fmt::print(stderr, "run_experiment: {}\n", howard::reason_of(failure));
  }
  // Tables are the result, so a full disk behind a redirection must not pass for success.
  const bool all_taken = howard::cli::end_output();
  return all_taken || status != howard::cli::kOk ? status : howard::cli::kFailed;
}
