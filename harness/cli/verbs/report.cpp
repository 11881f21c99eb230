// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/verbs/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "base/error.h"
#include "base/file.h"
#include "base/text.h"
#include "experiments/laboratory/presentations.h"
#include "harness/cli/command_line.h"
#include "harness/cli/exit_status.h"
#include "harness/cli/given_options.h"
#include "harness/cli/page_of_run.h"
#include "harness/cli/result_folder.h"
#include "harness/cli/terminal/interruption.h"
#include "harness/cli/tracking/comparison_formats.h"
#include "harness/cli/tracking/page_changes.h"
#include "harness/cli/verbs/manual/manual.h"
#include "harness/cli/verbs/paper.h"
#include "harness/tracking/formats/machine_formats.h"
#include "harness/tracking/run.h"
#include "reports/findings/run_summary.h"
#include "reports/formats/csv.h"
#include "reports/formats/google_benchmark.h"
#include "reports/formats/step_summary.h"
#include "reports/page/page.h"
#include "reports/published/claims.h"
#include "reports/tables/latex.h"
#include "reports/tables/markdown.h"

namespace howard::cli {

extern const std::string_view kReportHelp;  // the build compiles report_help.md in

namespace {

using harness::ExperimentResult;

enum class Format : std::uint8_t {
  markdown,
  latex,
  csv,
  google_benchmark,
  html,
  action_smaller,
  action_bigger,
  bencher,
  openmetrics,
  junit,
  github,
};

struct ReportOptions {
  std::vector<std::string> places;  ///< Folders and files of results.
  std::string output;        ///< Of a page; empty: index.html in the folder, "-": standard output.
  BaselineOptions baseline;  ///< What a page is compared with, if its name or `database` is set.
  std::string database;
  std::string paper;  ///< A folder for tables and pictures of a paper; empty: none.
  Format format = Format::markdown;
  bool help = false;

  bool compares() const { return !baseline.name.empty() || !database.empty(); }
  /// Returns the folder of the results, or of the first of them.
  std::filesystem::path folder() const {
    const std::filesystem::path first = places.front();
    std::error_code ignored;
    return std::filesystem::is_directory(first, ignored) ? first : first.parent_path();
  }
};

ReportOptions report_options(int argc, const char* const* argv) {
  CLI::App app;
  ReportOptions options;
  app.set_help_flag();
  app.add_flag("-h,--help", options.help);
  app.add_option("results", options.places);
  add_choice<Format>(app, "--format", options.format,
                     {{"md", Format::markdown},
                      {"latex", Format::latex},
                      {"csv", Format::csv},
                      {"html", Format::html},
                      {"google-benchmark", Format::google_benchmark},
                      {"action-benchmark-smaller", Format::action_smaller},
                      {"action-benchmark-bigger", Format::action_bigger},
                      {"bencher", Format::bencher},
                      {"openmetrics", Format::openmetrics},
                      {"junit", Format::junit},
                      {"github", Format::github}});
  app.add_option("--output", options.output);
  app.add_option("--against", options.baseline.name);
  app.add_option("--db", options.database);
  app.add_option("--base", options.baseline.base);
  app.add_flag("--anyway", options.baseline.anyway);
  app.add_option("--paper", options.paper);
  parse_command_line(app, argc, argv);
  const std::vector<std::string> given = given_options(app);
  require_use(given, {"format"}, options.paper.empty(),
              "standard output and pages; --paper writes LaTeX, CSV and Markdown");
  const bool of_page = !options.output.empty() || options.compares();
  if (of_page && options.format != Format::html) {
    throw UsageError("--output, --against and --db are for pages; try --format html");
  }
  require_use(given, {"anyway", "base"}, options.compares(), "--against and --db");
  if (!options.help && options.places.empty()) {
    throw UsageError("report takes a folder of results; try run_experiment report results");
  }
  return options;
}

using experiments::Presentations;

/// Returns how far the results are from the published figures, and what that means for the claims.
std::vector<reports::Table> verdicts(const std::vector<ExperimentResult>& results) {
  std::vector<reports::Table> tables{reports::summary_table(results, {})};
  if (reports::can_judge(results)) {
    tables.push_back(reports::claims_table(reports::report_claims(), results));
  }
  return tables;
}

int write_paper_of(const std::vector<ExperimentResult>& results, const Presentations& known,
                   const std::string& folder) {
  std::vector<PaperPart> parts;
  for (const ExperimentResult& result : results) {
    parts.push_back({.result = &result, .presentation = known.of(result).presentation});
  }
  std::vector<std::string> problems;
  const std::size_t count = write_paper(parts, verdicts(results), folder, problems);
  for (const std::string& problem : problems) {
    fmt::print(stderr, "{}: {}\n", program_name(), problem);
  }
  fmt::print(stderr, "wrote {} files into {}\n", count, folder);
  return problems.empty() ? kOk : kFailed;
}

/// Writes the page of a folder. What cannot be shown is named on it and on standard error.
int write_html(const ReportOptions& options, const Presentations& known) {
  reports::Page page;
  std::vector<ExperimentResult> results = read_results(options.places, page.problems);
  known.sort(results);
  if (options.compares()) {
    add_changes(results, join(options.places, ", "), options.baseline, options.database, page);
  }
  for (ExperimentResult& result : results) {
    experiments::Shown shown = known.of(result);
    std::vector<std::string> files = files_beside(options.folder(), result.experiment);
    std::vector<reports::Table> more = result.context.published_chip
                                           ? more_tables(result.experiment, {})
                                           : std::vector<reports::Table>();
    page.sections.push_back({.result = std::move(result),
                             .presentation = std::move(shown.presentation),
                             .question = std::move(shown.question),
                             .files = std::move(files),
                             .tables = {},
                             .more = std::move(more)});
  }
  const std::filesystem::path file = options.output.empty() ? options.folder() / "index.html"
                                                            : std::filesystem::path(options.output);
  write_file(file, reports::html_page(page));
  if (file != "-") fmt::print(stderr, "wrote {}\n", file.string());
  for (const std::string& problem : page.problems) {
    fmt::print(stderr, "{}: {}\n", program_name(), problem);
  }
  return page.problems.empty() ? kOk : kFailed;
}

/// Returns what a program reads, in a format that needs no presentation; absent for the others.
std::optional<std::string> machine_text(const std::vector<ExperimentResult>& results,
                                        Format format) {
  const auto runs = [&] { return std::vector{tracking::run_of(results)}; };
  switch (format) {
    case Format::csv:
      return reports::csv(results);
    case Format::google_benchmark:
      return reports::google_benchmark_json(results);
    case Format::action_smaller:
      return tracking::action_benchmark_json(runs(), harness::Better::lower);
    case Format::action_bigger:
      return tracking::action_benchmark_json(runs(), harness::Better::higher);
    case Format::bencher:
      return tracking::bencher_json(runs());
    case Format::openmetrics:
      return tracking::openmetrics_text(runs());
    case Format::junit:
      return tracking::junit_xml(runs());
    case Format::github:
    case Format::markdown:
    case Format::latex:
    case Format::html:
      break;
  }
  return std::nullopt;
}

/// Returns the tables of all results, as their experiments want to be shown.
std::vector<reports::Table> tables_of(const std::vector<ExperimentResult>& results,
                                      const Presentations& known) {
  std::vector<reports::Table> tables;
  for (const ExperimentResult& result : results) {
    std::ranges::move(reports::make_tables(result, known.of(result).presentation),
                      std::back_inserter(tables));
  }
  return tables;
}

/// Prints the step summary and then an annotation for each point that failed. The summary goes to
/// GitHub's file as well.
void print_for_github(const std::vector<ExperimentResult>& results, const Presentations& known) {
  const std::string summary = reports::step_summary(
      reports::summary_of_results(results, verdicts(results), tables_of(results, known)));
  const std::vector<tracking::Run> runs{tracking::run_of(results)};
  fmt::print("{}{}", summary, tracking::github_annotations(runs));
  append_step_summary(summary);
}

}  // namespace

int report(int argc, const char* const* argv) {
  const ReportOptions options = report_options(argc, argv);
  if (options.help) {
    fmt::print("{}", manual(kReportHelp));
    return kOk;
  }
  end_on_signals();
  const Presentations known;
  if (options.format == Format::html) return write_html(options, known);
  std::vector<ExperimentResult> results = read_results(options.places);
  known.sort(results);
  if (!options.paper.empty()) return write_paper_of(results, known, options.paper);
  if (const auto text = machine_text(results, options.format)) {
    fmt::print("{}", *text);
    return kOk;
  }
  if (options.format == Format::github) {
    print_for_github(results, known);
    return kOk;
  }
  std::vector<reports::Table> tables = tables_of(results, known);
  std::ranges::move(verdicts(results), std::back_inserter(tables));
  for (const reports::Table& table : tables) {
    fmt::print("{}\n", options.format == Format::latex ? reports::latex_table(table)
                                                       : reports::markdown_table(table));
  }
  return kOk;
}

}  // namespace howard::cli
