// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/verbs/analyzed.h"

#include <fmt/format.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/parallel_invoke.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <iterator>
#include <string_view>
#include <utility>
#include <variant>

#include "base/file.h"
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

/// Returns the tables of the first `count` runs of a log.
std::vector<std::vector<Table>> log_tables(const Analyzed& file, std::size_t top,
                                           std::size_t count) {
  const profiler::Log& log = *file.log();
  std::vector<std::vector<Table>> of_runs(count);
  tbb::parallel_for(std::size_t{0}, of_runs.size(), [&](std::size_t i) {
    of_runs[i] = reports::timeline_tables(log.runs[i], file.title_of(i), top);
    if (i >= file.advice.size()) return;
    std::ranges::move(reports::advice_tables(file.advice[i], file.title_of(i), top),
                      std::back_inserter(of_runs[i]));
  });
  const auto first = std::ranges::find_if(of_runs, [](const auto& some) { return !some.empty(); });
  if (first == of_runs.end()) return of_runs;
  // The table that has the numbers also says what is missing.
  std::vector<std::string>& notes = first->front().notes;
  for (const auto& reason : log.dropped.reasons()) {
    notes.push_back("warning: left out " + describe(reason));
  }
  for (const std::string& note : log.notes) notes.push_back("warning: " + note);
  if (count < log.runs.size()) {
    notes.push_back(fmt::format("the first {} of {} runs are shown; --json FILE has all of them",
                                count, log.runs.size()));
  }
  return of_runs;
}

reports::PageLog page_log(const Analyzed& file, std::size_t run) {
  return {.title = file.title_of(run),
          .run = &file.log()->runs[run],
          .advice = run < file.advice.size() ? file.advice[run] : reports::LogAdvice{}};
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

std::string Analyzed::title_of(std::size_t run) const {
  std::string title = std::filesystem::path(file).filename();
  if (log() == nullptr) return title;
  const auto& runs = log()->runs;
  if (runs.size() > 1) title += fmt::format(", run {} of {}", run + 1, runs.size());
  if (!runs[run].title.empty()) title += ", " + runs[run].title;
  return title;
}

std::vector<Table> tables_of(const Analyzed& file, std::size_t top) {
  if (file.log() != nullptr) {
    constexpr std::size_t kMostRuns = 20;  // more than these nobody reads one after the other
    std::vector<Table> answers(std::min(kMostRuns, file.log()->runs.size()));
    std::vector<std::vector<Table>> of_runs;
    tbb::parallel_invoke([&] { of_runs = log_tables(file, top, answers.size()); },
                         [&] {
                           for (std::size_t i = 0; i < answers.size(); ++i) {
                             answers[i] = answer_table(file, i);
                           }
                         });
    std::vector<Table> tables;
    for (std::size_t i = 0; i < of_runs.size(); ++i) {
      if (!answers[i].rows.empty()) tables.push_back(std::move(answers[i]));
      std::ranges::move(of_runs[i], std::back_inserter(tables));
    }
    return tables;
  }
  if (const auto* const comparison = std::get_if<profiler::SiliconComparison>(&file.content)) {
    return reports::silicon_tables(*comparison, file.title_of(0), top);
  }
  return result_tables(std::get<std::vector<harness::ExperimentResult>>(file.content));
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

bool draw_log(const Analyzed& file, const reports::Canvas& canvas) {
  const profiler::Log* const log = file.log();
  if (log == nullptr) return true;
  reports::PlotFiles files;
  for (std::size_t i = 0; i < log->runs.size(); ++i) {
    std::string name = std::filesystem::path(file.file).stem().string();
    if (log->runs.size() > 1) name += fmt::format("_run{}", i + 1);
    static const reports::LogAdvice kNone;
    files.add(reports::write_log_plots(
        log->runs[i], i < file.advice.size() ? file.advice[i] : kNone, name, canvas));
  }
  for (const std::string& failure : files.failures) {
    complain(failure);
  }
  if (!files.not_rendered.empty()) complain(files.not_rendered);
  fmt::print(stderr, "wrote {} files into {}\n", files.written.size(), canvas.folder.string());
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
    std::vector<std::vector<Table>> tables = log_tables(file, top, file.log()->runs.size());
    for (std::size_t i = 0; i < tables.size(); ++i) {
      page.logs.push_back(page_log(file, i));
      page.logs.back().tables = std::move(tables[i]);
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
