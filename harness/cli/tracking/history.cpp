// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>
#include <unistd.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "harness/cli/command/command.h"
#include "harness/cli/command/program.h"
#include "harness/cli/command/shared_options.h"
#include "harness/cli/exit_status.h"
#include "harness/cli/outputs/output_files.h"
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
  OutputFiles files;
  reports::Canvas canvas;
  ColorMode color = ColorMode::automatic;
};

OptionList history_options(HistoryOptions& options) {
  options.files.offers = {.results = false, .lines = true, .pictures = true};
  const Applies shown{[&] { return !options.files.has("jsonl"); },
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
                            to(options.pictures)})},
       options.files.options(),
       {color_option(options.color)},
       picture_options(options.canvas, drawn)});
}

/// Writes the files, in which `shown` stands or, as lines of JSON, whole runs.
int write(const tracking::History& history, const HistoryOptions& options, Shown shown) {
  shown.lines = [&](const TextSink& sink) {
    for (const std::int64_t run : history.runs(options.branch)) {
      sink(tracking::run_line(history.load(run)) + "\n");
    }
  };
  std::vector<std::filesystem::path> written;
  const bool well = options.files.write(shown, options.canvas,
                                        terminal_style(STDOUT_FILENO, options.color), written);
  say_written(written);
  return well ? kOk : kFailed;
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
  const bool exports = options.files.has("jsonl");
  if (exports && (!options.name.empty() || !options.pictures.empty())) {
    throw UsageError("--export writes all runs: it takes no NAME and no --pictures besides");
  }
  options.files.require_apart();
  const tracking::History stored(options.database);
  if (exports) return write(stored, options, {});
  std::vector<tracking::SeriesHistory> all;
  for (const tracking::StoredSeries& series : stored.find_series(options.name)) {
    if (series.series.metric != options.metric) continue;
    all.push_back(series_history(stored, series, options.branch, options.last));
    if (all.back().points.empty()) all.pop_back();
  }
  if (all.empty()) fail_name(stored, options);
  const reports::TerminalStyle style = terminal_style(STDOUT_FILENO, options.color);
  const bool prints = !options.files.use_standard_output();
  if (all.size() > 1) {
    if (!options.pictures.empty() || options.files.has_picture()) {
      throw UsageError(
          fmt::format("--pictures draws one metric, and '{}' means {}; give more of its "
                      "name",
                      options.name, all.size()));
    }
    const reports::Table table = overview_table(all, style.ascii);
    if (prints) fmt::print("{}", terminal_table(table, style));
    return write(stored, options, {.tables = {table}});
  }
  constexpr std::size_t kWidth = 72;
  const reports::Table table = series_table(all.front());
  if (prints) {
    fmt::print("{}\n{}\n", terminal_table(table, style),
               sparkline(all.front().points, kWidth, style.ascii));
  }
  const int status =
      write(stored, options, {.tables = {table}, .draw = [&](const reports::Canvas& canvas) {
                                return reports::write_xy_chart(tracking::history_chart(all.front()),
                                                               canvas);
                              }});
  const int drawn = options.pictures.empty() ? kOk : draw(all.front(), options);
  return status != kOk ? status : drawn;
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
