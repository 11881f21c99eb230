// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/verbs/analyze.h"

#include <fmt/format.h>
#include <oneapi/tbb/parallel_for.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <variant>
#include <vector>

#include "base/error.h"
#include "base/file.h"
#include "experiments/all.h"
#include "experiments/workloads/chip_context.h"
#include "experiments/workloads/log_content.h"
#include "harness/cli/command_line.h"
#include "harness/cli/picture_options.h"
#include "harness/cli/profile_options.h"
#include "harness/cli/terminal/terminal.h"
#include "harness/cli/verbs/manual.h"
#include "harness/environment.h"
#include "profiler/formats/log_trace.h"
#include "profiler/formats/traces/chrome_trace.h"
#include "profiler/formats/traces/perfetto_trace.h"
#include "reports/findings/log_advice_report.h"
#include "reports/findings/log_difference.h"
#include "reports/findings/silicon_report.h"
#include "reports/findings/timeline_tables.h"
#include "reports/formats/csv.h"
#include "reports/formats/result_json.h"
#include "reports/pictures/log_plots.h"
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
  bool advice = false, no_advice = false;
  profiler::LogRange range;
  std::string against;   ///< The older log.
  std::string trace;     ///< Where to write the logs as one trace.
  std::string pictures;  ///< The folder for pictures; empty: none.
  reports::Canvas canvas;
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
  add_profile_options(app, options.profiles);
  app.add_option("--json", options.json);
  app.add_option("--csv", options.csv);
  app.add_option("--md", options.markdown);
  app.add_flag("--advice", options.advice);
  app.add_flag("--no-advice", options.no_advice);
  app.add_option("--from", options.range.from);
  app.add_option("--to", options.range.to);
  app.add_flag("--all", options.range.with_warmup);
  app.add_option("--against", options.against);
  app.add_option("--trace", options.trace);
  app.add_option("--pictures", options.pictures);
  add_picture_options(app, options.canvas);
  add_color_option(app, options.color);
  parse_command_line(app, argc, argv);
  if (!options.help && options.files.empty()) {
    throw UsageError("no file named; try run_experiment analyze --help");
  }
  if (options.advice && options.no_advice) throw UsageError("--advice or --no-advice, not both");
  const bool emulates = options.compare || !options.no_advice;
  if (!options.profiles.is_default() && !emulates) {
    throw UsageError("--chip, --software and --set are for advice and --compare-emulated");
  }
  if (options.compare &&
      (!options.against.empty() || !options.trace.empty() || !options.range.is_whole())) {
    throw UsageError("--compare-emulated takes whole logs, alone");
  }
  if (!options.pictures.empty()) options.canvas.folder = options.pictures;
  if (!options.against.empty() && options.files.size() > 1) {
    throw UsageError("--against is for one log");
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

/// A file that was read, and what there is to say of it.
struct Analysed {
  experiments::LogContent content;
  std::vector<reports::LogAdvice> advice;  ///< Of each run of a log; none where it is not wanted.
};

std::vector<Table> log_tables(const profiler::Log& log,
                              const std::vector<reports::LogAdvice>& advice,
                              const std::string& file, std::size_t top) {
  std::vector<std::vector<Table>> of_runs(log.runs.size());
  tbb::parallel_for(std::size_t{0}, of_runs.size(), [&](std::size_t i) {
    of_runs[i] = reports::timeline_tables(log.runs[i], title_of(log, i, file), top);
    if (i >= advice.size()) return;
    std::ranges::move(reports::advice_tables(advice[i], title_of(log, i, file), top),
                      std::back_inserter(of_runs[i]));
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

std::vector<Table> tables_of(const Analysed& analysed, const std::string& file, std::size_t top) {
  if (const auto* const log = std::get_if<profiler::Log>(&analysed.content)) {
    return log_tables(*log, analysed.advice, file, top);
  }
  if (const auto* const comparison = std::get_if<profiler::SiliconComparison>(&analysed.content)) {
    return reports::silicon_tables(*comparison, std::filesystem::path(file).filename().string(),
                                   top);
  }
  return result_tables(std::get<std::vector<harness::ExperimentResult>>(analysed.content));
}

/// Writes the files that hold everything that was analysed.
void write_outputs(const AnalyzeOptions& options, const std::string& markdown,
                   const std::vector<harness::ExperimentResult>& results) {
  if (!options.markdown.empty()) write_file(options.markdown, markdown);
  if (!options.json.empty()) write_file(options.json, reports::result_json(results));
  if (!options.csv.empty()) write_file(options.csv, reports::csv(results));
}

/// Reading what programs computed takes a third longer than reading when they ran: of larger files
/// it must be asked for.
constexpr std::uintmax_t kMostAdvised = 256'000'000;

bool wants_calls(const AnalyzeOptions& options, const std::string& file) {
  if (options.advice || !options.against.empty()) return true;
  if (options.no_advice) return false;
  std::error_code unknown;
  const std::uintmax_t size = std::filesystem::file_size(file, unknown);
  return unknown || size <= kMostAdvised;
}

/// Reads files and says what there is to say of them.
class Analysis {
 public:
  explicit Analysis(const AnalyzeOptions& options) : options_(options) {
    if (options.compare || !options.no_advice) {
      profiles_ = read_settings(options.profiles, wormhole::load_profiles);
    }
    if (options.compare) experiments::describe_chip(*profiles_, context);
  }

  Analysed read(const std::string& file) {
    const bool calls = !options_.compare && wants_calls(options_, file);
    Analysed analysed{.content = experiments::read_log_content(
                          file, options_.compare ? &*profiles_ : nullptr,
                          {.tensors = calls ? profiler::Tensors::read : profiler::Tensors::skipped,
                           .range = options_.range}),
                      .advice = {}};
    auto* const log = std::get_if<profiler::Log>(&analysed.content);
    if (log == nullptr || options_.no_advice) return analysed;
    if (!calls) {
      log->notes.emplace_back("no advice for a file of this size, unless --advice asks for it");
    } else if (log->calls.size() > 0) {
      if (!emulator_) emulator_.emplace(*profiles_);
      analysed.advice = reports::advice_of(*log, &*emulator_);
    }
    return analysed;
  }

  harness::RunContext context = harness::describe_environment();

 private:
  const AnalyzeOptions& options_;
  std::optional<wormhole::Profiles> profiles_;
  std::optional<profiler::CallEmulator> emulator_;
};

const profiler::Log& log_in(const Analysed& analysed, const std::string& file) {
  if (const auto* const log = std::get_if<profiler::Log>(&analysed.content)) return *log;
  throw Error({.attempted = "compare " + file + " with another log",
               .value = "it is a result file",
               .accepted = "logs",
               .hint = "run_experiment compare A.json B.json"});
}

/// All logs as one trace, each device of each a process.
void write_log_trace(const std::vector<std::pair<std::string, Analysed>>& files,
                     const std::string& to) {
  std::vector<profiler::LogTrace> traces;
  for (const auto& [file, analysed] : files) {
    const auto* const log = std::get_if<profiler::Log>(&analysed.content);
    if (log == nullptr) continue;
    for (profiler::LogTrace& trace : profiler::traces_of(*log)) {
      trace.name = std::filesystem::path(file).filename().string() + ", " + trace.name;
      traces.push_back(std::move(trace));
    }
  }
  std::vector<profiler::TraceProcess> processes;
  for (const profiler::LogTrace& trace : traces) {
    processes.push_back({.name = trace.name, .events = trace.events, .losses = trace.losses});
  }
  const bool perfetto = std::filesystem::path(to).extension() == ".pftrace";
  write_file(
      to, perfetto ? profiler::perfetto_trace(processes) : profiler::chrome_trace(processes).json);
  if (to != "-") fmt::print(stderr, "wrote {}\n", to);
}

/// A picture's files begin with the log's name, and the run's number where it has several.
bool draw(const Analysed& analysed, const std::string& file, const reports::Canvas& canvas) {
  const auto* const log = std::get_if<profiler::Log>(&analysed.content);
  if (log == nullptr) return true;
  reports::PlotFiles files;
  for (std::size_t i = 0; i < log->runs.size(); ++i) {
    std::string name = std::filesystem::path(file).stem().string();
    if (log->runs.size() > 1) name += fmt::format("_run{}", i + 1);
    static const reports::LogAdvice kNone;
    files.add(reports::write_log_plots(
        log->runs[i], i < analysed.advice.size() ? analysed.advice[i] : kNone, name, canvas));
  }
  for (const std::string& failure : files.failures) {
    fmt::print(stderr, "run_experiment: {}\n", failure);
  }
  if (!files.not_rendered.empty()) fmt::print(stderr, "run_experiment: {}\n", files.not_rendered);
  fmt::print(stderr, "wrote {} files into {}\n", files.written.size(), canvas.folder.string());
  return files.failures.empty();
}

}  // namespace

int analyze(int argc, const char* const* argv) {
  const AnalyzeOptions options = parse_analyze_options(argc, argv);
  if (options.help) {
    fmt::print("{}", manual(kAnalyzeHelp));
    return 0;
  }
  const reports::TerminalStyle style = terminal_style(STDOUT_FILENO, options.color);
  Analysis analysis(options);
  std::string markdown;
  std::vector<harness::ExperimentResult> results;
  std::vector<std::pair<std::string, Analysed>> kept;  // for the trace
  const auto show = [&](const std::vector<Table>& tables) {
    for (const Table& table : tables) {
      if (!options.markdown.empty()) markdown += reports::markdown_table(table) + "\n";
      if (!options.uses_standard_output()) {
        fmt::print("{}\n", reports::terminal_table(table, style));
      }
    }
  };
  bool well = true;
  const auto analyze_file = [&](const std::string& file) {
    Analysed analysed = analysis.read(file);
    if (!options.against.empty()) {
      const Analysed before = analysis.read(options.against);
      const reports::LogDifference difference =
          reports::difference(log_in(before, options.against), log_in(analysed, file));
      show(reports::difference_tables(difference, file + " against " + options.against,
                                      options.top));
      results.push_back(
          reports::difference_result(difference, options.against, file, analysis.context));
    } else {
      show(tables_of(analysed, file, options.top));
    }
    if (!options.json.empty() || !options.csv.empty()) {
      std::ranges::move(experiments::results_of(analysed.content, file, analysis.context),
                        std::back_inserter(results));
      std::ranges::move(
          reports::advice_results(analysed.advice, std::filesystem::path(file).filename().string(),
                                  analysis.context),
          std::back_inserter(results));
    }
    if (!options.pictures.empty()) well = draw(analysed, file, options.canvas) && well;
    if (!options.trace.empty()) kept.emplace_back(file, std::move(analysed));
  };
  for (const std::string& file : options.files) {
    try {
      analyze_file(file);
    } catch (const Error& failure) {
      fmt::print(stderr, "run_experiment: {}\n", failure.what());
      well = false;
    }
  }
  write_outputs(options, markdown, results);
  if (!options.trace.empty() && !kept.empty()) write_log_trace(kept, options.trace);
  return well ? 0 : 1;
}

}  // namespace howard::cli
