// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/verbs/analyze.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <deque>
#include <filesystem>
#include <iterator>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/file.h"
#include "experiments/laboratory/chip_context.h"
#include "experiments/logs/log_content.h"
#include "harness/cli/command_line.h"
#include "harness/cli/given_options.h"
#include "harness/cli/options.h"
#include "harness/cli/picture_options.h"
#include "harness/cli/profile_options.h"
#include "harness/cli/terminal/terminal.h"
#include "harness/cli/verbs/analyzed.h"
#include "harness/cli/verbs/manual/manual.h"
#include "harness/environment.h"
#include "profiler/formats/csv/byte_source.h"
#include "profiler/formats/device_log/device_log_reader.h"
#include "profiler/formats/joined_logs.h"
#include "reports/findings/log_advice_report.h"
#include "reports/findings/log_difference.h"
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
  bool advice = false, no_advice = false;
  profiler::LogRange range;
  std::string against;   ///< The older log.
  std::string zones;     ///< The device log of the same run.
  std::string trace;     ///< The file for the logs as one trace.
  std::string pictures;  ///< The folder for pictures; empty: none.
  reports::Canvas canvas;
  chip::ProfileChoice profiles;
  bool join = false;                ///< The files are of hosts that ran one program together.
  bool page = false;                ///< A page is written in place of the tables.
  std::string output;               ///< Where the page goes; empty: LOG.html, "-": standard output.
  std::string json, csv, markdown;  ///< "" writes none, "-" is standard output
  ColorMode color = ColorMode::automatic;
  bool help = false;

  bool uses_standard_output() const { return json == "-" || csv == "-" || markdown == "-"; }
  /// Returns the file of the page.
  std::string page_file() const {
    return !output.empty() ? output
                           : std::filesystem::path(files.front()).stem().string() + ".html";
  }
};

/// Throws UsageError for two texts on standard output, or in one file.
void require_one_text_in_each_place(const AnalyzeOptions& options) {
  Options places;
  places.json = options.json;
  places.csv = options.csv;
  places.markdown = options.markdown;
  places.trace = options.trace;
  require_one_text_in_each_place(places);
  if (options.output == "-" && options.uses_standard_output()) {
    throw UsageError("--output - writes the page to standard output, where nothing else can go");
  }
}

/// Throws UsageError if a file is given twice: its devices would count twice.
void require_other_files(const std::vector<std::string>& files) {
  std::set<std::filesystem::path> known;
  for (const std::string& file : files) {
    std::error_code ignored;
    const auto path = std::filesystem::weakly_canonical(std::filesystem::absolute(file), ignored);
    if (known.insert(path).second) continue;
    throw UsageError(fmt::format("--join takes the file of each host once, and {} twice", file));
  }
}

void declare_analyze(CLI::App& app, AnalyzeOptions& options) {
  app.set_help_flag();
  app.add_flag("-h,--help", options.help);
  app.add_option("files", options.files);
  add_whole(app, "--top", options.top, 1, 1'000'000);
  app.add_flag("--compare-emulated", options.compare);
  add_profile_options(app, options.profiles);
  add_choice<bool>(app, "--format", options.page, {{"text", false}, {"html", true}});
  app.add_option("--output", options.output);
  app.add_flag("--join", options.join);
  app.add_option("--json", options.json);
  app.add_option("--csv", options.csv);
  app.add_option("--md", options.markdown);
  app.add_flag("--advice", options.advice);
  app.add_flag("--no-advice", options.no_advice);
  app.add_option("--from", options.range.from);
  app.add_option("--to", options.range.to);
  app.add_flag("--all", options.range.with_warmup);
  app.add_option("--against", options.against);
  app.add_option("--zones", options.zones);
  app.add_option("--trace", options.trace);
  app.add_option("--pictures", options.pictures);
  add_picture_options(app, options.canvas);
  add_color_option(app, options.color);
}

AnalyzeOptions parse_analyze_options(int argc, const char* const* argv) {
  CLI::App app;
  AnalyzeOptions options;
  declare_analyze(app, options);
  parse_command_line(app, argc, argv);
  if (!options.help && options.files.empty()) {
    throw UsageError("no file named; try run_experiment analyze --help");
  }
  if (!options.output.empty() && !options.page) {
    throw UsageError("--output is for pages; try --format html");
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
  const std::vector<std::string> given = given_options(app);
  require_use(given, {"picture-size", "picture-format"}, !options.pictures.empty(),
              "--pictures DIR");
  const char* const shown = "logs that are shown; --compare-emulated has tables alone";
  require_use(given, {"pictures"}, !options.compare, shown);
  require_use(given, {"format"}, !options.compare || !options.page, shown);
  require_one_text_in_each_place(options);
  if (options.join) require_other_files(options.files);
  std::ranges::replace(options.files, "-", "/dev/stdin");
  if (options.join && (options.compare || !options.against.empty())) {
    throw UsageError("--join is for logs that are shown, not compared");
  }
  if (!options.pictures.empty()) options.canvas.folder = options.pictures;
  if (!options.against.empty() && options.files.size() > 1) {
    throw UsageError("--against is for one log");
  }
  if (!options.zones.empty() &&
      (options.files.size() > 1 || options.compare || !options.against.empty())) {
    throw UsageError("--zones is for one log that is shown, not compared");
  }
  return options;
}

/// Writes the files that hold everything that was analysed.
void write_outputs(const AnalyzeOptions& options, const std::string& markdown,
                   const std::vector<harness::ExperimentResult>& results) {
  if (!options.markdown.empty()) write_file(options.markdown, markdown);
  if (!options.json.empty()) write_file(options.json, reports::result_json(results));
  if (!options.csv.empty()) write_file(options.csv, reports::csv(results));
}

/// Reading what programs computed takes a third longer than reading when they ran: for larger files
/// it must be asked for.
constexpr std::uintmax_t kMostAdvised = 256'000'000;

bool wants_calls(const AnalyzeOptions& options, const std::string& file) {
  if (options.advice || !options.against.empty()) return true;
  if (options.no_advice) return false;
  std::error_code unknown;
  const std::uintmax_t size = std::filesystem::file_size(file, unknown);
  return unknown || size <= kMostAdvised;
}

const profiler::Log& log_in(const Analyzed& analysed) {
  if (analysed.log() != nullptr) return *analysed.log();
  throw Error({.attempted = "take " + analysed.file + " for a log",
               .value = "it is a result file",
               .accepted = "logs",
               .hint = "run_experiment compare A.json B.json compares results"});
}

/// Reads files and says what there is to say of them.
class Analysis {
 public:
  explicit Analysis(const AnalyzeOptions& options) : options_(options) {
    if (options.compare || !options.no_advice) {
      profiles_ = read_settings(options.profiles, chip::load_profiles);
    }
    if (options.compare) experiments::describe_chip(options.profiles, context);
  }

  Analyzed read(const std::string& file) {
    Analyzed analysed = read_content(file);
    if (!options_.zones.empty()) add_zones(analysed);
    advise(analysed);
    return analysed;
  }

  /// Reads the logs of several hosts as one.
  Analyzed read_joined(const std::vector<std::string>& files) {
    std::deque<Analyzed> read_files;
    std::vector<const profiler::Log*> logs;
    std::vector<std::string> names;
    for (const std::string& file : files) {
      logs.push_back(&log_in(read_files.emplace_back(read_content(file))));
      names.push_back(std::filesystem::path(file).filename().string());
    }
    Analyzed joined{.file = fmt::format("{} files", files.size()),
                    .content = profiler::join_logs(logs, names),
                    .advice = {}};
    advise(joined);
    return joined;
  }

  harness::RunContext context = harness::describe_environment();

 private:
  Analyzed read_content(const std::string& file) {
    const bool calls = !options_.compare && wants_calls(options_, file);
    Analyzed analysed{.file = file,
                      .content = experiments::read_log_content(
                          file, options_.compare ? &*profiles_ : nullptr,
                          {.tensors = calls ? profiler::Tensors::read : profiler::Tensors::skipped,
                           .range = options_.range,
                           .host_ids = !options_.zones.empty()}),
                      .advice = {}};
    if (calls || options_.compare || options_.no_advice) return analysed;
    if (auto* const log = std::get_if<profiler::Log>(&analysed.content)) {
      log->notes.emplace_back("no advice for a file of this size, unless --advice asks for it");
    }
    return analysed;
  }

  void add_zones(Analyzed& analysed) const {
    auto* const log = std::get_if<profiler::Log>(&analysed.content);
    if (log == nullptr) log_in(analysed);  // says what else it is
    profiler::FileSource source(options_.zones);
    profiler::add_zones(*log, profiler::read_device_log(source, options_.zones), options_.zones);
  }

  void advise(Analyzed& analysed) {
    const auto* const log = analysed.log();
    if (log == nullptr || options_.no_advice || log->calls.size() == 0) return;
    if (!emulator_) emulator_.emplace(*profiles_);
    analysed.advice = reports::advice_of(*log, &*emulator_);
  }

  const AnalyzeOptions& options_;
  std::optional<chip::Profiles> profiles_;
  std::optional<profiler::CallEmulator> emulator_;
};

/// Shows what was read and writes the files that are asked for.
class Show {
 public:
  Show(const AnalyzeOptions& options, Analysis& analysis)
      : options_(options),
        analysis_(analysis),
        style_(terminal_style(STDOUT_FILENO, options.color)) {}

  /// Reads a file, or several as one, and shows it. What cannot be read is said.
  template <class Read>
  void add(const Read& read) {
    try {
      finish(read());
    } catch (const Error& failure) {
      fmt::print(stderr, "run_experiment: {}\n", failure.what());
      problems_.emplace_back(failure.what());
      well_ = false;
    }
  }

  /// Writes the files that hold everything. Returns false if something went wrong.
  bool write() {
    write_outputs(options_, markdown_, results_);
    if (!options_.trace.empty() && !kept_.empty()) write_log_trace(kept_, options_.trace);
    if (options_.page && (!kept_.empty() || !differences_.empty())) {
      write_log_page(kept_, problems_, differences_, options_.top, analysis_.context,
                     options_.page_file());
    }
    return well_;
  }

 private:
  void print(const std::vector<Table>& tables) {
    for (const Table& table : tables) {
      if (!options_.markdown.empty()) markdown_ += reports::markdown_table(table) + "\n";
      if (!options_.uses_standard_output() && !options_.page) {
        fmt::print("{}\n", reports::terminal_table(table, style_));
      }
    }
  }

  void compare(const Analyzed& analysed) {
    const Analyzed before = analysis_.read(options_.against);
    const reports::LogDifference difference = reports::difference(log_in(before), log_in(analysed));
    differences_ = reports::difference_tables(
        difference, analysed.file + " against " + options_.against, options_.top);
    print(differences_);
    results_.push_back(
        reports::difference_result(difference, options_.against, analysed.file, analysis_.context));
  }

  void finish(Analyzed analysed) {
    if (!options_.against.empty()) {
      compare(analysed);
    } else if (!options_.page || !options_.markdown.empty()) {
      print(tables_of(analysed, options_.top));
    }
    if (!options_.json.empty() || !options_.csv.empty()) {
      std::ranges::move(experiments::results_of(analysed.content, analysed.file, analysis_.context),
                        std::back_inserter(results_));
      std::ranges::move(
          reports::advice_results(analysed.advice,
                                  std::filesystem::path(analysed.file).filename().string(),
                                  analysis_.context),
          std::back_inserter(results_));
    }
    if (!options_.pictures.empty()) well_ = draw_log(analysed, options_.canvas) && well_;
    if (options_.page || !options_.trace.empty()) kept_.push_back(std::move(analysed));
  }

  const AnalyzeOptions& options_;
  Analysis& analysis_;
  reports::TerminalStyle style_;
  std::string markdown_;
  std::vector<harness::ExperimentResult> results_;
  std::deque<Analyzed> kept_;  ///< Kept for the trace and the page.
  std::vector<Table> differences_;
  std::vector<std::string> problems_;
  bool well_ = true;
};

}  // namespace

int analyze(int argc, const char* const* argv) {
  const AnalyzeOptions options = parse_analyze_options(argc, argv);
  if (options.help) {
    fmt::print("{}", manual(kAnalyzeHelp));
    return 0;
  }
  Analysis analysis(options);
  Show show(options, analysis);
  if (options.join) {
    show.add([&] { return analysis.read_joined(options.files); });
  } else {
    for (const std::string& file : options.files) show.add([&] { return analysis.read(file); });
  }
  return show.write() ? 0 : 1;
}

}  // namespace howard::cli
