// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/verbs/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "experiments/all.h"
#include "experiments/workloads/tuning_report.h"
#include "harness/cli/command_line.h"
#include "harness/cli/exit_status.h"
#include "harness/cli/result_folder.h"
#include "harness/cli/verbs/manual.h"
#include "reports/findings/explanation.h"
#include "reports/findings/run_summary.h"
#include "reports/formats/csv.h"
#include "reports/formats/google_benchmark.h"
#include "reports/published/claims.h"
#include "reports/tables/latex.h"
#include "reports/tables/markdown.h"

namespace howard::cli {

extern const std::string_view kReportHelp;  // report_help.md, compiled in by the build

namespace {

using harness::ExperimentResult;

enum class Format : std::uint8_t { markdown, latex, csv, google_benchmark };

struct ReportOptions {
  std::string folder;
  Format format = Format::markdown;
  bool help = false;
};

ReportOptions report_options(int argc, const char* const* argv) {
  CLI::App app;
  ReportOptions options;
  app.set_help_flag();
  app.add_flag("-h,--help", options.help);
  app.add_option("folder", options.folder);
  add_choice<Format>(app, "--format", options.format,
                     {{"md", Format::markdown},
                      {"latex", Format::latex},
                      {"csv", Format::csv},
                      {"google-benchmark", Format::google_benchmark}});
  parse_command_line(app, argc, argv);
  if (!options.help && options.folder.empty()) {
    throw UsageError("report takes a folder of results; try run_experiment report results");
  }
  return options;
}

/// How the experiments want to be shown, in the order of `list`. Only their presentation is asked
/// for, so that the box is never switched on.
std::vector<std::pair<std::string, harness::Presentation>> presentations() {
  const auto box = std::make_shared<const experiments::DevBox>(wormhole::load_profiles(),
                                                               host::HostOptions{}, 1);
  std::vector<std::pair<std::string, harness::Presentation>> known;
  for (const auto& experiment : experiments::all_experiments(box, {})) {
    known.emplace_back(experiment->name(), experiment->presentation());
  }
  known.emplace_back("explain", reports::explanation_presentation());
  known.emplace_back("tune", experiments::tuning_presentation());
  return known;
}

/// The results in the order of `list`.
std::vector<ExperimentResult> in_order(
    std::vector<ExperimentResult> results,
    const std::vector<std::pair<std::string, harness::Presentation>>& known) {
  const auto place = [&](const ExperimentResult& result) {
    const auto found =
        std::ranges::find(known, result.experiment, [](const auto& one) { return one.first; });
    if (found == known.end()) {
      throw Error({.attempted = "report on results",
                   .value = "there is no experiment '" + result.experiment + "'",
                   .accepted = "results of this version's experiments",
                   .hint = "run_experiment list"});
    }
    return found - known.begin();
  };
  std::ranges::stable_sort(results, {}, place);
  return results;
}

}  // namespace

int report(int argc, const char* const* argv) {
  const ReportOptions options = report_options(argc, argv);
  if (options.help) {
    fmt::print("{}", manual(kReportHelp));
    return kOk;
  }
  const auto known = presentations();
  const std::vector<ExperimentResult> results = in_order(read_result_folder(options.folder), known);
  if (options.format == Format::csv) {
    fmt::print("{}", reports::csv(results));
    return kOk;
  }
  if (options.format == Format::google_benchmark) {
    fmt::print("{}", reports::google_benchmark_json(results));
    return kOk;
  }
  const auto print = [&](const reports::Table& table) {
    fmt::print("{}\n", options.format == Format::latex ? reports::latex_table(table)
                                                       : reports::markdown_table(table));
  };
  for (const ExperimentResult& result : results) {
    const auto found =
        std::ranges::find(known, result.experiment, [](const auto& one) { return one.first; });
    for (const reports::Table& table : reports::make_tables(result, found->second)) print(table);
  }
  print(reports::summary_table(results, {}));
  if (reports::can_judge(results)) {
    print(reports::claims_table(reports::report_claims(), results));
  }
  return kOk;
}

}  // namespace howard::cli
