// SPDX-License-Identifier: Apache-2.0
//
// The composition root: builds the development box and the list of experiments, runs what the
// command line names, writes what was found. Its manual is help.md.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/text.h"
#include "experiments/all.h"
#include "harness/cli/analyze.h"
#include "harness/cli/command_line.h"
#include "harness/cli/compare.h"
#include "harness/cli/exit_status.h"
#include "harness/cli/options.h"
#include "harness/cli/outputs.h"
#include "harness/cli/report.h"
#include "harness/cli/session.h"
#include "harness/cli/traces.h"
#include "harness/cli/train.h"
#include "reports/claims.h"
#include "reports/run_summary.h"

namespace howard::cli {
namespace {

/// What the first word of a command line may be instead of an experiment; each has its own options.
struct Verb {
  std::string_view name;
  int (*run)(int argc, const char* const* argv);
};
constexpr std::array kVerbs{Verb{"analyze", analyze}, Verb{"compare", compare},
                            Verb{"report", report}, Verb{kTrainVerb, train}};

/// The experiments the command line names. UsageError for an unknown one, with a suggestion.
std::vector<const harness::Experiment*> select(const experiments::ExperimentList& list,
                                               const std::vector<std::string>& names) {
  std::vector<std::string> known;
  for (const auto& experiment : list) known.emplace_back(experiment->name());
  std::vector<const harness::Experiment*> selected;
  for (const std::string& name : names) {
    if (name != "all" && std::ranges::find(known, name) == known.end()) {
      std::vector<std::string> words = known;
      words.insert(words.end(), {"all", "list"});
      for (const Verb& verb : kVerbs) words.emplace_back(verb.name);
      const auto suggestion = closest(name, words);
      throw UsageError(fmt::format(
          "unknown experiment '{}'; {}", name,
          suggestion ? "did you mean " + *suggestion + "?" : "try run_experiment list"));
    }
    for (const auto& experiment : list) {
      const bool wanted = name == "all" ? !experiment->is_tool() : name == experiment->name();
      if (wanted && std::ranges::find(selected, experiment.get()) == selected.end()) {
        selected.push_back(experiment.get());
      }
    }
  }
  return selected;
}

/// `list`: a line for each experiment; `list NAME...`: their axes too.
void print_list(const experiments::ExperimentList& list, const std::vector<std::string>& names) {
  if (names.empty()) {
    for (const bool tools : {false, true}) {
      if (tools) fmt::print("\nTools about the emulator, not part of all:\n");
      for (const auto& experiment : list) {
        if (experiment->is_tool() != tools) continue;
        fmt::print("{:<16} {}\n", experiment->name(), experiment->question());
      }
    }
    return;
  }
  for (const harness::Experiment* const experiment : select(list, names)) {
    fmt::print("{}: {}\n", experiment->name(), experiment->question());
    for (const auto backend : {harness::Backend::emulated, harness::Backend::host}) {
      for (const harness::Axis& axis : experiment->axes(backend)) {
        fmt::print("  {:<8} {:<9} {}\n{:20}default {}\n", name_of(backend), axis.name, axis.meaning,
                   "", join(axis.values, ","));
      }
    }
  }
}

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
    // Nobody asked for it by name.
    if (all && !has_points(*experiment, options.plan.backends)) continue;
    planned.push_back({experiment, harness::plan_points(*experiment, options.plan)});
  }
  return planned;
}

bool runs_on_host(const std::vector<PlannedExperiment>& planned) {
  return std::ranges::any_of(planned, [](const PlannedExperiment& one) {
    return std::ranges::any_of(one.points, [](const harness::PointResult& point) {
      return point.backend == harness::Backend::host;
    });
  });
}

/// "calibration rows: mean |error| 4.2 % of 6": how far the emulation is from the report.
std::string describe_errors(const harness::ExperimentResult& result, const std::string& status) {
  double sum = 0;
  int count = 0;
  for (const harness::PointResult& point : result.points) {
    const auto error = point.relative_error();
    if (!error || point.reference->status != status) continue;
    sum += std::abs(*error);
    ++count;
  }
  if (count == 0) return "";
  return fmt::format("; mean |error| of {} {} rows {:.1f} %", count, status, 100 * sum / count);
}

void print_summary(const Finished& finished) {
  const auto& points = finished.result.points;
  const auto count = [&](auto predicate) { return std::ranges::count_if(points, predicate); };
  fmt::print(stderr, "{}: {} points, {} skipped, {} failed{}{}{}\n", finished.result.experiment,
             points.size(), count([](const auto& p) { return p.skipped && !p.failed; }),
             count([](const auto& p) { return p.failed; }),
             describe_errors(finished.result, "calibration"),
             describe_errors(finished.result, "prediction"),
             finished.result.interrupted ? "; interrupted" : "");
}

/// "wrote results/matmul_sweep.{json,csv,md}": a line for each name, not for each file.
void print_written(const std::vector<std::filesystem::path>& files) {
  for (auto first = files.begin(); first != files.end();) {
    const auto stem = std::filesystem::path(*first).replace_extension();
    const auto last = std::find_if(first, files.end(), [&](std::filesystem::path file) {
      return file.replace_extension() != stem;
    });
    std::vector<std::string> extensions;
    for (auto file = first; file != last; ++file) {
      extensions.push_back(file->extension().string().substr(file->has_extension() ? 1 : 0));
    }
    fmt::print(stderr, "wrote {}\n",
               extensions.size() == 1
                   ? first->string()
                   : fmt::format("{}.{{{}}}", stem.string(), join(extensions, ",")));
    first = last;
  }
}

/// The end of `all`: how far everything is from what was published, and what that says of the
/// report's claims.
void print_verdicts(const std::vector<Finished>& finished, const Outputs& outputs) {
  std::vector<harness::ExperimentResult> results;
  std::vector<double> seconds;
  for (const Finished& one : finished) {
    results.push_back(one.result);
    seconds.push_back(one.seconds);
  }
  std::vector<reports::Table> tables{reports::summary_table(results, seconds)};
  // The claims are about the chip.
  const bool emulated = std::ranges::any_of(results, [](const harness::ExperimentResult& result) {
    return std::ranges::any_of(result.points, [](const harness::PointResult& point) {
      return point.backend == harness::Backend::emulated;
    });
  });
  if (emulated) tables.push_back(reports::claims_table(reports::report_claims(), results));
  outputs.print(tables);
}

int run_planned(const std::vector<PlannedExperiment>& planned, const Options& options,
                const harness::RunContext& context, const wormhole::ChipProfile& chip) {
  Outputs outputs(options);
  outputs.require_writable();
  Session::catch_signals();
  Session session(options, context, outputs);
  for (const std::string& warning : context.warnings) {
    fmt::print(stderr, "run_experiment: warning: {}\n", warning);
  }
  std::vector<Finished> finished;
  for (const PlannedExperiment& one : planned) {
    if (!Session::interrupted()) finished.push_back(session.run(one));
  }
  if (std::ranges::find(options.names, "all") != options.names.end()) {
    print_verdicts(finished, outputs);
  }
  bool well = outputs.write(finished);
  well = write_traces(session.traced(), options, chip) && well;
  for (const Finished& one : finished) {
    print_summary(one);
    well = well && std::ranges::none_of(one.result.points, &harness::PointResult::failed);
  }
  print_written(outputs.written());
  if (Session::interrupted()) return kInterrupted;
  return well ? kOk : kFailed;
}

int run(int argc, const char* const* argv) {
  for (const Verb& verb : kVerbs) {
    if (argc > 1 && argv[1] == verb.name) return verb.run(argc - 1, argv + 1);
  }
  Options options = parse_options(argc, argv);
  if (options.answer) {
    fmt::print("{}", *options.answer);
    return kOk;
  }
  const wormhole::Profiles profiles = wormhole::load_profiles(options.profiles);
  const auto box = std::make_shared<const experiments::DevBox>(
      profiles, host::HostOptions{.threads = options.threads}, options.seed);
  const experiments::ExperimentList list = experiments::all_experiments(box, options.profiles);
  if (options.names.front() == "list") {
    print_list(list, {options.names.begin() + 1, options.names.end()});
    return kOk;
  }
  std::vector<PlannedExperiment> planned;
  try {
    planned = plan(select(list, options.names), options);
  } catch (const Error& failure) {
    throw UsageError(failure.what());
  }
  if (options.dry_run) {
    for (const PlannedExperiment& one : planned) {
      for (const auto& point : one.points)
        fmt::print("{}/{}\n", one.experiment->name(), point.id());
    }
    return kOk;
  }
  harness::RunContext context = harness::describe_environment();
  if (runs_on_host(planned)) context.threads = box->host()->threads();
  context.chip_profile = profiles.chip.name;
  context.software_profile = profiles.software.name;
  context.seed = options.seed;
  return run_planned(planned, options, context, profiles.chip);
}

}  // namespace
}  // namespace howard::cli

int main(int argc, char** argv) {
  using namespace howard::cli;
  try {
    return run(argc, argv);
  } catch (const UsageError& failure) {
    fmt::print(stderr, "run_experiment: {}\n", failure.what());
    return kUsage;
  } catch (const std::exception& failure) {
    fmt::print(stderr, "run_experiment: {}\n", failure.what());
    return kFailed;
  }
}
