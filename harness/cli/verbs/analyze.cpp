// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/verbs/analyze.h"

#include <fmt/format.h>
#include <oneapi/tbb/parallel_for.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/error.h"
#include "base/file.h"
#include "experiments/all.h"
#include "experiments/workloads/chip_context.h"
#include "experiments/workloads/log_content.h"
#include "harness/cli/command_line.h"
#include "harness/cli/terminal/terminal.h"
#include "harness/cli/verbs/manual.h"
#include "harness/environment.h"
#include "reports/findings/silicon_report.h"
#include "reports/findings/timeline_tables.h"
#include "reports/formats/csv.h"
#include "reports/formats/result_json.h"
#include "reports/tables/markdown.h"
#include "reports/tables/table.h"
#include "reports/tables/terminal_table.h"

namespace howard::cli {

extern const std::string_view kAnalyzeHelp;  // the build compiles analyze_help.md in

namespace {

using reports::Table;

struct AnalyzeOptions {
  std::vector<std::string> files;
  std::size_t top = 15;
  bool compare = false;
  wormhole::ProfileChoice profiles;
  std::string json, csv, markdown;  ///< "" writes none, "-" is standard output
  ColorMode color = ColorMode::automatic;
  bool help = false;

  bool uses_standard_output() const { return json == "-" || csv == "-" || markdown == "-"; }
};

AnalyzeOptions parse_analyze_options(int argc, const char* const* argv) {
  CLI::App app;
  AnalyzeOptions options;
  app.set_help_flag();
  app.add_flag("-h,--help", options.help);
  app.add_option("files", options.files);
  add_whole(app, "--top", options.top, 1, 1'000'000);
  app.add_flag("--compare-emulated", options.compare);
  app.add_option("--profile", options.profiles.profiles)->allow_extra_args(false);
  app.add_option("--set", options.profiles.settings)->allow_extra_args(false);
  app.add_option("--json", options.json);
  app.add_option("--csv", options.csv);
  app.add_option("--md", options.markdown);
  add_color_option(app, options.color);
  parse_command_line(app, argc, argv);
  if (!options.help && options.files.empty()) {
    throw UsageError("no file named; try run_experiment analyze --help");
  }
  if (!options.profiles.is_default() && !options.compare) {
    throw UsageError("--profile and --set are for --compare-emulated");
  }
  return options;
}

/// Returns how the experiment wants to be shown. For an experiment that this program does not know,
/// everything is shown.
harness::Presentation presentation_of(const harness::ExperimentResult& result,
                                      const experiments::ExperimentList& list) {
  for (const auto& experiment : list) {
    if (experiment->name() == result.experiment) return experiment->presentation();
  }
  harness::Presentation presentation;
  if (result.points.empty()) return presentation;
  const auto add = [&](harness::CellSource source, const std::string& name) {
    presentation.columns.push_back({.title = name, .source = source, .name = name});
  };
  for (const auto& [axis, value] : result.points.front().parameters) {
    add(harness::CellSource::parameter, axis);
  }
  for (const harness::PointResult& point : result.points) {
    for (const harness::Metric& metric : point.metrics) {
      const bool known = std::ranges::any_of(
          presentation.columns, [&](const auto& column) { return column.name == metric.name; });
      if (!known) add(harness::CellSource::metric, metric.name);
    }
  }
  return presentation;
}

std::vector<Table> result_tables(const std::vector<harness::ExperimentResult>& results) {
  const auto box = std::make_shared<const experiments::DevBox>(wormhole::load_profiles({}),
                                                               host::HostOptions{}, 1);
  const experiments::ExperimentList list = experiments::all_experiments(box, {});
  std::vector<Table> tables;
  for (const auto& result : results) {
    std::ranges::move(reports::make_tables(result, presentation_of(result, list)),
                      std::back_inserter(tables));
  }
  return tables;
}

/// Returns the name of a run among the others of its file, for captions.
std::string title_of(const profiler::Log& log, std::size_t run, const std::string& file) {
  std::string title = std::filesystem::path(file).filename();
  if (log.runs.size() > 1) title += fmt::format(", run {} of {}", run + 1, log.runs.size());
  if (!log.runs[run].title.empty()) title += ", " + log.runs[run].title;
  return title;
}

std::vector<Table> log_tables(const profiler::Log& log, const std::string& file, std::size_t top) {
  std::vector<std::vector<Table>> of_runs(log.runs.size());
  tbb::parallel_for(std::size_t{0}, of_runs.size(), [&](std::size_t i) {
    of_runs[i] = reports::timeline_tables(log.runs[i], title_of(log, i, file), top);
  });
  std::vector<Table> tables;
  for (std::vector<Table>& some : of_runs) std::ranges::move(some, std::back_inserter(tables));
  if (tables.empty()) return tables;
  // The table that has the numbers also says what is missing.
  std::vector<std::string>& notes = tables.front().notes;
  for (const auto& reason : log.dropped.reasons()) {
    notes.push_back("warning: left out " + describe(reason));
  }
  for (const std::string& note : log.notes) notes.push_back("warning: " + note);
  return tables;
}

std::vector<Table> tables_of(const experiments::LogContent& content, const std::string& file,
                             std::size_t top) {
  if (const auto* const log = std::get_if<profiler::Log>(&content)) {
    return log_tables(*log, file, top);
  }
  if (const auto* const comparison = std::get_if<profiler::SiliconComparison>(&content)) {
    return reports::silicon_tables(*comparison, std::filesystem::path(file).filename().string(),
                                   top);
  }
  return result_tables(std::get<std::vector<harness::ExperimentResult>>(content));
}

/// Writes the files that hold everything that was analysed.
void write_outputs(const AnalyzeOptions& options, const std::string& markdown,
                   const std::vector<harness::ExperimentResult>& results) {
  if (!options.markdown.empty()) write_file(options.markdown, markdown);
  if (!options.json.empty()) write_file(options.json, reports::result_json(results));
  if (!options.csv.empty()) write_file(options.csv, reports::csv(results));
}

}  // namespace

int analyze(int argc, const char* const* argv) {
  const AnalyzeOptions options = parse_analyze_options(argc, argv);
  if (options.help) {
    fmt::print("{}", manual(kAnalyzeHelp));
    return 0;
  }
  const reports::TerminalStyle style = terminal_style(STDOUT_FILENO, options.color);
  harness::RunContext context = harness::describe_environment();
  std::optional<wormhole::Profiles> emulated;
  if (options.compare) {
    emulated = read_settings(options.profiles, wormhole::load_profiles);
    experiments::describe_chip(*emulated, context);
  }
  std::string markdown;
  std::vector<harness::ExperimentResult> results;
  bool well = true;
  for (const std::string& file : options.files) {
    try {
      const experiments::LogContent content =
          experiments::read_log_content(file, emulated ? &*emulated : nullptr);
      for (const Table& table : tables_of(content, file, options.top)) {
        if (!options.markdown.empty()) markdown += reports::markdown_table(table) + "\n";
        if (!options.uses_standard_output()) {
          fmt::print("{}\n", reports::terminal_table(table, style));
        }
      }
      if (options.json.empty() && options.csv.empty()) continue;
      std::ranges::move(experiments::results_of(content, file, context),
                        std::back_inserter(results));
    } catch (const Error& failure) {
      fmt::print(stderr, "run_experiment: {}\n", failure.what());
      well = false;
    }
  }
  write_outputs(options, markdown, results);
  return well ? 0 : 1;
}

}  // namespace howard::cli
