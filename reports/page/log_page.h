// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <vector>

#include "harness/result.h"
#include "profiler/formats/log.h"
#include "reports/findings/log_advice_report.h"
#include "reports/page/timeline.h"
#include "reports/tables/table.h"

namespace howard::reports {

/// Holds what a page shows of a file that was analysed, or of one of its runs.
struct PageLog {
  std::string title;                         ///< "ops_perf_results.csv, run 1 of 2".
  const profiler::LoggedRun* run = nullptr;  ///< Null if the file is no log: it has tables alone.
  LogAdvice advice = {};                     ///< Empty if none was wanted.
  std::vector<Table> tables = {};            ///< The tables of the terminal, but for the advice.
  std::vector<Table> advice_tables = {};     ///< They stand before the charts.
  std::string recorded = {};                 ///< When the log was made: "2025-09-18 11:39".
};

/// Holds the page of `analyze --page`.
struct LogPage {
  std::vector<PageLog> logs;
  std::vector<std::string> problems;  ///< What could not be read, a sentence each.
  std::span<const TimelinePoint> timelines = {};
  harness::RunContext context = {};
};

/// Returns the page, as html_document() makes it: in the summary what each log spent its time on
/// and what would make it faster; then for each log the advice, charts of the part after its first
/// runs, and of all of it where that is more, and tables; then the timeline. Titles name the chips.
std::string html_log_page(const LogPage& page);

/// Returns "wormhole_b0, 64 cores, 1000 MHz; 2025-09-18 11:39", of what is known.
std::string log_place(const PageLog& log);

/// Says in sentences how long a run took, how much of it its devices were busy, what they waited
/// for most, and the largest gains.
std::vector<std::string> log_words(const PageLog& log);

}  // namespace howard::reports
