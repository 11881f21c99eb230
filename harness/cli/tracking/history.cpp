// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>
#include <unistd.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/file.h"
#include "harness/cli/command/command.h"
#include "harness/cli/command/program.h"
#include "harness/cli/command/shared_options.h"
#include "harness/cli/exit_status.h"
#include "harness/tracking/formats/json_lines.h"
#include "harness/tracking/history.h"
#include "harness/tracking/series_history.h"
#include "reports/tables/format.h"
#include "reports/tables/terminal_table.h"

namespace howard::cli {

namespace {

struct HistoryOptions {
  std::string name;
  std::string database = "perf.db";
  std::string branch;
  std::string metric = "time";
  std::uint64_t last = 100;
  std::string pictures;
  std::string export_to;
  reports::Canvas canvas;
  ColorMode color = ColorMode::automatic;
};

OptionList history_options(HistoryOptions& options) {
  const Applies shown{[&] { return options.export_to.empty(); },
                      "a history that is shown; --export writes whole runs"};
  const Applies drawn{[&] { return !options.pictures.empty(); }, "--pictures DIR"};
  return joined(
      {{{"", "NAME", "", to(options.name)},
        database_option(options.database, "Chooses the database (default perf.db)"),
        {"--branch", "NAME", "Shows the runs of one branch only", to(options.branch)},
        {"--metric", "NAME", "Chooses the metric (default time)", to(options.metric), shown},
        {"--last", "N",
         "Shows the last N runs (default 100). The time for change points grows with the square of "
         "N",
         whole(options.last, 1, 1'000'000), shown},
        renamed("--plots", {"--pictures", "DIR",
                            "Draws the metric with its levels: picture, data and gnuplot script",
                            to(options.pictures)}),
        {"--export", "FILE",
         "Writes all runs, or those of --branch, as lines of JSON (howard.run/1); \"-\" is "
         "standard output. track --import reads them",
         to(options.export_to)},
        color_option(options.color)},
       picture_options(options.canvas, drawn)});
}

int export_runs(const tracking::History& history, const HistoryOptions& options) {
  const std::vector<std::int64_t> runs = history.runs(options.branch);
  write_file(options.export_to, [&](const TextSink& sink) {
    for (const std::int64_t run : runs) sink(tracking::run_line(history.load(run)) + "\n");
  });
  if (options.export_to != "-") {
    fmt::print(stderr, "wrote {} to {}\n", reports::counted(runs.size(), "run"), options.export_to);
  }
  return kOk;
}

[[noreturn]] void fail_name(const tracking::History& history, const HistoryOptions& options) {
  if (!options.branch.empty() && history.runs(options.branch).empty()) {
    throw Error({.attempted = "show the history of branch " + options.branch,
                 .value = fmt::format("{} has no run of it", options.database),
                 .accepted = "a branch that track has stored",
                 .hint = "run_experiment history --db " + options.database});
  }
  throw Error({.attempted = "show the history of '" + options.name + "'",
               .value = fmt::format("no metric '{}' in {} has a name like that", options.metric,
                                    options.database),
               .accepted = "a part of a benchmark's name",
               .hint = history.run_count() == 0
                           ? "run_experiment track RESULTS --db " + options.database
                           : "run_experiment history --db " + options.database});
}

/// Draws the series, and returns the exit status.
int draw(const tracking::SeriesHistory& one, HistoryOptions& options) {
  options.canvas.folder = options.pictures;
  const reports::PlotFiles files =
      reports::write_xy_chart(tracking::history_chart(one), options.canvas);
  for (const auto& file : files.written) fmt::print(stderr, "wrote {}\n", file.string());
  if (!files.not_rendered.empty()) fmt::print(stderr, "{}\n", files.not_rendered);
  for (const std::string& failure : files.failures) {
    complain(failure);
  }
  return files.failures.empty() ? kOk : kFailed;
}

int show_history(HistoryOptions& options) {
  if (!options.export_to.empty() && (!options.name.empty() || !options.pictures.empty())) {
    throw UsageError("--export writes all runs: it takes no NAME and no --pictures besides");
  }
  const tracking::History stored(options.database);
  if (!options.export_to.empty()) return export_runs(stored, options);
  std::vector<tracking::SeriesHistory> all;
  for (const tracking::StoredSeries& series : stored.find_series(options.name)) {
    if (series.series.metric != options.metric) continue;
    all.push_back(series_history(stored, series, options.branch, options.last));
    if (all.back().points.empty()) all.pop_back();
  }
  if (all.empty()) fail_name(stored, options);
  const reports::TerminalStyle style = terminal_style(STDOUT_FILENO, options.color);
  if (all.size() > 1) {
    if (!options.pictures.empty()) {
      throw UsageError(
          fmt::format("--pictures draws one metric, and '{}' means {}; give more of its "
                      "name",
                      options.name, all.size()));
    }
    fmt::print("{}", terminal_table(overview_table(all, style.ascii), style));
    return kOk;
  }
  constexpr std::size_t kWidth = 72;
  fmt::print("{}\n{}\n", terminal_table(series_table(all.front()), style),
             sparkline(all.front().points, kWidth, style.ascii));
  return options.pictures.empty() ? kOk : draw(all.front(), options);
}

}  // namespace

const Command kHistory{
    .name = "history",
    .summary = "show how metrics have moved over the stored runs",
    .usage = {"[NAME] [--db FILE] [OPTIONS]"},
    .text = {{"",
              "NAME is a part of a benchmark's name. If it means one metric, each run is shown "
              "with its commit and its value, and the changes are marked: of exact times every "
              "difference, of sampled ones the change points that E-Divisive finds with a "
              "permutation test (p 0.01, 1 %, always with the same random orders), so that slow "
              "drift shows too. If it means several, each is one line."}},
    .examples =
        {"run_experiment history --db perf.db",
         "run_experiment history matmul_sweep/emulated/shape:4096 --db perf.db --branch main",
         "run_experiment history BM_sort/1024 --pictures pictures"},
    .status = "0 done; 1 an error, or nothing has that name; 2 bad command line",
    .begin = begin<history_options, show_history>};

}  // namespace howard::cli
