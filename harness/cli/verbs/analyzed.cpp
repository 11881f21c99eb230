// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/verbs/analyzed.h"

#include <fmt/format.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/parallel_invoke.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <iterator>
#include <string_view>
#include <utility>
#include <variant>

#include "base/file.h"
#include "base/text.h"
#include "experiments/laboratory/presentations.h"
#include "harness/cli/command/program.h"
#include "profiler/formats/log_trace.h"
#include "profiler/formats/traces/chrome_trace.h"
#include "profiler/formats/traces/perfetto_trace.h"
#include "reports/findings/silicon_report.h"
#include "reports/findings/timeline_tables.h"
#include "reports/page/log_page.h"
#include "reports/pictures/log_plots.h"
#include "reports/tables/columns.h"

namespace howard::cli {
namespace {

using reports::Table;

std::vector<Table> result_tables(const std::vector<harness::ExperimentResult>& results) {
  const experiments::Presentations presentations;
  std::vector<Table> tables;
  for (const auto& result : results) {
    std::ranges::move(reports::make_tables(result, presentations.of(result).presentation),
                      std::back_inserter(tables));
  }
  return tables;
}

const reports::LogAdvice& advice_of_run(const Analyzed& file, std::size_t run) {
  static const reports::LogAdvice kNone;
  return run < file.advice.size() ? file.advice[run] : kNone;
}

std::vector<Table> advice_of_page(const Analyzed& file, std::size_t run, std::size_t top) {
  return reports::advice_tables(advice_of_run(file, run), file.title_of(run), top);
}

/// Returns the list of programs that is asked for.
void add_program_list(const Analyzed& file, std::size_t run, std::size_t top,
                      std::vector<Table>& tables) {
  if (!file.programs || file.log()->runs[run].timeline.programs.empty()) return;
  constexpr std::size_t kListed = 200;
  tables.push_back(reports::program_table(*file.log(), run, advice_of_run(file, run),
                                          *file.programs, file.title_of(run),
                                          std::max(top, kListed)));
}

/// Says which tables of a log are made: with its advice, without it, because a page has it before
/// its charts, or the few that a reader looks at first.
enum class LogTables : std::uint8_t { with_advice, without_advice, brief };

/// Returns the tables of the first `count` runs of a log.
std::vector<std::vector<Table>> log_tables(const Analyzed& file, std::size_t top, std::size_t count,
                                           LogTables wanted) {
  const profiler::Log& log = *file.log();
  std::vector<std::vector<Table>> of_runs(count);
  tbb::parallel_for(std::size_t{0}, of_runs.size(), [&](std::size_t i) {
    using Detail = reports::TimelineDetail;
    const Detail detail = wanted == LogTables::brief ? Detail::brief : Detail::all;
    of_runs[i] = reports::timeline_tables(log.runs[i], file.title_of(i), top, detail);
    if (wanted == LogTables::with_advice) {
      std::ranges::move(advice_of_page(file, i, top), std::back_inserter(of_runs[i]));
    }
    add_program_list(file, i, top, of_runs[i]);
  });
  const auto first = std::ranges::find_if(of_runs, [](const auto& some) { return !some.empty(); });
  if (first == of_runs.end()) return of_runs;
  // The table that has the numbers also says what is missing.
  std::vector<std::string>& notes = first->front().notes;
  for (const std::string& warning : warnings_of(log)) notes.push_back("warning: " + warning);
  if (count < log.runs.size()) {
    notes.push_back(fmt::format("the first {} of {} runs are shown; --json FILE has all of them",
                                count, log.runs.size()));
  }
  return of_runs;
}

/// Returns the date in a file's name, as tt-metal gives it one: of "..._2025_09_18_11_39_20.csv"
/// "2025-09-18 11:39"; "" where there is none.
std::string date_in(const std::string& file) {
  const std::string name = std::filesystem::path(file).stem().string();
  std::vector<std::string> numbers;
  for (const std::string& part : split(name, '_')) {
    const bool digits =
        !part.empty() && std::ranges::all_of(part, [](char c) { return c >= '0' && c <= '9'; });
    const std::size_t wanted = numbers.empty() ? 4 : 2;
    if (digits && part.size() == wanted) {
      numbers.push_back(part);
    } else if (numbers.size() < 3) {
      numbers.clear();
    }
  }
  if (numbers.size() < 3) return "";
  std::string date = numbers[0] + "-" + numbers[1] + "-" + numbers[2];
  if (numbers.size() > 4) date += " " + numbers[3] + ":" + numbers[4];
  return date;
}

reports::PageLog page_log(const Analyzed& file, std::size_t run) {
  return {.title = file.title_of(run),
          .run = &file.log()->runs[run],
          .advice = advice_of_run(file, run),
          .recorded = date_in(file.file)};
}

/// Returns the sentences with which the page of a log begins. It has no rows for a long log, whose
/// gaps would be looked for twice: that takes a third of the time of reading it.
Table answer_table(const Analyzed& file, std::size_t run) {
  constexpr std::size_t kLongLog = 100'000;
  std::size_t programs = 0;
  for (const profiler::LoggedRun& one : file.log()->runs) programs += one.timeline.programs.size();
  if (programs > kLongLog) return {};
  const reports::PageLog log = page_log(file, run);
  Table table{.caption = log.title + ": in short"};
  add_words(table, reports::TableColumn{.title = "answer", .room = harness::Room::key},
            reports::log_words(log));
  return table;
}

/// Returns the logs as processes of a trace.
std::vector<profiler::LogTrace> log_traces(const std::deque<Analyzed>& files) {
  std::vector<profiler::LogTrace> traces;
  for (const Analyzed& file : files) {
    if (file.log() == nullptr) continue;
    for (profiler::LogTrace& trace : profiler::traces_of(*file.log())) {
      trace.name = std::filesystem::path(file.file).filename().string() + ", " + trace.name;
      traces.push_back(std::move(trace));
    }
  }
  return traces;
}

}  // namespace

namespace {

/// Nobody reads the answers to more runs one after the other.
constexpr std::size_t kMostRuns = 20;

/// Returns the tables of a log, with the answer to each run before or behind them.
std::vector<Table> answered_tables(const Analyzed& file, std::size_t top, LogTables wanted) {
  std::vector<Table> answers(std::min(kMostRuns, file.log()->runs.size()));
  std::vector<std::vector<Table>> of_runs;
  tbb::parallel_invoke([&] { of_runs = log_tables(file, top, answers.size(), wanted); },
                       [&] {
                         for (std::size_t i = 0; i < answers.size(); ++i) {
                           answers[i] = answer_table(file, i);
                         }
                       });
  std::vector<Table> tables;
  for (std::size_t i = 0; i < of_runs.size(); ++i) {
    const bool answers_last = wanted == LogTables::brief;
    const bool has_answer = !answers[i].rows.empty();
    if (has_answer && !answers_last) tables.push_back(std::move(answers[i]));
    std::ranges::move(of_runs[i], std::back_inserter(tables));
    if (has_answer && answers_last) tables.push_back(std::move(answers[i]));
  }
  return tables;
}

}  // namespace

std::vector<Table> tables_of(const Analyzed& file, std::size_t top) {
  if (file.log() != nullptr) return answered_tables(file, top, LogTables::with_advice);
  if (const auto* const comparison = std::get_if<profiler::SiliconComparison>(&file.content)) {
    return reports::silicon_tables(*comparison, file.title_of(0), top);
  }
  return result_tables(std::get<std::vector<harness::ExperimentResult>>(file.content));
}

std::vector<Table> brief_tables_of(const Analyzed& file, const std::vector<std::string>& more) {
  constexpr std::size_t kTop = 8;
  if (file.log() == nullptr) return tables_of(file, kTop);
  std::vector<Table> tables = answered_tables(file, kTop, LogTables::brief);
  if (!tables.empty()) std::ranges::copy(more, std::back_inserter(tables.back().notes));
  return tables;
}

void write_log_trace(const std::deque<Analyzed>& files, const std::string& to) {
  const std::vector<profiler::LogTrace> traces = log_traces(files);
  std::vector<profiler::TraceProcess> processes;
  for (const profiler::LogTrace& trace : traces) processes.push_back(trace.process());
  const bool perfetto = std::filesystem::path(to).extension() == ".pftrace";
  write_file(
      to, perfetto ? profiler::perfetto_trace(processes) : profiler::chrome_trace(processes).json);
  if (to != "-") fmt::print(stderr, "wrote {}\n", to);
}

reports::PlotFiles draw_log(const Analyzed& file, const reports::Canvas& canvas) {
  const profiler::Log* const log = file.log();
  reports::PlotFiles files;
  for (std::size_t i = 0; log != nullptr && i < log->runs.size(); ++i) {
    std::string name = std::filesystem::path(file.file).stem().string();
    if (log->runs.size() > 1) name += fmt::format("_run{}", i + 1);
    files.add(reports::write_log_plots(log->runs[i], advice_of_run(file, i), name, canvas));
  }
  return files;
}

bool say_drawn(const reports::PlotFiles& files, const std::filesystem::path& folder) {
  for (const std::string& failure : files.failures) complain(failure);
  if (!files.not_rendered.empty()) complain(files.not_rendered);
  fmt::print(stderr, "wrote {} files into {}\n", files.written.size(), folder.string());
  return files.failures.empty();
}

void write_log_page(const std::deque<Analyzed>& files, const std::vector<std::string>& problems,
                    const std::vector<Table>& differences, std::size_t top,
                    const harness::RunContext& context, const std::string& to) {
  reports::LogPage page{.logs = {}, .problems = problems, .timelines = {}, .context = context};
  if (!differences.empty()) page.logs.push_back({.title = "differences", .tables = differences});
  for (const Analyzed& file : files) {
    if (file.log() == nullptr) {
      page.logs.push_back({.title = file.title_of(0), .tables = tables_of(file, top)});
      continue;
    }
    std::vector<std::vector<Table>> tables =
        log_tables(file, top, file.log()->runs.size(), LogTables::without_advice);
    for (std::size_t i = 0; i < tables.size(); ++i) {
      page.logs.push_back(page_log(file, i));
      page.logs.back().tables = std::move(tables[i]);
      page.logs.back().advice_tables = advice_of_page(file, i, top);
    }
  }
  const std::vector<profiler::LogTrace> traces = log_traces(files);
  std::vector<reports::TimelinePoint> timelines;
  for (const profiler::LogTrace& trace : traces) timelines.push_back({.process = trace.process()});
  page.timelines = timelines;
  write_file(to, reports::html_log_page(page));
  if (to != "-") fmt::print(stderr, "wrote {}\n", to);
}

}  // namespace howard::cli
