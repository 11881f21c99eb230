// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/tracking/history.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/file.h"
#include "harness/cli/command_line.h"
#include "harness/cli/exit_status.h"
#include "harness/cli/given_options.h"
#include "harness/cli/picture_options.h"
#include "harness/cli/verbs/manual/manual.h"
#include "harness/tracking/formats/json_lines.h"
#include "harness/tracking/history.h"
#include "harness/tracking/series_history.h"
#include "reports/tables/format.h"
#include "reports/tables/terminal_table.h"

namespace howard::cli {

extern const std::string_view kHistoryHelp;  // the build compiles history_help.md in

namespace {

struct HistoryOptions {
  std::string name;
  std::string database = "perf.db";
  std::string branch;
  std::string metric = "time";
  std::uint64_t last = 100;
  std::string plots;
  std::string export_to;
  reports::Canvas canvas;
  ColorMode color = ColorMode::automatic;
  bool help = false;
};

HistoryOptions history_options(int argc, const char* const* argv) {
  CLI::App app;
  HistoryOptions options;
  app.set_help_flag();
  app.add_flag("-h,--help", options.help);
  app.add_option("name", options.name);
  app.add_option("--db", options.database);
  app.add_option("--branch", options.branch);
  app.add_option("--metric", options.metric);
  add_whole(app, "--last", options.last, 1, 1'000'000);
  app.add_option("--plots", options.plots);
  app.add_option("--export", options.export_to);
  add_picture_options(app, options.canvas);
  add_color_option(app, options.color);
  parse_command_line(app, argc, argv);
  const std::vector<std::string> given = given_options(app);
  require_use(given, {"last", "metric"}, options.export_to.empty(),
              "a history that is shown; --export writes whole runs");
  require_use(given, {"picture-size", "picture-format"}, !options.plots.empty(), "--plots DIR");
  if (!options.export_to.empty() && (!options.name.empty() || !options.plots.empty())) {
    throw UsageError("--export writes all runs: it takes no NAME and no --plots besides");
  }
  return options;
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
  options.canvas.folder = options.plots;
  const reports::PlotFiles files =
      reports::write_xy_chart(tracking::history_chart(one), options.canvas);
  for (const auto& file : files.written) fmt::print(stderr, "wrote {}\n", file.string());
  if (!files.not_rendered.empty()) fmt::print(stderr, "{}\n", files.not_rendered);
  for (const std::string& failure : files.failures) {
    fmt::print(stderr, "{}: {}\n", program_name(), failure);
  }
  return files.failures.empty() ? kOk : kFailed;
}

}  // namespace

int history(int argc, const char* const* argv) {
  HistoryOptions options = history_options(argc, argv);
  if (options.help) {
    fmt::print("{}", manual(kHistoryHelp));
    return kOk;
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
    if (!options.plots.empty()) {
      throw UsageError(
          fmt::format("--plots draws one metric, and '{}' means {}; give more of its "
                      "name",
                      options.name, all.size()));
    }
    fmt::print("{}", terminal_table(overview_table(all, style.ascii), style));
    return kOk;
  }
  constexpr std::size_t kWidth = 72;
  fmt::print("{}\n{}\n", terminal_table(series_table(all.front()), style),
             sparkline(all.front().points, kWidth, style.ascii));
  return options.plots.empty() ? kOk : draw(all.front(), options);
}

}  // namespace howard::cli
