// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/analyze.h"

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
#include <vector>

#include "base/error.h"
#include "base/file.h"
#include "experiments/all.h"
#include "harness/cli/chip_context.h"
#include "harness/cli/command_line.h"
#include "harness/cli/manual.h"
#include "harness/cli/terminal.h"
#include "harness/environment.h"
#include "profiler/formats/log_file.h"
#include "profiler/silicon/silicon_comparison.h"
#include "reports/csv.h"
#include "reports/markdown.h"
#include "reports/result_json.h"
#include "reports/silicon_report.h"
#include "reports/table.h"
#include "reports/terminal_table.h"
#include "reports/timeline_tables.h"

namespace howard::cli {

extern const std::string_view kAnalyzeHelp;  // analyze_help.md, compiled in by the build

namespace {

using reports::Table;

struct AnalyzeOptions {
  std::vector<std::string> files;
  std::size_t top = 15;
  bool compare = false;
  wormhole::ProfileChoice profiles;
  std::string json, csv, markdown;  ///< "": none, "-": standard output.
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
  const bool emulates =
      !options.json.empty() || !options.csv.empty() || !options.profiles.is_default();
  if (emulates && !options.compare) {
    throw UsageError("--json, --csv, --profile and --set are for --compare-emulated");
  }
  return options;
}

/// As the experiment wants to be shown; for one this program does not know, all there is.
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

std::vector<Table> result_tables(const std::string& file) {
  const auto box = std::make_shared<const experiments::DevBox>(wormhole::load_profiles({}),
                                                               host::HostOptions{}, 1);
  const experiments::ExperimentList list = experiments::all_experiments(box, {});
  std::vector<Table> tables;
  for (const auto& result : reports::parse_result_json(read_file(file), file)) {
    std::ranges::move(reports::make_tables(result, presentation_of(result, list)),
                      std::back_inserter(tables));
  }
  return tables;
}

/// The name of a run among the others of its file, for captions.
std::string title_of(const profiler::Log& log, std::size_t run, const std::string& file) {
  std::string title = std::filesystem::path(file).filename();
  if (log.runs.size() > 1) title += fmt::format(", run {} of {}", run + 1, log.runs.size());
  if (!log.runs[run].title.empty()) title += ", " + log.runs[run].title;
  return title;
}

[[noreturn]] void refuse_empty(const std::string& file, const profiler::DroppedRows& dropped) {
  std::string reasons;
  for (const auto& reason : dropped.reasons()) reasons += "; " + describe(reason);
  throw Error({.attempted = "analyze " + file,
               .value = "nothing in it ran" + reasons,
               .accepted = "",
               .hint = ""});
}

std::vector<Table> log_tables(const profiler::Log& log, const std::string& file, std::size_t top) {
  std::vector<std::vector<Table>> of_runs(log.runs.size());
  tbb::parallel_for(std::size_t{0}, of_runs.size(), [&](std::size_t i) {
    of_runs[i] = reports::timeline_tables(log.runs[i], title_of(log, i, file), top);
  });
  std::vector<Table> tables;
  for (std::vector<Table>& some : of_runs) std::ranges::move(some, std::back_inserter(tables));
  if (tables.empty()) refuse_empty(file, log.dropped);
  // What is missing is said where the numbers are.
  std::vector<std::string>& notes = tables.front().notes;
  for (const auto& reason : log.dropped.reasons()) {
    notes.push_back("warning: left out " + describe(reason));
  }
  for (const std::string& note : log.notes) notes.push_back("warning: " + note);
  return tables;
}

/// What is said of a file.
struct Analysis {
  std::vector<Table> tables;
  std::optional<harness::ExperimentResult> result;  ///< Of a comparison.
};

/// How the programs of a log do on the emulated chip.
class Emulation {
 public:
  explicit Emulation(const wormhole::ProfileChoice& choice)
      : profiles_(read_settings(choice, wormhole::load_profiles)),
        context_(harness::describe_environment()) {
    describe_chip(profiles_, context_);
  }

  Analysis compare(profiler::ByteSource& source, const std::string& file, std::size_t top) const {
    const auto comparison = profiler::compare_with_silicon(source, file, profiles_);
    const std::string title = std::filesystem::path(file).filename();
    Analysis analysis{.tables = reports::silicon_tables(comparison, title, top),
                      .result = reports::silicon_result(comparison, title, context_)};
    if (analysis.tables.empty()) refuse_empty(file, comparison.dropped);
    return analysis;
  }

 private:
  wormhole::Profiles profiles_;
  harness::RunContext context_;
};

/// With `emulation` null: where the time went.
Analysis analyze_file(const std::string& file, const Emulation* emulation, std::size_t top) {
  profiler::FileSource source(file);
  std::string beginning(profiler::kDetectionBytes, '\0');
  std::size_t size = 0;
  while (size < beginning.size()) {  // a pipe gives little at a time
    const std::size_t more = source.read({beginning.data() + size, beginning.size() - size});
    if (more == 0) break;
    size += more;
  }
  beginning.resize(size);
  const profiler::LogKind kind = profiler::detect_kind(beginning, file);
  profiler::PrefixedSource whole(beginning, source);
  if (emulation != nullptr) {
    if (kind == profiler::LogKind::ops_csv) return emulation->compare(whole, file, top);
    throw Error({.attempted = "compare " + file + " with the emulator",
                 .value = fmt::format("a {} does not say what its ops computed", name_of(kind)),
                 .accepted = "an ops_perf_results CSV",
                 .hint = ""});
  }
  if (kind == profiler::LogKind::result) return {.tables = result_tables(file), .result = {}};
  return {.tables = log_tables(profiler::read_log(kind, whole, file), file, top), .result = {}};
}

/// Files that hold all of what was analysed.
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
  std::optional<Emulation> emulation;
  if (options.compare) emulation.emplace(options.profiles);
  std::string markdown;
  std::vector<harness::ExperimentResult> results;
  bool well = true;
  for (const std::string& file : options.files) {
    try {
      Analysis analysis = analyze_file(file, emulation ? &*emulation : nullptr, options.top);
      for (const Table& table : analysis.tables) {
        if (!options.markdown.empty()) markdown += reports::markdown_table(table) + "\n";
        if (!options.uses_standard_output()) {
          fmt::print("{}\n", reports::terminal_table(table, style));
        }
      }
      if (analysis.result) results.push_back(std::move(*analysis.result));
    } catch (const Error& failure) {
      fmt::print(stderr, "run_experiment: {}\n", failure.what());
      well = false;
    }
  }
  write_outputs(options, markdown, results);
  return well ? 0 : 1;
}

}  // namespace howard::cli
