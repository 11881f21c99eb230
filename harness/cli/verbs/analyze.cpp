// SPDX-License-Identifier: Apache-2.0

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
#include "base/text.h"
#include "harness/cli/command/command.h"
#include "harness/cli/command/program.h"
#include "harness/cli/command/shared_options.h"
#include "harness/cli/terminal/terminal.h"
#include "harness/cli/verbs/analyzed.h"
#include "reports/findings/log_difference.h"
#include "reports/tables/table.h"
#include "reports/tables/terminal_table.h"

namespace howard::cli {

namespace {

using experiments::LogAnalysis;
using reports::Table;

struct AnalyzeOptions {
  std::vector<std::string> files;
  std::optional<std::size_t> top;
  bool compare = false;
  bool advice = false, no_advice = false;
  bool programs = false;   ///< The programs are listed.
  std::string op;          ///< A part of the names of those that are.
  double longer_than = 0;  ///< In microseconds.
  profiler::LogRange range;
  std::string against;  ///< The older log.
  std::string zones;    ///< The device log of the same run.
  OutputPlaces outputs;
  chip::ProfileChoice profiles;
  bool join = false;  ///< The files are of hosts that ran one program together.
  /// A page is written in place of the tables; "": to LOG.html, "-": to standard output.
  std::optional<std::string> page;

  std::size_t rows() const { return top.value_or(15); }
  /// On a page, which shows the first of them until its reader wants the others.
  std::size_t page_rows() const { return top.value_or(100); }
  /// Returns the file of the page.
  std::string page_file() const {
    return !page->empty() ? *page : std::filesystem::path(files.front()).stem().string() + ".html";
  }
};

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

/// The options that say what is written, and where.
OptionList output_options_of(AnalyzeOptions& options) {
  const Applies shown{[&] { return !options.compare; },
                      "logs that are shown; --compare-emulated has tables alone"};
  const Applies drawn{[&] { return !options.outputs.pictures.empty(); }, "--pictures DIR"};
  options.outputs.files.offers.pictures = true;
  options.outputs.files.page = &options.page;
  options.outputs.files.trace = &options.outputs.trace;
  return joined(
      {{{"--pictures", "DIR",
         "Draws ops, the causes and lengths of gaps, idle time over time and the roofline",
         to(options.outputs.pictures), shown},
        renamed(
            "--output",
            page_option(
                options.page,
                "Writes one page with the summary, the gaps by cause, advice, ops, roofline and a "
                "timeline to FILE (default: the first log's name with .html), in place of the "
                "tables",
                shown)),
        {"--trace", "FILE",
         "Writes the logs as a timeline: Chrome's JSON, or Perfetto's FILE.pftrace",
         to(options.outputs.trace), shown}},
       options.outputs.files.options(),
       picture_options(options.outputs.canvas, drawn)});
}

/// The number of rows, which says that all tables are wanted too.
Values rows_of(AnalyzeOptions& options) {
  return {[&options](std::string_view option, const std::string& text) {
    options.top = whole_within(option, text, 1, 1'000'000);
  }};
}

OptionList analyze_options(AnalyzeOptions& options) {
  const Applies whole_logs{[&] { return !options.compare; },
                           "logs that are shown; --compare-emulated takes whole logs"};
  const Applies emulates{[&] { return options.compare || !options.no_advice; },
                         "advice and --compare-emulated"};
  const Applies listed{[&] { return options.programs; }, "--programs"};
  OptionList chip = chip_options(options.profiles);
  for (Option& option : chip) option.applies = emulates;
  return joined(
      {{{"", "FILE", "", to(options.files)},
        {"--top", "N", "Shows N rows in each table (default 15), and on a terminal all tables",
         rows_of(options)},
        {"--from", "NAME",
         "Leaves out what comes before the signpost NAME, or before the GLOBAL CALL COUNT given",
         to(options.range.from), whole_logs},
        {"--to", "NAME", "Leaves out what follows one", to(options.range.to), whole_logs},
        {"--all", "", "Keeps the warm-up, which is left out when signposts show it",
         to(options.range.with_warmup)},
        {"--join",
         "",
         "Takes the files for those of hosts that ran one program together: their devices are "
         "shown as those of one run",
         to(options.join),
         {[&] { return !options.compare && options.against.empty(); },
          "logs that are shown, not compared"}},
        {"--programs",
         "",
         "Lists the programs in order: start, time before, kernel time, op, operands and bound. "
         "--from and --to choose a part of the log",
         to(options.programs),
         {[&] { return !options.compare && options.against.empty(); },
          "logs that are shown, not compared"}},
        {"--op", "NAME", "Lists programs of ops with NAME in theirs", to(options.op), listed},
        {"--longer-than", "US", "Lists programs whose kernels took longer, in microseconds",
         number(options.longer_than, 0, 1e12), listed},
        {"--zones",
         "FILE",
         "Adds the zones in the profile_log_device CSV of the same run, by op",
         to(options.zones),
         {[&] { return options.files.size() == 1 && !options.compare && options.against.empty(); },
          "one log that is shown, not compared"}},
        {"--against",
         "FILE",
         "Shows by call what is slower, faster, new or gone since the older log FILE",
         to(options.against),
         {[&] { return options.files.size() == 1 && !options.compare; },
          "one log; --compare-emulated takes whole logs, alone"}},
        {"--advice",
         "",
         "Shows calls and advice also of files over 256 MB",
         to(options.advice),
         {[&] { return !options.no_advice; }, "calls and advice, and --no-advice leaves them out"}},
        {"--no-advice", "", "Shows neither", to(options.no_advice)},
        {"--compare-emulated", "", "Shows real times beside emulated ones", to(options.compare)}},
       chip,
       output_options_of(options),
       {color_option(options.outputs.color)}});
}

void require_complete(AnalyzeOptions& options) {
  if (options.files.empty()) throw UsageError("no file named; try run_experiment analyze --help");
  options.outputs.files.require_apart({{"--trace", options.outputs.trace}});
  if (options.page == "-" && options.outputs.files.use_standard_output()) {
    throw UsageError("--page=- writes the page to standard output, where nothing else can go");
  }
  if (options.join) require_other_files(options.files);
  std::ranges::replace(options.files, "-", "/dev/stdin");
  options.outputs.canvas.folder = options.outputs.pictures;
}

/// Opens the analysis that is asked for. Throws UsageError for options that make no chip.
LogAnalysis analysis_of(const AnalyzeOptions& options) {
  if (options.compare || !options.no_advice) {
    static_cast<void>(read_settings(options.profiles, chip::load_profiles));
  }
  experiments::LogQuestion question{.profiles = options.profiles,
                                    .compare = options.compare,
                                    .calls = !options.against.empty(),
                                    .range = options.range,
                                    .zones = options.zones};
  if (options.advice) question.advice = experiments::Advice::of_all_files;
  if (options.no_advice) question.advice = experiments::Advice::none;
  if (options.programs) {
    const auto least = static_cast<std::int64_t>(options.longer_than * 1e6);
    question.programs =
        reports::ProgramFilter{.op = options.op, .longer_than = SimTime::picoseconds(least)};
  }
  return LogAnalysis(std::move(question));
}

/// Shows what was read and writes the files that are asked for.
class Show {
 public:
  Show(const AnalyzeOptions& options, LogAnalysis& analysis)
      : options_(options),
        analysis_(analysis),
        style_(terminal_style(STDOUT_FILENO, options.outputs.color)) {}

  /// Reads a file, or several as one, and shows it. What cannot be read is said.
  template <class Read>
  void add(const Read& read) {
    try {
      finish(read());
    } catch (const Error& failure) {
      complain(failure.what());
      problems_.emplace_back(failure.what());
      well_ = false;
    }
  }

  /// Writes the files that hold everything. Returns false if something went wrong.
  bool write() {
    const reports::Canvas& canvas = options_.outputs.canvas;
    std::vector<std::filesystem::path> written;
    if (!canvas.folder.empty()) well_ = say_drawn(draw(canvas), canvas.folder) && well_;
    well_ = options_.outputs.files.write(
                {.results = results_,
                 .tables = tables_,
                 .draw = [&](const reports::Canvas& place) { return draw(place); }},
                canvas, style_, written) &&
            well_;
    say_written(written);
    if (!options_.outputs.trace.empty() && !kept_.empty())
      write_log_trace(kept_, options_.outputs.trace);
    if (options_.page && (!kept_.empty() || !differences_.empty())) {
      write_log_page(kept_, problems_, differences_, options_.page_rows(), analysis_.context(),
                     options_.page_file());
    }
    return well_;
  }

 private:
  void print(std::vector<Table> tables) {
    if (!options_.outputs.files.use_standard_output() && !options_.page) {
      for (const Table& table : tables) fmt::print("{}\n", reports::terminal_table(table, style_));
    }
    if (!options_.outputs.files.empty()) std::ranges::move(tables, std::back_inserter(tables_));
  }

  /// Says whether a terminal shows what fits it, because nobody asked for more.
  bool is_brief() const {
    return style_.width && !options_.top && !options_.programs && options_.outputs.files.empty();
  }
  std::vector<std::string> more() const {
    const std::string& file = options_.files.front();
    const std::string page = std::filesystem::path(file).stem().string() + ".html";
    const std::string command = "run_experiment analyze " + shell_word(file);
    return {"all tables: " + command + " --top 15",
            "a page with charts: " + command + " -o " + shell_word(page),
            "what if, on the emulator: run_experiment explain " + shell_word(file)};
  }

  reports::PlotFiles draw(const reports::Canvas& canvas) const {
    reports::PlotFiles files;
    for (const Analyzed& one : kept_) files.add(draw_log(one, canvas));
    return files;
  }

  void compare(const Analyzed& analysed) {
    const Analyzed before = analysis_.read(options_.against);
    const reports::LogDifference difference =
        reports::difference(before.required_log(), analysed.required_log());
    differences_ = reports::difference_tables(
        difference, analysed.file + " against " + options_.against, options_.rows());
    print(differences_);
    results_.push_back(reports::difference_result(difference, options_.against, analysed.file,
                                                  analysis_.context()));
  }

  void finish(Analyzed analysed) {
    if (!options_.against.empty()) {
      compare(analysed);
    } else if (!options_.page || !options_.outputs.files.empty()) {
      print(is_brief() ? brief_tables_of(analysed, more()) : tables_of(analysed, options_.rows()));
    }
    if (options_.outputs.files.need_results()) {
      std::ranges::move(analysis_.results_of(analysed), std::back_inserter(results_));
    }
    const bool is_kept = options_.page || !options_.outputs.trace.empty() ||
                         !options_.outputs.pictures.empty() || options_.outputs.files.has_picture();
    if (is_kept) kept_.push_back(std::move(analysed));
  }

  const AnalyzeOptions& options_;
  LogAnalysis& analysis_;
  reports::TerminalStyle style_;
  std::vector<Table> tables_;  ///< Kept for files.
  std::vector<harness::ExperimentResult> results_;
  std::deque<Analyzed> kept_;  ///< Kept for pictures, the trace and the page.
  std::vector<Table> differences_;
  std::vector<std::string> problems_;
  bool well_ = true;
};

int analyze(AnalyzeOptions& options) {
  require_complete(options);
  LogAnalysis analysis = analysis_of(options);
  Show show(options, analysis);
  if (options.join) {
    show.add([&] { return analysis.read_joined(options.files); });
  } else {
    for (const std::string& file : options.files) show.add([&] { return analysis.read(file); });
  }
  return show.write() ? 0 : 1;
}

}  // namespace

const Command kAnalyze{
    .name = "analyze",
    .summary = "show where the time in a profiler's log went",
    .usage = {"FILE... [OPTIONS]"},
    .text =
        {{"",
          "The command recognises a file by its content, also of what is compressed or in an "
          "archive; \"-\" is standard input:"},
         {"ops_perf_results CSV",
          "tt-metal writes it. Every version works: columns are found by name, and rows may stand "
          "in any order"},
         {"raw files",
          "tracy_ops_data.csv, tracy_ops_times.csv and cpp_device_perf_report.csv, of which "
          "tt-metal "
          "makes an ops_perf_results CSV: one is read together with the others in its folder"},
         {"streaming CSV",
          "tt-metal's streaming profiler writes it. An ops_perf_results CSV in its folder names "
          "its "
          "ops"},
         {"real-time records",
          "Those of tt-metal's real-time profiler, a JSON object a line: runtime_id, chip_id, "
          "start, "
          "end, frequency, kernel_sources"},
         {"tt-perf-report CSV", "--csv of tt-perf-report; it has the shapes of products alone"},
         {"profile_log_device CSV", "tt-metal's device profiler writes it, with 13 or 15 columns"},
         {"Chrome trace JSON", "--trace writes it, and so do other programs"},
         {"Perfetto trace", "--trace FILE.pftrace writes it. Its times are whole nanoseconds"},
         {"result JSON", "--json writes it. Its tables are shown again"},
         {"",
          "It prints the programs of every device, queue and sub-device, the ops by time, and the "
          "times in which nothing ran: by cause, by the ops before and after, and by length. "
          "Damaged rows are left out and counted, with the reason."},
         {"",
          "--compare-emulated runs the ops of ops_perf_results CSVs on the emulator instead. It "
          "prints real kernel times beside emulated ones, by op and call by call (the same op on "
          "the same shapes). The log's operand shapes, layouts, data types, math fidelity and "
          "ATTRIBUTES decide what is run, and its AVAILABLE WORKER CORE COUNT decides the grid. "
          "Ops that the emulator does not have, or cannot run as they were called, are named and "
          "counted."},
         {"",
          "Of an ops_perf_results CSV it also says why the device waited: the host's times are put "
          "on the device's clock (how exactly is said), and each gap is split into what the host "
          "did before the call, the call (or its compilation), and the launch. Calls stand beside "
          "the peaks of the chip and the emulator, and what would save time is listed with its "
          "gain, by how sure it is. Ops that run in warm-up, by the names of signposts, are left "
          "out, which is said."},
         {"",
          "If a run has several devices, their ops are also shown as one device would have them: "
          "the longest time of each, of collectives the mean, and how far apart the devices "
          "started. Calls and advice are as of one device too."},
         {"",
          "--zones adds what the cores did within each op's programs, from the profile_log_device "
          "CSV of the same run: the kernels of BRISC, NCRISC and TRISC, how long the compute "
          "kernel waited for input and for room, and the zones that the kernels' authors measure. "
          "Programs are matched by their run host ID, which an ops CSV calls GLOBAL CALL COUNT."}},
    .examples =
        {"run_experiment analyze generated/profiler/reports/ops_perf_results_2025_12_01.csv",
         "run_experiment analyze profile_log_device.csv --md report.md",
         "run_experiment matmul_sweep --trace trace.json && run_experiment analyze trace.json",
         "run_experiment analyze ops_perf_results.csv --compare-emulated --csv errors.csv",
         "run_experiment analyze ops_perf_results.csv --from forward --to backward",
         "run_experiment analyze new.csv --against old.csv",
         "run_experiment analyze host0.csv host1.csv --join",
         "run_experiment analyze ops_perf_results.csv --zones profile_log_device.csv",
         "run_experiment analyze ops_perf_results.csv --programs --op matmul --longer-than 50",
         "run_experiment analyze ops_perf_results.csv --trace timeline.pftrace",
         "run_experiment analyze ops_perf_results.csv --page"},
    .status = "0 done; 1 a file cannot be read, or nothing ran in it; 2 bad command line",
    .begin = begin<analyze_options, analyze>};

}  // namespace howard::cli
