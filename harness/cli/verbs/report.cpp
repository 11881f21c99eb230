// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/file.h"
#include "base/text.h"
#include "experiments/laboratory/presentations.h"
#include "harness/cli/command/command.h"
#include "harness/cli/command/program.h"
#include "harness/cli/command/shared_options.h"
#include "harness/cli/exit_status.h"
#include "harness/cli/outputs/output_files.h"
#include "harness/cli/outputs/page_of_run.h"
#include "harness/cli/outputs/result_folder.h"
#include "harness/cli/terminal/interruption.h"
#include "harness/cli/tracking/page_changes.h"
#include "harness/cli/verbs/paper.h"
#include "harness/tracking/run.h"
#include "reports/findings/run_summary.h"
#include "reports/page/page.h"
#include "reports/pictures/plot.h"
#include "reports/published/claims.h"

namespace howard::cli {

namespace {

using harness::ExperimentResult;

struct ReportOptions {
  std::vector<std::string> places;  ///< Folders and files of results.
  /// Where a page goes; "": to index.html in the folder, "-": to standard output.
  std::optional<std::string> page;
  BaselineOptions baseline;  ///< What a page is compared with, if its name or `database` is set.
  std::string database;
  std::string paper;  ///< A folder for tables and pictures of a paper; empty: none.
  OutputFiles files;

  bool compares() const { return !baseline.name.empty() || !database.empty(); }
  /// Returns the folder of the results, or of the first of them.
  std::filesystem::path folder() const {
    const std::filesystem::path first = places.front();
    std::error_code ignored;
    return std::filesystem::is_directory(first, ignored) ? first : first.parent_path();
  }
};

OptionList report_options(ReportOptions& options) {
  const Applies page{[&] { return options.page.has_value(); }, "pages; try --page"};
  const Applies printed{[&] { return options.paper.empty(); },
                        "standard output and pages; --paper writes LaTeX, CSV and Markdown"};
  const Applies compared{[&] { return options.compares(); }, "--against and --db"};
  options.files.page = &options.page;
  options.files.offers.pictures = true;
  OptionList files = options.files.options();
  for (Option& option : files) option.applies = printed;
  return joined(
      {{{"", "RESULTS", "", to(options.places)}},
       std::move(files),
       {renamed("--output",
                page_option(
                    options.page,
                    "Writes one page with the summary and all tables and charts to FILE (default: "
                    "index.html beside the results); \"-\" is standard output",
                    printed)),
        {"--paper", "DIR",
         "Writes every table to DIR as LaTeX (booktabs), CSV and Markdown, and every picture as "
         "SVG "
         "and PDF, one column (3.5 in) and two columns (7 in) wide",
         to(options.paper)},
        {"--against", "OLD",
         "Makes the page say what has changed since OLD: results, or with --db a commit or branch",
         to(options.baseline.name), page},
        {"--db", "FILE",
         "Makes the page show the history in FILE, which track has written (default perf.db, if it "
         "exists and the page compares); without --against the page compares with the merge base "
         "of "
         "the results' commit",
         to(options.database), page},
        {"--base", "BRANCH",
         "Chooses the branch of the history and of the merge base (default main)",
         to(options.baseline.base), compared},
        {"--anyway", "", "Compares different machines or profiles, which is refused otherwise",
         to(options.baseline.anyway), compared}}});
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
    complain(problem);
  }
  fmt::print(stderr, "wrote {} files into {}\n", count, folder);
  return problems.empty() ? kOk : kFailed;
}

/// Writes the page of a folder. What cannot be shown is named on it and on standard error.
int write_html(const ReportOptions& options, const Presentations& known) {
  const std::filesystem::path file = options.page->empty() ? options.folder() / "index.html"
                                                           : std::filesystem::path(*options.page);
  const std::filesystem::path place = file == "-" ? options.folder() : file.parent_path();
  reports::Page page;
  std::vector<ExperimentResult> results = read_results(options.places, page.problems);
  known.sort(results);
  if (options.compares()) {
    add_changes(results, join(options.places, ", "), options.baseline, options.database, page);
  }
  for (ExperimentResult& result : results) {
    experiments::Shown shown = known.of(result);
    std::vector<std::string> files = files_beside(place, result.experiment);
    std::vector<reports::Table> more = result.context.published_chip
                                           ? known.page_tables(result.experiment)
                                           : std::vector<reports::Table>();
    const bool of_experiment = known.is_experiment(result.experiment);
    page.sections.push_back({.result = std::move(result),
                             .presentation = std::move(shown.presentation),
                             .question = std::move(shown.question),
                             .files = std::move(files),
                             .tables = {},
                             .more = std::move(more),
                             .of_experiment = of_experiment});
  }
  write_file(file, reports::html_page(page));
  if (file != "-") fmt::print(stderr, "wrote {}\n", file.string());
  for (const std::string& problem : page.problems) {
    complain(problem);
  }
  return page.problems.empty() ? kOk : kFailed;
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

int report(ReportOptions& options) {
  std::error_code ignored;
  const bool has_results = std::filesystem::is_directory("results", ignored);
  if (options.places.empty() && has_results) options.places.emplace_back("results");
  if (options.places.empty()) {
    throw UsageError(
        "report takes a folder of results, and there is none here; try run_experiment all "
        "--backend emulated, then run_experiment report results");
  }
  if (options.compares() && options.database.empty() &&
      std::filesystem::exists("perf.db", ignored)) {
    options.database = "perf.db";
  }
  options.files.require_apart();
  const Presentations known;
  const int paged = options.page ? write_html(options, known) : kOk;
  if (options.page && options.files.empty()) return paged;
  std::vector<ExperimentResult> results = read_results(options.places);
  known.sort(results);
  if (!options.paper.empty()) return write_paper_of(results, known, options.paper);
  const Shown shown{.results = results,
                    .tables = tables_of(results, known),
                    .verdicts = verdicts(results),
                    .draw = [&](const reports::Canvas& canvas) {
                      reports::PlotFiles files;
                      for (const ExperimentResult& result : results) {
                        files.add(write_plots(result, known.of(result).presentation, canvas));
                      }
                      return files;
                    }};
  std::vector<std::filesystem::path> written;
  if (options.files.empty()) options.files.print(shown, "md", {});
  const bool well = options.files.write(shown, {}, {}, written);
  say_written(written);
  return well ? paged : kFailed;
}

}  // namespace

const Command kReport{
    .name = "report",
    .summary = "make the tables of existing results",
    .usage = {"RESULTS... [OPTIONS]"},
    .text =
        {{"",
          "RESULTS are folders of results and files (*.json of the schema howard.result/1). It "
          "prints the tables of each experiment to standard output, in the order of `list`, with "
          "the published figures beside the measured ones. After them it prints how far all "
          "results are from the published figures, and what that means for the report's claims."},
         {"",
          "With --against or --db a page also says what has changed since an older run: the "
          "verdicts are those of `compare`, the worst comes first, and a virtual time that moved "
          "says which ops and constants moved with it. With --db it shows the history of the "
          "metrics with their changes, and findings against a baseline that its branch has left "
          "behind are stale."}},
    .examples = {"run_experiment all --backend emulated && run_experiment report results",
                 "run_experiment report results --page --against results_of_main",
                 "run_experiment report results --page --db perf.db --base main",
                 "run_experiment report results --format latex > tables.tex    (LaTeX needs the "
                 "package booktabs)",
                 "run_experiment report results --paper figures"},
    .status =
        "0 done; 1 an error, no result in RESULTS, or a page that names what could not be read or "
        "compared; 2 bad command line",
    .begin = begin<report_options, report>};

}  // namespace howard::cli
